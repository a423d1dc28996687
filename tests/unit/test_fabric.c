/*
 * test_fabric.c - links by kind, name and rate, and the route of each kind of
 * hop, link by link.
 */
#include "model/fabric.h"

#include "tests/unit/fixture.h"

enum { LINKS_MAX = 1024 };

/* With the latencies that the routes below count with. */
static const struct model_topology *
wired(struct model_arena *arena, const char *text, const char *last_set)
{
    const char *sets[5] = {"node.pcie.latency=0.18 us",
                           "node.host.cross_latency=0.16 us"};
    int count = 2;

    if (strstr(text, "nv") != NULL) {
        sets[count++] = "node.nvlink.latency=0.2 us";
    }
    if (strstr(text, "nic:") != NULL) {
        sets[count++] = "node.nics.latency=2 us";
    }
    if (last_set != NULL) {
        sets[count++] = last_set;
    }
    return fixture_topology(arena, text, sets, count);
}

static struct model_fabric
make(struct model_arena *arena, const char *text, bool folded)
{
    struct model_fabric fabric;

    model_fabric_make(wired(arena, text, NULL), folded, &fabric);
    return fabric;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of a route's links, in alphabetical order, with blanks between. */
static const char *route_names(struct model_arena *arena,
                               const struct model_fabric *fabric,
                               const struct model_hop *hop)
{
    const char *names[MODEL_HOP_LINKS_MAX];
    const char *all = "";

    assert_in_range(hop->link_count, 1, MODEL_HOP_LINKS_MAX);
    for (int i = 0; i < hop->link_count; i++) {
        char buffer[64];

        assert_in_range(hop->links[i], 0, fabric->link_count - 1);
        names[i] = model_arena_text(
            arena, model_fabric_link_name(fabric, hop->links[i], buffer,
                                          sizeof buffer));
    }
    qsort(names, (size_t)hop->link_count, sizeof names[0], compare_texts);
    for (int i = 0; i < hop->link_count; i++) {
        all = model_arena_format(arena, "%s%s%s", all, i > 0 ? " " : "",
                                 names[i]);
    }
    return all;
}

struct route {
    int from, to;
    enum model_transport transport;
    int nic;
    enum model_hop_kind kind;
    double latency_us;
    const char *names; /* in alphabetical order */
};

static void check_routes(struct model_arena *arena,
                         const struct model_fabric *fabric,
                         const struct route *routes,
                         int count)
{
    for (int i = 0; i < count; i++) {
        struct model_hop hop;

        model_fabric_route(fabric, routes[i].from, routes[i].to,
                           routes[i].transport, routes[i].nic, &hop);
        assert_string_equal(route_names(arena, fabric, &hop), routes[i].names);
        assert_int_equal(hop.kind, routes[i].kind);
        assert_near(hop.latency_us, routes[i].latency_us, 1e-12);
    }
}

#define CHECK_ROUTES(arena, fabric, routes)                                    \
    check_routes((arena), (fabric), (routes), FIXTURE_COUNT(routes))

/*
 * 8 GPUs, 2 below a switch, 2 sockets, 2 NICs: 6 kinds with a link for each
 * GPU, 2 with one for each of 4 switches, 3 for each socket, 2 for each NIC: 48
 * + 8 + 6 + 4 = 66.
 */
static void links_are_counted(void **state)
{
    const char *text = "3x8 gpu:a40 pcie:4:2/switch sockets:2 nic:2x400Gbit/s";
    struct model_fabric all = make(*state, text, false);
    struct model_fabric folded = make(*state, text, true);
    struct model_fabric mesh = make(*state, "1x4 gpu:a40 nvlink:mesh", true);

    assert_int_equal(all.links_per_node, 66);
    assert_int_equal(all.link_count, 198);
    assert_int_equal(all.shown_nodes, 3);
    assert_int_equal(folded.links_per_node, 66);
    assert_int_equal(folded.link_count, 66);
    assert_int_equal(folded.shown_nodes, 1);
    /* 6 x 4 GPUs, 4 switches of one GPU x 2, 1 socket x 3, 4 x 4 pairs */
    assert_int_equal(mesh.links_per_node, 24 + 8 + 3 + 16);
}

/* Each link has its own name, and the kind that the name says. */
static void names_are_unique_and_tell_the_kind(void **state)
{
    static const struct {
        const char *end;
        enum model_link_kind kind;
        int count;
    } rows[] = {
        {".nvlink.out", MODEL_LINK_NVLINK_OUT, 16},
        {".nvlink.in", MODEL_LINK_NVLINK_IN, 16},
        {".pcie.up", MODEL_LINK_PCIE_UP, 16},
        {".pcie.down", MODEL_LINK_PCIE_DOWN, 16},
        {".port.p2p", MODEL_LINK_PORT_P2P, 16},
        {".port.shm", MODEL_LINK_PORT_SHM, 16},
        {".up", MODEL_LINK_SWITCH_UP, 8},
        {".down", MODEL_LINK_SWITCH_DOWN, 8},
        {".cross.out", MODEL_LINK_CROSS_OUT, 4},
        {".cross.in", MODEL_LINK_CROSS_IN, 4},
        {".memory", MODEL_LINK_MEMORY, 4},
        {".out", MODEL_LINK_NIC_OUT, 4},
        {".in", MODEL_LINK_NIC_IN, 4},
    };
    struct model_fabric fabric =
        make(*state,
             "2x8 gpu:a40 nvlink:pairs pcie:4:2/switch sockets:2 "
             "nic:2x400Gbit/s",
             false);
    const char *names[LINKS_MAX];
    int counts[MODEL_LINK_KINDS] = {0};

    assert_true(fabric.link_count <= LINKS_MAX);
    for (int link = 0; link < fabric.link_count; link++) {
        char buffer[64];
        enum model_link_kind kind = model_fabric_link_kind(&fabric, link);
        bool right = false;

        names[link] = model_arena_text(
            *state,
            model_fabric_link_name(&fabric, link, buffer, sizeof buffer));
        counts[kind]++;
        assert_int_equal(names[link][4] - '0', link / fabric.links_per_node);
        for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
            size_t length = strlen(names[link]);
            size_t end = strlen(rows[i].end);

            right =
                right || (rows[i].kind == kind && length > end &&
                          strcmp(names[link] + length - end, rows[i].end) == 0);
        }
        assert_true(right);
    }
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_int_equal(counts[rows[i].kind], rows[i].count);
    }
    assert_int_equal(counts[MODEL_LINK_MESH], 0);
    qsort(names, (size_t)fabric.link_count, sizeof names[0], compare_texts);
    for (int i = 1; i < fabric.link_count; i++) {
        assert_string_not_equal(names[i - 1], names[i]);
    }
}

/* A name that does not fit is cut, and ended. */
static void a_short_buffer_cuts_the_name(void **state)
{
    struct model_fabric fabric = make(*state, "1x2 gpu:a40 nvswitch", true);
    char buffer[9];

    assert_ptr_equal(model_fabric_link_name(&fabric, 0, buffer, sizeof buffer),
                     buffer);
    assert_string_equal(buffer, "node0.gp");
}

/* What a link carries is said by its own key of the topology. */
static void rates_come_from_their_keys(void **state)
{
    static const char *const sets[] = {
        "node.nvlink.rate=1 GB/s",     "node.pcie.rate=2 GB/s",
        "node.pcie.p2p_rate=3 GB/s",   "node.pcie.shm_rate=4 GB/s",
        "node.host.cross_rate=5 GB/s", "node.host.memory_rate=6 GB/s",
        "node.nics.rate=10 GB/s",      "node.nics.achieved=0.7"};
    /* 1 GB/s is 1000 bytes/us; a NIC's is 10,000 x 0.7 */
    static const double rates[MODEL_LINK_KINDS] = {
        [MODEL_LINK_NVLINK_OUT] = 1000, [MODEL_LINK_NVLINK_IN] = 1000,
        [MODEL_LINK_PCIE_UP] = 2000,    [MODEL_LINK_PCIE_DOWN] = 2000,
        [MODEL_LINK_SWITCH_UP] = 2000,  [MODEL_LINK_SWITCH_DOWN] = 2000,
        [MODEL_LINK_PORT_P2P] = 3000,   [MODEL_LINK_PORT_SHM] = 4000,
        [MODEL_LINK_CROSS_OUT] = 5000,  [MODEL_LINK_CROSS_IN] = 5000,
        [MODEL_LINK_MEMORY] = 6000,     [MODEL_LINK_NIC_OUT] = 7000,
        [MODEL_LINK_NIC_IN] = 7000,
    };
    const struct model_topology *topology = fixture_topology(
        *state,
        "2x8 gpu:a40 nvlink:pairs pcie:4:2/switch sockets:2 nic:2x400Gbit/s",
        sets, FIXTURE_COUNT(sets));
    struct model_fabric fabric;

    model_fabric_make(topology, false, &fabric);
    for (int link = 0; link < fabric.link_count; link++) {
        assert_near_ratio(model_fabric_link_bytes_per_us(&fabric, link),
                          rates[model_fabric_link_kind(&fabric, link)], 1e-12);
    }
}

/* A mesh of 4 divides 90 GB/s over 3 peers; each ordered pair has its link. */
static void a_mesh_divides_over_the_peers(void **state)
{
    static const struct route routes[] = {
        {1, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2, "node0.mesh7"},
        {3, 1, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2, "node0.mesh13"}};
    struct model_fabric fabric =
        make(*state, "1x4 gpu:a40 nvlink:mesh:90GB/s", true);
    struct model_hop hop;

    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 1, 3, MODEL_P2P, 0, &hop);
    assert_int_equal(model_fabric_link_kind(&fabric, hop.links[0]),
                     MODEL_LINK_MESH);
    assert_near_ratio(model_fabric_link_bytes_per_us(&fabric, hop.links[0]),
                      30000, 1e-12);
}

/* NVLink takes 0.2 us, an NVSwitch joins any two. */
static void over_nvlink(void **state)
{
    static const struct route pairs[] = {
        {2, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.out node0.gpu3.nvlink.in"},
        {3, 2, MODEL_SHM, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.in node0.gpu3.nvlink.out"}};
    static const struct route all[] = {
        {1, 6, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu1.nvlink.out node0.gpu6.nvlink.in"}};
    struct model_fabric fabric = make(*state, "1x8 gpu:a40 nvlink:pairs", true);

    CHECK_ROUTES(*state, &fabric, pairs);
    fabric = make(*state, "1x8 gpu:a40 nvswitch", true);
    CHECK_ROUTES(*state, &fabric, all);
}

/*
 * PCIe: 0.18 us a link; 0.16 us between sockets. Two GPUs below a switch: up
 * and down, 2 links. Else by way of the root: GPU, switch, switch, GPU, 4
 * links, and the sockets' link where they differ. The port of both GPUs carries
 * it.
 */
static void over_pcie(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu0.pcie.up node0.gpu0.port.p2p node0.gpu1.pcie.down "
         "node0.gpu1.port.p2p"},
        {1, 2, MODEL_P2P, 0, MODEL_HOP_P2P, 0.72,
         "node0.gpu1.pcie.up node0.gpu1.port.p2p node0.gpu2.pcie.down "
         "node0.gpu2.port.p2p node0.switch0.up node0.switch1.down"},
        {3, 4, MODEL_P2P, 0, MODEL_HOP_P2P, 0.88,
         "node0.gpu3.pcie.up node0.gpu3.port.p2p node0.gpu4.pcie.down "
         "node0.gpu4.port.p2p node0.socket0.cross.out node0.socket1.cross.in "
         "node0.switch1.up node0.switch2.down"},
        {7, 0, MODEL_P2P, 0, MODEL_HOP_P2P, 0.88,
         "node0.gpu0.pcie.down node0.gpu0.port.p2p node0.gpu7.pcie.up "
         "node0.gpu7.port.p2p node0.socket0.cross.in node0.socket1.cross.out "
         "node0.switch0.down node0.switch3.up"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4:2/switch sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/* On root ports there is no switch on the way: 2 links. */
static void over_root_ports(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu0.pcie.up node0.gpu0.port.p2p node0.gpu1.pcie.down "
         "node0.gpu1.port.p2p"},
        {3, 4, MODEL_P2P, 0, MODEL_HOP_P2P, 0.52,
         "node0.gpu3.pcie.up node0.gpu3.port.p2p node0.gpu4.pcie.down "
         "node0.gpu4.port.p2p node0.socket0.cross.out "
         "node0.socket1.cross.in"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4 sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * Through host memory even two GPUs of one switch go up to the root. The
 * sender's socket's memory is written and read.
 */
static void through_host_memory(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_SHM, 0, MODEL_HOP_SHM, 0.72,
         "node0.gpu0.pcie.up node0.gpu0.port.shm node0.gpu1.pcie.down "
         "node0.gpu1.port.shm node0.socket0.memory node0.socket0.memory "
         "node0.switch0.down node0.switch0.up"},
        {4, 3, MODEL_SHM, 0, MODEL_HOP_SHM, 0.88,
         "node0.gpu3.pcie.down node0.gpu3.port.shm node0.gpu4.pcie.up "
         "node0.gpu4.port.shm node0.socket0.cross.in node0.socket1.cross.out "
         "node0.socket1.memory node0.socket1.memory node0.switch1.down "
         "node0.switch2.up"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4:2/switch sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/* Network: 2 us. With GPUDirect from GPU to NIC to NIC to GPU. */
static void over_the_network(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.up node0.nic1.out node1.gpu0.pcie.down "
         "node1.nic1.in"},
        {8, 7, MODEL_SHM, 0, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.down node0.nic0.in node1.gpu0.pcie.up "
         "node1.nic0.out"},
        /* NVLink does not join GPUs of two nodes */
        {1, 8, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu1.pcie.up node0.nic0.out node1.gpu0.pcie.down "
         "node1.nic0.in"}};
    struct model_fabric fabric =
        make(*state, "2x8 gpu:a40 nvswitch nic:2x400Gbit/s", false);

    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * Without GPUDirect host memory is written and read on both sides. One NIC
 * hangs on socket 0: GPU 7 crosses to it, GPU 0 does not.
 */
static void over_the_network_by_way_of_the_host(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.up node0.nic0.out node0.socket0.cross.in "
         "node0.socket1.cross.out node0.socket1.memory "
         "node0.socket1.memory node1.gpu0.pcie.down node1.nic0.in "
         "node1.socket0.memory node1.socket0.memory"}};
    const struct model_topology *topology =
        wired(*state, "2x8 gpu:a40 sockets:2 nic:1x400Gbit/s",
              "node.nics.gpudirect=false");
    struct model_fabric fabric;

    model_fabric_make(topology, false, &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * Folded, a route into another node ends on the shown node's ingress links, and
 * one to the last node's GPU 0 too.
 */
static void folded_routes_stay_on_the_shown_node(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.down node0.gpu7.pcie.up node0.nic1.in "
         "node0.nic1.out"},
        {0, 31, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.gpu7.pcie.down node0.nic0.in "
         "node0.nic0.out"},
        {2, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.out node0.gpu3.nvlink.in"}};
    struct model_fabric fabric =
        make(*state, "4x8 gpu:a40 nvswitch nic:2x400Gbit/s", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/* On lagom-a the shipped file's wiring: pairs, two sockets, root ports. */
static void the_wiring_of_lagom_a(void **state)
{
    static const char *const sets[] = {"node.pcie.latency=0.18 us",
                                       "node.nvlink.latency=0.2 us"};
    static const struct route routes[] = {
        {4, 5, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu4.nvlink.out node0.gpu5.nvlink.in"},
        {5, 6, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu5.pcie.up node0.gpu5.port.p2p node0.gpu6.pcie.down "
         "node0.gpu6.port.p2p"}};
    struct model_fabric fabric;

    model_fabric_make(fixture_topology(*state, "lagom-a", sets, 2), true,
                      &fabric);

    CHECK_ROUTES(*state, &fabric, routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_counted),
        cmocka_unit_test(names_are_unique_and_tell_the_kind),
        cmocka_unit_test(a_short_buffer_cuts_the_name),
        cmocka_unit_test(rates_come_from_their_keys),
        cmocka_unit_test(a_mesh_divides_over_the_peers),
        cmocka_unit_test(over_nvlink),
        cmocka_unit_test(over_pcie),
        cmocka_unit_test(over_root_ports),
        cmocka_unit_test(through_host_memory),
        cmocka_unit_test(over_the_network),
        cmocka_unit_test(over_the_network_by_way_of_the_host),
        cmocka_unit_test(folded_routes_stay_on_the_shown_node),
        cmocka_unit_test(the_wiring_of_lagom_a),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
