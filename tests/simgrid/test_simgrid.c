/*
 * test_simgrid.c - sim/share.h against SimGrid's max-min solver, which others
 * wrote for other ends: on random systems of flows and links both must give
 * each flow the same rate. `make simgrid` runs it where SimGrid is installed.
 *
 * SimGrid is asked through what it simulates. A system becomes a platform with
 * a host for each flow, and a route from it to a common sink over the links
 * that the flow passes. All flows start at once and send what they move in
 * DURATION_S at our rate; one that is done sends as much again, so that the
 * system stays as it is until the last is done. Bytes over seconds is the rate.
 *
 * With the options below, SimGrid's model CM02 shares links of no latency
 * max-min fairly and nothing else slows a flow down. Of a system of ours
 *
 *     a cap           is the bandwidth of a link that no other flow passes
 *     a weight w      is the latency 1 / w of that link: in CM02 the rates that
 *                     share a link are in inverse proportion to latencies
 *     an amount k     is a link that stands k times in the route, k whole
 *     amounts u k     of one flow are amounts k in other units of rate: its
 *                     rate, weight, cap and bytes are u times ours there
 *
 * What CM02 cannot say: amounts of one flow that have no common u, and links of
 * capacity 0. SimGrid's parallel tasks (ptask_L07) have any amounts, but share
 * by other rules and refuse the max-min solver.
 */
#include "sim/share.h"

#include "tests/unit/fixture.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <sys/wait.h>

enum {
    PLAIN = 200,    /* systems, all weights and amounts 1 */
    WEIGHTED = 100, /* and with others */
    FLOWS_MAX = 40,
    LINKS_MAX = 30,
    PASSES_MAX = 3,
};

static const double TOLERANCE_RATIO = 1e-6;
static const double DURATION_S = 1000;
/* More than all links together. */
static const double UNCAPPED_BYTES_PER_S = 1e15;

/*
 * No bytes for acknowledgements on the way back, no limit by TCP's window, and
 * latencies that weigh but take next to no time. What is left of a link below
 * maxmin/precision of its capacity counts as nothing; 1e-5 unless said, which
 * is more than the tolerance.
 */
static const char *const options[] = {
    "test_simgrid",
    "--log=root.thres:warning",
    "--cfg=network/model:CM02",
    "--cfg=network/solver:maxmin",
    "--cfg=network/crosstraffic:no",
    "--cfg=network/TCP-gamma:1e30",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1e-9",
    "--cfg=network/weight-S:0",
    "--cfg=maxmin/precision:1e-9",
    "--cfg=surf/precision:1e-9",
    "--cfg=contexts/stack-size:64",
};

/*
 * -- random systems --
 *
 * Seeds 0, 1, ... each give one. The first is the smallest and the second the
 * largest; others have 1 to FLOWS_MAX flows over 1 to LINKS_MAX links of 1 to
 * 1000 GB/s. A third of the links are powers of two, so that several fill at
 * once; a third of the flows have a cap, of 10 MB/s to 100 GB/s.
 */

struct flow {
    double cap_bytes_per_s;
    double weight;
    double amount;         /* u */
    int passes[LINKS_MAX]; /* k for each link */
};

struct system {
    bool weighted;
    int flow_count;
    int link_count;
    double bytes_per_s[LINKS_MAX];
    struct flow flows[FLOWS_MAX];
};

/* Splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15;

    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

/* From 0 to count - 1. */
static int pick(uint64_t *state, int count)
{
    return (int)(draw(state) % (uint64_t)count);
}

/* From low to low times 10^decades, in a logarithmic scale. */
static double spread(uint64_t *state, double low, double decades)
{
    return low *
           pow(10, decades * (double)(draw(state) >> 11) / 9007199254740992.0);
}

/* One to four different links, or as often any number of them. */
static void
pick_links(uint64_t *state, const struct system *system, struct flow *flow)
{
    int most =
        pick(state, 2) == 0 && system->link_count > 4 ? 4 : system->link_count;
    int left = 1 + pick(state, most);

    while (left > 0) {
        int link = pick(state, system->link_count);

        if (flow->passes[link] == 0) {
            flow->passes[link] =
                system->weighted ? 1 + pick(state, PASSES_MAX) : 1;
            left--;
        }
    }
}

static struct flow make_flow(uint64_t *state, const struct system *system)
{
    struct flow flow = {
        .cap_bytes_per_s = UNCAPPED_BYTES_PER_S, .weight = 1, .amount = 1};

    if (pick(state, 3) == 0) {
        flow.cap_bytes_per_s = spread(state, 1e7, 4);
    }
    if (system->weighted) {
        flow.weight = spread(state, 0.1, 2);
        flow.amount = spread(state, 0.1, 2);
    }
    pick_links(state, system, &flow);
    return flow;
}

static struct system make_system(bool weighted, int seed)
{
    uint64_t state = (uint64_t)seed + (weighted ? PLAIN : 0);
    struct system system = {.weighted = weighted};

    /* one random number a statement: the order within one is open */
    system.flow_count = 1 + pick(&state, FLOWS_MAX);
    system.link_count = 1 + pick(&state, LINKS_MAX);
    if (seed < 2) {
        system.flow_count = seed == 0 ? 1 : FLOWS_MAX;
        system.link_count = seed == 0 ? 1 : LINKS_MAX;
    }
    for (int i = 0; i < system.link_count; i++) {
        system.bytes_per_s[i] = pick(&state, 3) == 0
                                    ? 1e9 * (1 << pick(&state, 10))
                                    : spread(&state, 1e9, 3);
    }
    for (int i = 0; i < system.flow_count; i++) {
        system.flows[i] = make_flow(&state, &system);
    }
    return system;
}

/* -- our rates -- */

static struct sim_share solve_here(struct model_arena *arena,
                                   const struct system *system)
{
    struct sim_share share;

    sim_share_start(&share, arena, system->link_count);
    for (int i = 0; i < system->link_count; i++) {
        share.capacity[i] = system->bytes_per_s[i];
    }
    for (int i = 0; i < system->flow_count; i++) {
        const struct flow *flow = &system->flows[i];

        (void)sim_share_add(&share, flow->cap_bytes_per_s, flow->weight);
        for (int j = 0; j < system->link_count; j++) {
            if (flow->passes[j] > 0) {
                sim_share_use(&share, j, flow->amount * flow->passes[j]);
            }
        }
    }
    sim_share_solve(&share);
    return share;
}

/* -- SimGrid's rates -- */

struct transfer {
    double bytes;
    double end_s;
};

/* A flow's host, and the link that is its cap and weight. */
static void write_host(FILE *file, const struct system *system, int index)
{
    const struct flow *flow = &system->flows[index];
    double latency_s = system->weighted ? 1 / (flow->weight * flow->amount) : 0;

    (void)fprintf(file,
                  "<host id='%d' speed='1Gf'/>\n"
                  "<link id='cap%d' bandwidth='%.17gBps' latency='%.17gs'/>\n",
                  index, index, flow->amount * flow->cap_bytes_per_s,
                  latency_s);
}

static void write_route(FILE *file, const struct system *system, int index)
{
    (void)fprintf(file,
                  "<route src='%d' dst='sink' symmetrical='NO'>"
                  "<link_ctn id='cap%d'/>",
                  index, index);
    for (int i = 0; i < system->link_count; i++) {
        for (int j = 0; j < system->flows[index].passes[i]; j++) {
            (void)fprintf(file, "<link_ctn id='%d'/>", i);
        }
    }
    (void)fprintf(file, "</route>\n");
}

static void write_platform(FILE *file, const struct system *system)
{
    (void)fprintf(
        file, "<?xml version='1.0'?>\n"
              "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
              "<platform version='4.1'><zone id='all' routing='Full'>\n"
              "<host id='sink' speed='1Gf'/>\n");
    for (int i = 0; i < system->link_count; i++) {
        (void)fprintf(file,
                      "<link id='%d' bandwidth='%.17gBps' latency='0s'/>\n", i,
                      system->bytes_per_s[i]);
    }
    for (int i = 0; i < system->flow_count; i++) {
        write_host(file, system, i);
    }
    for (int i = 0; i < system->flow_count; i++) {
        write_route(file, system, i);
    }
    (void)fprintf(file, "</zone></platform>\n");
}

/* What one host does in the simulation. */
static void send_twice(int argc, char *argv[])
{
    struct transfer *transfer = sg_actor_self_get_data();
    sg_host_t sink = sg_host_by_name("sink");

    (void)argc;
    (void)argv;
    sg_host_sendto(sg_host_self(), sink, transfer->bytes);
    transfer->end_s = simgrid_get_clock();
    sg_host_sendto(sg_host_self(), sink, transfer->bytes);
}

/* One process simulates one platform, so this is a child's work. */
static void simulate(const struct system *system, struct transfer *transfers)
{
    const char *arguments[FIXTURE_COUNT(options) + 1] = {NULL};
    int count = FIXTURE_COUNT(options);
    int descriptor = memfd_create("platform", 0);
    FILE *file = fdopen(descriptor, "w");
    char path[32];

    if (file == NULL) {
        _exit(1);
    }
    write_platform(file, system);
    (void)fflush(file);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    memcpy(arguments, options, sizeof options);
    simgrid_init(&count, (char **)arguments);
    simgrid_load_platform(path);
    for (int i = 0; i < system->flow_count; i++) {
        char name[16];
        sg_actor_t actor;

        (void)snprintf(name, sizeof name, "%d", i);
        actor = sg_actor_init(name, sg_host_by_name(name));
        sg_actor_set_data(actor, &transfers[i]);
        sg_actor_start(actor, send_twice, 0, NULL);
    }
    simgrid_run();
    _exit(0);
}

/* Bytes and end of each flow; memory that the child writes to. */
static struct transfer *new_transfers(const struct system *system,
                                      const struct sim_share *share)
{
    struct transfer *transfers =
        mmap(NULL, FLOWS_MAX * sizeof *transfers, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(transfers != MAP_FAILED);
    for (int i = 0; i < system->flow_count; i++) {
        /* SimGrid counts whole bytes */
        transfers[i].bytes =
            round(share->rate[i] * system->flows[i].amount * DURATION_S);
        transfers[i].end_s = 0; /* of one that never ends */
    }
    return transfers;
}

/* SimGrid's rates in our units. */
static void solve_there(const struct system *system,
                        const struct sim_share *share,
                        double *rates)
{
    struct transfer *transfers = new_transfers(system, share);
    int status = -1;
    pid_t child;

    (void)fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        simulate(system, transfers);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < system->flow_count; i++) {
        rates[i] =
            transfers[i].bytes / transfers[i].end_s / system->flows[i].amount;
    }
    assert_int_equal(munmap(transfers, FLOWS_MAX * sizeof *transfers), 0);
}

/* -- comparison -- */

/* Whether these rates are max-min fair. */
static bool is_fair(struct sim_share share, const double *rates)
{
    memset(share.used, 0, (size_t)share.resource_count * sizeof *share.used);
    for (int i = 0; i < share.activity_count; i++) {
        share.rate[i] = rates[i];
        for (int j = share.first[i]; j < share.first[i + 1]; j++) {
            share.used[share.terms[j].resource] +=
                share.terms[j].amount * rates[i];
        }
    }
    return sim_share_check(&share, TOLERANCE_RATIO);
}

/* All flows that differ, and who of the two is right. */
static void compare(const struct sim_share *share, const double *theirs)
{
    int different = 0;

    for (int i = 0; i < share->activity_count; i++) {
        double ours = share->rate[i];

        if (!(fabs(theirs[i] - ours) <= TOLERANCE_RATIO * ours)) {
            print_error("flow %d: %.9g bytes/s here, %.9g in SimGrid\n", i,
                        ours, theirs[i]);
            different++;
        }
    }
    if (different > 0) {
        bool here = sim_share_check(share, TOLERANCE_RATIO);

        fail_msg("%d of %d flows differ; max-min fair: here %s, SimGrid %s",
                 different, share->activity_count, here ? "yes" : "no",
                 is_fair(*share, theirs) ? "yes" : "no");
    }
}

static void check(bool weighted, int seed)
{
    struct model_arena *arena = model_arena_new();
    struct system system = make_system(weighted, seed);
    struct sim_share share = solve_here(arena, &system);
    double theirs[FLOWS_MAX];

    solve_there(&system, &share, theirs);
    compare(&share, theirs);
    assert_true(sim_share_check(&share, 1e-9));
    model_arena_free(arena);
}

static void rates_agree(void **state)
{
    check(false, *(const int *)*state);
}

static void weighted_rates_agree(void **state)
{
    check(true, *(const int *)*state);
}

int main(void)
{
    static struct CMUnitTest tests[PLAIN + WEIGHTED];
    static int seeds[PLAIN + WEIGHTED];
    static char names[PLAIN + WEIGHTED][32];

    for (int i = 0; i < PLAIN + WEIGHTED; i++) {
        bool weighted = i >= PLAIN;

        seeds[i] = weighted ? i - PLAIN : i;
        (void)snprintf(names[i], sizeof names[i], "%s system %d",
                       weighted ? "weighted" : "plain", seeds[i]);
        tests[i] = (struct CMUnitTest){
            .name = names[i],
            .test_func = weighted ? weighted_rates_agree : rates_agree,
            .initial_state = &seeds[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
