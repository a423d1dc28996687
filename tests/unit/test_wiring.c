/*
 * test_wiring.c - paths within a node, whose NIC is whose, and PXN.
 */
#include "model/wiring.h"

#include "tests/unit/fixture.h"

/* The NVLinks of a DGX-1 with V100, as its topology file lists them. */
static const struct model_topology *dgx1(struct model_arena *arena)
{
    return fixture_topology(arena, "dgx1-v100", NULL, 0);
}

static void expect_paths(const struct model_topology *topology,
                         const enum model_path *paths)
{
    for (int to = 1; to < topology->gpus_per_node; to++) {
        assert_int_equal(model_wiring_gpu_path(topology, 0, to), paths[to]);
        assert_int_equal(model_wiring_gpu_path(topology, to, 0), paths[to]);
    }
}

/* 8 GPUs, 2 below a switch, 2 sockets: 0 1 | 2 3 || 4 5 | 6 7. */
static void pcie_is_a_tree(void **state)
{
    static const enum model_path paths[] = {0,
                                            MODEL_PATH_PIX,
                                            MODEL_PATH_PHB,
                                            MODEL_PATH_PHB,
                                            MODEL_PATH_SYS,
                                            MODEL_PATH_SYS,
                                            MODEL_PATH_SYS,
                                            MODEL_PATH_SYS};
    const struct model_topology *topology = fixture_topology(
        *state, "1x8 gpu:a40 pcie:4:2/switch sockets:2", NULL, 0);

    expect_paths(topology, paths);
    assert_int_equal(model_wiring_gpu_switch(topology, 5), 2);
    assert_int_equal(model_wiring_gpu_socket(topology, 3), 0);
    assert_int_equal(model_wiring_gpu_socket(topology, 4), 1);
}

/*
 * GPU 0 of a DGX-1 has links to 1, 2, 3 and 4. To 5 it goes by way of 1 (1 and
 * 2 links) or 4 (2 and 1), to 6 by way of 2 or 4 (1 at least each), to 7 by way
 * of 3 (2, 1) or 4 (2, 2): the weakest link of each way decides, then the lower
 * number.
 */
static void a_cube_mesh_has_neighbours(void **state)
{
    static const enum model_path paths[] = {0,
                                            MODEL_PATH_NVL,
                                            MODEL_PATH_NVL,
                                            MODEL_PATH_NVL,
                                            MODEL_PATH_NVL,
                                            MODEL_PATH_NVB,
                                            MODEL_PATH_NVB,
                                            MODEL_PATH_NVB};
    const struct model_topology *topology = dgx1(*state);

    expect_paths(topology, paths);
    assert_int_equal(model_wiring_nvlinks(topology, 0, 3), 2);
    assert_int_equal(model_wiring_nvlinks(topology, 3, 0), 2);
    assert_int_equal(model_wiring_nvlinks(topology, 0, 5), 0);
    assert_int_equal(model_wiring_bridge(topology, 0, 5), 1);
    assert_int_equal(model_wiring_bridge(topology, 0, 6), 2);
    assert_int_equal(model_wiring_bridge(topology, 0, 7), 4);
    /* every GPU has 6 links */
    for (int from = 0; from < 8; from++) {
        int links = 0;

        for (int to = 0; to < 8; to++) {
            links += model_wiring_nvlinks(topology, from, to);
        }
        assert_int_equal(links, 6);
    }
}

/* Where P2P goes no farther than one NVLink, nothing goes through a GPU. */
static void no_bridge_below_nvb(void **state)
{
    static const char *const sets[] = {"node.pcie.p2p=nvl"};
    const struct model_topology *topology =
        fixture_topology(*state, "dgx1-v100", sets, 1);

    assert_int_equal(model_wiring_bridge(topology, 0, 7), -1);
    assert_int_equal(model_wiring_gpu_path(topology, 0, 7), MODEL_PATH_SYS);
}

struct share {
    const char *notation;
    const char *at;
    int first[8]; /* own NICs of GPUs 0 .. 7 */
    int count[8];
    int nic_switch, nic_socket; /* of the last NIC */
};

/*
 * 8 GPUs on 2 sockets with
 *
 *     8 NICs below ports of one GPU: each its own
 *     4 NICs below switches of two: GPU pairs share
 *     1 NIC on a root port: for all
 *     2 NICs below 4 switches (0 and 2): the others take their socket's
 *     2 NICs on root ports: by socket
 *     4 NICs on root ports: two a socket, GPUs 0 1 and 2 3 share
 *     16 NICs: two each
 */
static void nics_go_to_near_gpus(void **state)
{
    static const struct share rows[] = {
        {"2x8 gpu:a40 sockets:2 nic:8x1GB/s",
         "auto",
         {0, 1, 2, 3, 4, 5, 6, 7},
         {1, 1, 1, 1, 1, 1, 1, 1},
         7,
         1},
        {"2x8 gpu:a40 pcie:4:2/switch sockets:2 nic:4x1GB/s",
         "auto",
         {0, 0, 1, 1, 2, 2, 3, 3},
         {1, 1, 1, 1, 1, 1, 1, 1},
         3,
         1},
        {"2x8 gpu:a40 pcie:4:2/switch sockets:2 nic:1x1GB/s",
         "auto",
         {0, 0, 0, 0, 0, 0, 0, 0},
         {1, 1, 1, 1, 1, 1, 1, 1},
         -1,
         0},
        {"2x8 gpu:a40 pcie:4:2/switch sockets:2 nic:2x1GB/s",
         "switch",
         {0, 0, 0, 0, 1, 1, 1, 1},
         {1, 1, 1, 1, 1, 1, 1, 1},
         2,
         1},
        {"2x8 gpu:a40 sockets:2 nic:2x1GB/s",
         "auto",
         {0, 0, 0, 0, 1, 1, 1, 1},
         {1, 1, 1, 1, 1, 1, 1, 1},
         -1,
         1},
        {"2x8 gpu:a40 sockets:2 nic:4x1GB/s",
         "root",
         {0, 0, 1, 1, 2, 2, 3, 3},
         {1, 1, 1, 1, 1, 1, 1, 1},
         -1,
         1},
        {"2x8 gpu:a40 sockets:2 nic:16x1GB/s",
         "auto",
         {0, 2, 4, 6, 8, 10, 12, 14},
         {2, 2, 2, 2, 2, 2, 2, 2},
         7,
         1},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *set =
            model_arena_format(*state, "node.nics.at=%s", rows[i].at);
        const struct model_topology *topology =
            fixture_topology(*state, rows[i].notation, &set, 1);
        int last = topology->nics.count - 1;

        for (int gpu = 0; gpu < 8; gpu++) {
            struct model_nic_range own = model_wiring_nics_of(topology, gpu);

            assert_int_equal(own.first, rows[i].first[gpu]);
            assert_int_equal(own.count, rows[i].count[gpu]);
        }
        assert_int_equal(model_wiring_nic_switch(topology, last),
                         rows[i].nic_switch);
        assert_int_equal(model_wiring_nic_socket(topology, last),
                         rows[i].nic_socket);
    }
}

/* 4 switches of two GPUs with a NIC each: GPU 1 and NIC 0, 1, 2. */
static void the_path_to_a_nic(void **state)
{
    const struct model_topology *topology = fixture_topology(
        *state, "2x8 gpu:a40 pcie:4:2/switch sockets:2 nic:4x1GB/s", NULL, 0);

    assert_int_equal(model_wiring_nic_path(topology, 1, 0), MODEL_PATH_PIX);
    assert_int_equal(model_wiring_nic_path(topology, 1, 1), MODEL_PATH_PHB);
    assert_int_equal(model_wiring_nic_path(topology, 1, 2), MODEL_PATH_SYS);
    /* NCCL's level is PXB: only the first */
    assert_true(model_wiring_gpudirect(topology, 1, 0));
    assert_false(model_wiring_gpudirect(topology, 1, 1));
    assert_int_equal(model_wiring_gpu_beside(topology, 2), 4);
}

/* A switch is where devices share a port: GPUs, or a GPU and a NIC. */
static void switches_are_where_ports_are_shared(void **state)
{
    static const char *const below[] = {"node.nics.at=switch"};
    const struct model_topology *two =
        fixture_topology(*state, "1x4 gpu:a40 pcie:4:2/switch", NULL, 0);
    const struct model_topology *none =
        fixture_topology(*state, "2x4 gpu:a40 nic:1x1GB/s", NULL, 0);
    const struct model_topology *some =
        fixture_topology(*state, "2x4 gpu:a40 nic:2x1GB/s", below, 1);

    for (int gpu = 0; gpu < 4; gpu++) {
        assert_true(model_wiring_has_switch(two, gpu));
        assert_false(model_wiring_has_switch(none, gpu));
        /* NICs beside GPUs 0 and 2 */
        assert_int_equal(model_wiring_has_switch(some, gpu), gpu % 2 == 0);
    }
}

/*
 * An NVSwitch node with a NIC for each GPU: GPU 3 sends over NIC 5 by way of
 * GPU 5, over its own NIC itself.
 */
static void pxn_goes_by_the_gpu_beside_the_nic(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "dgx-h100", NULL, 0);

    assert_int_equal(model_wiring_sender(topology, 3, 5), 5);
    assert_int_equal(model_wiring_sender(topology, 3, 3), 3);
}

/*
 * No PXN where it is switched off; where no NVLink joins the GPUs; where the
 * NIC is on a root port, so that no GPU is nearer than another; where GPUDirect
 * is off; and between GPUs of one switch, which reach the NIC as well.
 */
static void where_pxn_is_not_taken(void **state)
{
    static const struct {
        const char *topology, *set;
        int gpu, nic;
    } rows[] = {
        {"dgx-h100", "node.nics.pxn=false", 3, 5},
        {"2x8 gpu:a40 nic:8x1GB/s", "node.nics.pxn=true", 3, 5},
        {"2x8 gpu:h100 nvswitch nic:2x1GB/s", "node.nics.pxn=true", 7, 0},
        {"dgx-h100", "node.nics.gpudirect=false", 3, 5},
        {"2x8 gpu:h100 nvswitch pcie:5:2/switch nic:4x1GB/s",
         "node.nics.pxn=true", 3, 1},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_topology *topology =
            fixture_topology(*state, rows[i].topology, &rows[i].set, 1);

        assert_int_equal(
            model_wiring_sender(topology, rows[i].gpu, rows[i].nic),
            rows[i].gpu);
    }
    /* pairs 2i, 2i + 1: GPU 4 reaches NIC 5 by GPU 5, and NIC 6 not */
    {
        const struct model_topology *pairs = fixture_topology(
            *state, "2x8 gpu:a40 nvlink:pairs nic:8x1GB/s", NULL, 0);

        assert_int_equal(model_wiring_sender(pairs, 4, 5), 5);
        assert_int_equal(model_wiring_sender(pairs, 4, 6), 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcie_is_a_tree),
        cmocka_unit_test(a_cube_mesh_has_neighbours),
        cmocka_unit_test(no_bridge_below_nvb),
        cmocka_unit_test(nics_go_to_near_gpus),
        cmocka_unit_test(the_path_to_a_nic),
        cmocka_unit_test(switches_are_where_ports_are_shared),
        cmocka_unit_test(pxn_goes_by_the_gpu_beside_the_nic),
        cmocka_unit_test(where_pxn_is_not_taken),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
