/*
 * test_fabric.c - links by number, kind, name and rate.
 */
#include "tests/unit/routes.h"

enum { LINKS_MAX = 1024 };

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

/* Leaf links have names by their kind of network. */
static void leaves_have_names(void **state)
{
    static const struct {
        const char *net;
        bool folded;
        int leaf;
        const char *up;
    } rows[] = {{"net:tree:3/leaf", false, 1, "leaf1.up"},
                {"net:rails", false, 2, "rail2.up"},
                {"net:rails:3/leaf", false, 6, "leaf1.rail2.up"},
                {"net:rails", true, 3, "rail3.up"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_fabric fabric;
        char buffer[64];

        model_fabric_make(
            fixture_topology(*state,
                             model_arena_format(*state,
                                                "6x4 gpu:a40 nic:4x1GB/s %s",
                                                rows[i].net),
                             NULL, 0),
            rows[i].folded, &fabric);
        assert_string_equal(
            model_fabric_link_name(&fabric,
                                   fabric.first_leaf_link + 2 * rows[i].leaf,
                                   buffer, sizeof buffer),
            rows[i].up);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_counted),
        cmocka_unit_test(names_are_unique_and_tell_the_kind),
        cmocka_unit_test(a_short_buffer_cuts_the_name),
        cmocka_unit_test(rates_come_from_their_keys),
        cmocka_unit_test(leaves_have_names),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
