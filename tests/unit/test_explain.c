/*
 * test_explain.c - what would be if: workloads without their collectives, one
 * thing changed at a time, and the sentences that say what bound an iteration.
 */
#include "search/explain.h"
#include "search/explain_words.h"

#include "tests/unit/timeline.h"

/* -- collectives that cost nothing -- */

static struct model_workload *free_of(struct model_arena *arena,
                                      const char *ops)
{
    const struct model_topology *topology = fixture_tiny(arena, NULL, 0);
    struct model_workload *kept = model_arena_alloc(arena, sizeof *kept);

    *kept = search_without_collectives(
        arena,
        fixture_workload(arena, topology,
                         model_arena_format(arena, "name: test\n%s", ops)));
    return kept;
}

static bool waits_for(const struct model_workload *workload,
                      const char *id,
                      const char *other)
{
    const struct model_op *op = &workload->ops[fixture_op(workload, id)];

    for (int i = 0; i < op->after_count; i++) {
        if (op->after[i] == fixture_op(workload, other)) {
            return true;
        }
    }
    return false;
}

/* k2 waits for c2, which is behind c1, which waits for k1. */
static void waits_go_through_collectives(void **state)
{
    const struct model_workload *kept =
        free_of(*state, "ops:\n"
                        "  - {id: k1, stream: s1, " KERNEL_10 "}\n"
                        "  - {id: c1, stream: c, after: [k1], " GATHER_4 "}\n"
                        "  - {id: c2, stream: c, " GATHER_4 "}\n"
                        "  - {id: k2, stream: s2, after: [c2], " KERNEL_10 "}\n"
                        "  - {id: k3, stream: s3, " KERNEL_10 "}\n");

    assert_int_equal(kept->op_count, 3);
    assert_true(waits_for(kept, "k2", "k1"));
    assert_int_equal(kept->ops[fixture_op(kept, "k3")].after_count, 0);
}

/* Ops may wait for later ones of the list, through a collective, too. */
static void waits_for_later_ops_are_kept(void **state)
{
    const struct model_workload *kept =
        free_of(*state, "ops:\n"
                        "  - {id: k1, stream: s1, after: [c], " KERNEL_10 "}\n"
                        "  - {id: c, stream: c, after: [k2], " GATHER_4 "}\n"
                        "  - {id: k2, stream: s2, " KERNEL_10 "}\n");

    assert_int_equal(kept->op_count, 2);
    assert_true(waits_for(kept, "k1", "k2"));
}

/* A kernel behind a collective on its stream; not before its start. */
static void streams_and_starts_are_kept(void **state)
{
    const struct model_workload *kept = free_of(
        *state,
        "ops:\n"
        "  - {id: k1, stream: s1, " KERNEL_10 "}\n"
        "  - {id: c, stream: s2, after: [k1], start: 70 us, " GATHER_4 "}\n"
        "  - {id: k2, stream: s2, start: 20 us, " KERNEL_10 "}\n"
        "  - {id: k3, stream: s2, " KERNEL_10 "}\n");

    assert_true(waits_for(kept, "k2", "k1"));
    assert_near(kept->ops[fixture_op(kept, "k2")].start_us, 70, 0);
    assert_near(kept->ops[fixture_op(kept, "k1")].start_us, 0, 0);
    assert_near(kept->ops[fixture_op(kept, "k3")].start_us, 0, 0);
}

/* -- explanations -- */

struct explained {
    struct model_workload *workload;
    struct sim_request request;
    struct sim_result result;
    struct search_explanation it;
};

static struct search_explanation *explain_all(struct model_arena *arena,
                                              struct model_topology *topology,
                                              const char *ops,
                                              bool all_ranks)
{
    struct explained *all = model_arena_alloc(arena, sizeof *all);
    struct model_errors errors = {.arena = arena};

    all->workload = fixture_workload(
        arena, topology, model_arena_format(arena, "name: test\n%s", ops));
    all->request = (struct sim_request){.topology = topology,
                                        .workload = all->workload,
                                        .all_ranks = all_ranks};
    all->it = (struct search_explanation){
        .sim = sim_new(arena, &all->request, &errors),
        .request = &all->request,
        .result = &all->result,
        .strategy = "nccl"};
    fixture_no_errors(&errors);
    assert_int_equal(sim_run((struct sim *)all->it.sim, &all->result, &errors),
                     MODEL_OK);
    assert_int_equal(search_explain(arena, NULL, &all->it), MODEL_OK);
    return &all->it;
}

static struct search_explanation *explain_on(struct model_arena *arena,
                                             struct model_topology *topology,
                                             const char *ops)
{
    return explain_all(arena, topology, ops, false);
}

static struct search_explanation *explain_tiny(struct model_arena *arena,
                                               const char *ops)
{
    return explain_on(arena, fixture_tiny(arena, NULL, 0), ops);
}

/* The change of that key, or NULL. */
static const struct search_what_if *
find_what_if(const struct search_explanation *it, const char *key)
{
    for (int i = 0; i < it->what_if_count; i++) {
        if (strcmp(it->what_ifs[i].key, key) == 0) {
            return &it->what_ifs[i];
        }
    }
    return NULL;
}

static void expect(const struct search_explanation *it,
                   const char *key,
                   double iteration_us,
                   const char *text)
{
    const struct search_what_if *what_if = find_what_if(it, key);

    assert_non_null(what_if);
    assert_false(what_if->stuck);
    assert_near(what_if->iteration_us, iteration_us, CLOSE_US);
    assert_near(what_if->gain_ratio,
                1 - iteration_us / it->result->iteration_us, 1e-9);
    assert_string_equal(what_if->text, text);
}

#define PAIR                                                                   \
    "ops:\n"                                                                   \
    "  - {id: a, stream: s1, " GATHER_4 "}\n"                                  \
    "  - {id: g, stream: s2, " GEMM_25 "}\n"

/*
 * a takes 5 + 100 us with 4 channels of 1000 bytes/us: 200 with 2, 50 with 8;
 * beside 8, g has 2 SMs until 55: 5 rounds, 10 tiles, then 15 tiles in 2 rounds
 * of 10 until 75. Free, g needs 3 rounds on 10 SMs, or on 11. Without launches
 * all is 5 us earlier.
 */
static void one_thing_is_changed_at_a_time(void **state)
{
    struct search_explanation *it = explain_tiny(*state, PAIR);

    assert_near(it->result->iteration_us, 105, CLOSE_US);
    assert_int_equal(it->collectives, 1);
    expect(it, "free", 35, "collectives that cost nothing");
    assert_near(it->free_us, 35, CLOSE_US);
    assert_near(it->bound_us, 35, CLOSE_US);
    expect(it, "channels_half", 205, "2 channels instead of 4");
    expect(it, "channels_double", 75, "8 channels instead of 4");
    expect(it, "chunk_quarter", 105, "chunks of 4 KiB instead of 16 KiB");
    expect(it, "sms", 105, "11 SMs instead of 10");
    expect(it, "launch", 100, "launches that cost nothing");
    expect(it, "nvlink", 105, "NVLink x 2");
    expect(it, "hbm", 105, "HBM x 1.25");
    expect(it, "l2", 105, "L2 x 2");
    /* one node, and NVLink joins all its GPUs */
    assert_null(find_what_if(it, "nic"));
    assert_null(find_what_if(it, "transport_shm"));
    assert_null(find_what_if(it, "transport_p2p"));
    assert_null(find_what_if(it, "algorithm_ring"));
}

/* b has one channel, which cannot be halved: no number holds for both. */
static void settings_that_differ_are_not_numbered(void **state)
{
    struct search_explanation *it = explain_tiny(
        *state,
        "ops:\n"
        "  - {id: a, " GATHER_4 "}\n"
        "  - {id: b, kind: all_gather, size: 200 kB, channels: 1, " RING "}\n");

    expect(it, "channels_half", 310, "half the channels");
    expect(it, "channels_double", 5 + 50 + 5 + 50, "twice the channels");
}

/* NVLink of 2000 bytes/us binds 4 channels: 200 us, 100 with twice the rate. */
static void a_faster_link_helps_where_it_binds(void **state)
{
    static const char *const slow[] = {"node.nvlink.rate=2 GB/s"};
    struct search_explanation *it = explain_on(
        *state, fixture_tiny(*state, slow, 1), "ops: [{id: a, " GATHER_4 "}]");

    assert_near(it->result->iteration_us, 205, CLOSE_US);
    expect(it, "nvlink", 105, "NVLink x 2");
    expect(it, "channels_double", 205, "8 channels instead of 4");
    assert_null(find_what_if(it, "free"));
    assert_near(it->free_us, 205, CLOSE_US);
}

/* 12 loads of 10 us: 2 rounds on 10 and on 11 SMs; 25 % faster 8 us each. */
static void kernels_alone_have_no_changes_of_collectives(void **state)
{
    struct search_explanation *it = explain_tiny(
        *state, "ops: [{id: k, kind: kernel, ctas: 12, flops: 120 MFLOP}]");

    expect(it, "arithmetic", 5 + 16, "arithmetic x 1.25");
    expect(it, "sms", 25, "11 SMs instead of 10");
    assert_int_equal(it->collectives, 0);
    assert_null(find_what_if(it, "free"));
    assert_null(find_what_if(it, "nvlink"));
    assert_null(find_what_if(it, "pcie"));
    assert_null(find_what_if(it, "channels_half"));
}

/* The best comes first, and equals stay in the order of the table. */
static void changes_are_sorted_by_gain(void **state)
{
    struct search_explanation *it = explain_tiny(*state, PAIR);

    assert_string_equal(it->what_ifs[0].key, "free");
    for (int i = 1; i < it->what_if_count; i++) {
        assert_true(it->what_ifs[i - 1].gain_ratio >=
                    it->what_ifs[i].gain_ratio);
    }
    /* without half of what they keep in flight, collectives take longer */
    assert_true(find_what_if(it, "channels_half")->gain_ratio < 0);
}

/*
 * As collectives_that_hold_each_others_sms_are_stuck of test_sim_stuck.c, but
 * with 4 channels: these fit, 8 do not.
 */
static void a_change_that_would_not_finish_is_told(void **state)
{
    struct search_explanation *it = explain_tiny(
        *state,
        "streams: {c1: 1, c2: 2}\n"
        "ops:\n"
        "  - {id: k10, kind: kernel, ctas: 5, flops: 50 MFLOP, stream: s1}\n"
        "  - {id: k30, kind: kernel, ctas: 5, flops: 150 MFLOP, stream: s2}\n"
        "  - {id: a, stream: c1, start: 2 us, " GATHER_4 "}\n"
        "  - {id: b, stream: c2, start: 15 us, " GATHER_4 "}\n");
    const struct search_what_if *last = &it->what_ifs[it->what_if_count - 1];

    assert_string_equal(last->key, "channels_double");
    assert_true(last->stuck);
    assert_false(find_what_if(it, "channels_half")->stuck);
}

/*
 * The second of two nodes has GPUs of its own. A kernel of arithmetic alone
 * takes its time on the slower of both: with a quarter more of it on all, 1
 * / 1.25.
 */
static void gpus_of_all_kinds_are_changed(void **state)
{
    static const char *const sets[] = {"mixed=[{nodes: [1], gpu: v100}]"};
    struct search_explanation *it = explain_all(
        *state,
        fixture_topology(*state, "2x2 gpu:a100 nvswitch nic:1x100Gbit/s", sets,
                         1),
        "ops: [{id: k, kind: kernel, ctas: 8000, flops: 90 TFLOP, type: fp16}]",
        true);

    assert_string_equal(find_what_if(it, "sms")->text, "SMs x 1.1");
    assert_near(find_what_if(it, "arithmetic")->gain_ratio, 0.2, 1e-3);
}

/* lagom-a-1node guesses what HBM reaches, and the PCIe rate; L2 is known. */
static void guesses_behind_a_change_are_named(void **state)
{
    struct search_explanation *it = explain_on(
        *state, fixture_topology(*state, "lagom-a-1node", NULL, 0), PAIR);

    assert_string_equal(find_what_if(it, "hbm")->guesses, "gpu.hbm.achieved");
    assert_string_equal(find_what_if(it, "pcie")->guesses, "node.pcie.rate");
    assert_string_equal(find_what_if(it, "arithmetic")->guesses,
                        "gpu.achieved.gemm");
    assert_null(find_what_if(it, "l2")->guesses);
    assert_null(find_what_if(it, "channels_half")->guesses);
}

/* -- words -- */

static void has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in \"%s\"", part, text == NULL ? "" : text);
    }
}

static void lacks(const char *text, const char *part)
{
    if (text != NULL && strstr(text, part) != NULL) {
        fail_msg("\"%s\" in \"%s\"", part, text);
    }
}

static void numbers_are_short(void **state)
{
    struct model_arena *arena = *state;

    assert_string_equal(search_words_time(arena, 955896.2), "955.9 ms");
    assert_string_equal(search_words_time(arena, 99994.0), "99.99 ms");
    assert_string_equal(search_words_time(arena, 99.96), "0.10 ms");
    assert_string_equal(search_words_time(arena, 99.94), "99.9 us");
    assert_string_equal(search_words_time(arena, 2.0), "2.00 us");
    assert_string_equal(search_words_bytes(arena, 16777216), "16 MiB");
    assert_string_equal(search_words_bytes(arena, 1000), "1000 B");
    assert_string_equal(search_words_rate(arena, 612480), "612 GB/s");
    assert_string_equal(search_words_rate(arena, 7546), "7.5 GB/s");
    assert_string_equal(search_words_share(arena, 0.2032), "20 %");
    assert_string_equal(search_words_share(arena, 0.0036), "0.4 %");
}

/*
 * PAIR: 105 us, kernels 50, collectives 100 of which 50 exposed. Free it is 35:
 * of the 70 that it costs, 20 remain, and that is what g lost.
 */
static void the_headline_adds_up(void **state)
{
    struct search_explanation *it = explain_tiny(*state, PAIR);
    const char *text = search_words_headline(*state, it);

    has(text, "takes 0.10 ms");
    has(text, "Kernels run for 50.0 us of it, collectives for 0.10 ms, of "
              "which 50.0 us are exposed");
    has(text, "For 5.00 us (4.8 %) nothing runs");
    has(text, "it would take 35.0 us: it costs 70.0 us (67 %), 50.0 us "
              "exposed and 20.0 us by slowing kernels.");
    lacks(text, "No settings"); /* the same 35 us */
}

/*
 * Nothing is said to be slow that is not: with g first in time, then a, all
 * that a costs is exposed.
 */
static void what_takes_turns_is_not_slow(void **state)
{
    struct search_explanation *it = explain_tiny(
        *state, "ops:\n"
                "  - {id: g, stream: s1, " GEMM_25 "}\n"
                "  - {id: a, stream: s2, after: [g], " GATHER_4 "}\n");
    const struct sim_window *window = &it->windows.list[0];
    const char *text = search_words_window(*state, it, window);

    has(text, "Kernels (30.0 us) and collectives (0.10 ms, all exposed) take "
              "turns");
    has(text, "Nothing of it runs for 10.0 us (7.1 %)");
    assert_null(search_words_kernels(*state, window));
    assert_null(search_words_sms(*state, it, 0));
    assert_null(search_words_l2(*state, it, 0));
    assert_null(search_words_hbm(*state, it, 0));
    /* 105 of 140 us exposed and launched; 100 us of that runs */
    has(search_words_headline(*state, it), "it costs 0.10 ms (75 %)");
    lacks(search_words_headline(*state, it), "slowing");
}

static void one_sided_iterations_have_words_of_their_own(void **state)
{
    struct search_explanation *it =
        explain_tiny(*state, "ops: [{id: a, " GATHER_4 "}]");
    const char *text = search_words_headline(*state, it);

    has(text, "there are no kernels");
    lacks(text, "cost nothing");
    has(search_words_window(*state, it, &it->windows.list[0]),
        "Only collectives: 0.10 ms, all exposed");
    has(search_words_collective(*state, it, &it->windows.parts[0]),
        "paced by its own 4 channels, 1.0 GB/s each.");
    it = explain_tiny(*state, "ops: [{id: g, " GEMM_25 "}]");
    text = search_words_headline(*state, it);
    has(text, "there are no collectives");
    lacks(text, "settings of");
    has(search_words_window(*state, it, &it->windows.list[0]),
        "Only kernels: 30.0 us");
    /* 25 tiles on 10 SMs */
    has(search_words_alone(*state, it, 0), "g (35.0 us alone), is bound by "
                                           "arithmetic");
    has(search_words_alone(*state, it, 0), "fills 2.50 of 3 waves");
}

/* a holds 4 of 10 SMs: g needs 5 waves on 6, 3 on 10. */
static void waves_are_counted(void **state)
{
    struct search_explanation *it = explain_tiny(*state, PAIR);
    const char *text = search_words_sms(*state, it, 0);

    has(text, "collectives hold up to 4 of 10");
    has(text, "On the 6 left g needs 5 waves instead of 3.");
    has(search_words_kernels(*state, &it->windows.list[0]),
        "slowed 1.571 times, by 20.0 us: SMs 20.0 us (19 %)");
    has(search_words_reasons(*state, it, &it->windows.parts[1]), "SMs 100 %");
}

/*
 * As channels_leave_a_part of test_sim_occupancy.c: 6 channels leave 4 of 10
 * SMs and room for one more, so 10 loads need 2 rounds instead of 1.
 */
static void shared_sms_count_as_left(void **state)
{
    struct search_explanation *it = explain_tiny(
        *state,
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 12 MB, channels: 6, " RING "}\n"
        "  - {id: k, kind: kernel, ctas: 60, flops: 600 MFLOP, stream: s, "
        "cta_threads: 256, cta_registers: 32}\n");

    assert_near(it->windows.parts[1].held_sms, 6, CLOSE_US);
    assert_near(it->windows.parts[1].shared_sms, 1, CLOSE_US);
    has(search_words_sms(*state, it, 0),
        "hold up to 6 of 10. On the 5 left or shared k needs 2 waves instead "
        "of 1.");
}

/*
 * 1000 bytes/us of HBM: m alone draws all of it, 100 us for 100 kB. Two of them
 * at once on two streams get half each, and no collective is there.
 */
static void other_kernels_are_not_called_collectives(void **state)
{
    static const char *const slow[] = {"gpu.hbm.rate=1 GB/s"};
    struct search_explanation *it = explain_on(
        *state, fixture_tiny(*state, slow, 1),
        "ops:\n"
        "  - {id: m, stream: s1, kind: kernel, ctas: 5, flops: 5 MFLOP, hbm: "
        "100 kB}\n"
        "  - {id: n, stream: s2, kind: kernel, ctas: 5, flops: 5 MFLOP, hbm: "
        "100 kB}\n");

    has(search_words_hbm(*state, it, 0),
        "m gets 0.5 GB/s of the 1.0 GB/s it would draw; of 1.0 GB/s other "
        "kernels take the rest.");
    lacks(search_words_hbm(*state, it, 0), "collectives");
    assert_null(search_words_sms(*state, it, 0));
}

/* NVLink binds for 200 of 200 us; its name and how busy it is are told. */
static void the_binding_link_is_named(void **state)
{
    static const char *const slow[] = {"node.nvlink.rate=2 GB/s"};
    struct search_explanation *it = explain_on(
        *state, fixture_tiny(*state, slow, 1), "ops: [{id: a, " GATHER_4 "}]");
    const char *text =
        search_words_collective(*state, it, &it->windows.parts[0]);

    has(text, "paced by NVLink (node0.gpu0.nvlink.out, busy 98 % of the "
              "iteration)");
    /* 800 kB / 205 us x 1/2 */
    has(text, "2.0 GB/s on the bus");
    lacks(text, "It loses");
}

/* Two collectives on it: each loses to the other, and says so. */
static void shared_links_are_a_loss(void **state)
{
    static const char *const slow[] = {"node.nvlink.rate=6 GB/s"};
    struct search_explanation *it = explain_on(
        *state, fixture_tiny(*state, slow, 1),
        "ops:\n"
        "  - {id: a, window: w, stream: s1, " GATHER_4 "}\n"
        "  - {id: b, window: v, stream: s2, start: 50 us, " GATHER_4 "}\n");
    const char *text =
        search_words_collective(*state, it, &it->windows.parts[0]);

    /* 66.7 us at 3000 instead of 4000 bytes/us: 16.7 of 121.7 us */
    has(text, "paced for 57 % of its time by NVLink (");
    has(text, "It loses: shared links 16.7 us (14 %).");
}

/* What all labels of a window begin with is left out, up to a dot. */
static void labels_are_short(void **state)
{
    struct search_explanation *it =
        explain_tiny(*state, "ops:\n"
                             "  - {id: l.0.up, window: w, " KERNEL_10 "}\n"
                             "  - {id: l.0.under, window: w, " GEMM_25 "}\n"
                             "  - {id: l.1.up, window: w, " KERNEL_10 "}\n"
                             "  - {id: l.1.under, window: w, " GEMM_25 "}\n"
                             "  - {id: one.two, window: v, " KERNEL_10 "}\n");

    assert_string_equal(search_words_label(it, &it->windows.parts[0]), "up");
    assert_string_equal(search_words_label(it, &it->windows.parts[1]), "under");
    assert_int_equal(it->windows.part_count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_go_through_collectives),
        cmocka_unit_test(waits_for_later_ops_are_kept),
        cmocka_unit_test(streams_and_starts_are_kept),
        cmocka_unit_test(one_thing_is_changed_at_a_time),
        cmocka_unit_test(settings_that_differ_are_not_numbered),
        cmocka_unit_test(a_faster_link_helps_where_it_binds),
        cmocka_unit_test(kernels_alone_have_no_changes_of_collectives),
        cmocka_unit_test(changes_are_sorted_by_gain),
        cmocka_unit_test(a_change_that_would_not_finish_is_told),
        cmocka_unit_test(gpus_of_all_kinds_are_changed),
        cmocka_unit_test(guesses_behind_a_change_are_named),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(the_headline_adds_up),
        cmocka_unit_test(what_takes_turns_is_not_slow),
        cmocka_unit_test(one_sided_iterations_have_words_of_their_own),
        cmocka_unit_test(waves_are_counted),
        cmocka_unit_test(shared_sms_count_as_left),
        cmocka_unit_test(other_kernels_are_not_called_collectives),
        cmocka_unit_test(the_binding_link_is_named),
        cmocka_unit_test(shared_links_are_a_loss),
        cmocka_unit_test(labels_are_short),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
