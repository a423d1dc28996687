/*
 * test_nccl_paths.c - NCCL's view of a node: how far devices are, and at what
 * rate.
 */
#include "model/nccl/paths.h"

#include "tests/unit/nccl_machines.h"

/* All GPUs of a node, with its NICs. */
static struct model_nccl_paths *paths_of(struct model_arena *arena,
                                         const char *version,
                                         const char *text,
                                         const char *const *sets,
                                         int set_count,
                                         struct model_nccl_settings *settings)
{
    const struct model_topology *topology =
        fixture_topology(arena, text, sets, set_count);
    size_t gpus = (size_t)topology->gpus_per_node;
    int *numbers = model_arena_array(arena, gpus, sizeof *numbers);
    int *capabilities = model_arena_array(arena, gpus, sizeof *capabilities);
    struct model_nccl_machine *machine =
        model_arena_alloc(arena, sizeof *machine);
    struct model_nccl_paths *paths = model_arena_alloc(arena, sizeof *paths);

    for (int i = 0; i < topology->gpus_per_node; i++) {
        numbers[i] = i;
        capabilities[i] = topology->gpu.compute_capability;
    }
    *machine = model_nccl_machine_make(
        arena, topology, &version_of(arena, version)->graph, settings, numbers,
        capabilities, topology->gpus_per_node, true);
    *paths = model_nccl_paths_make(arena, machine);
    return paths;
}

static struct model_nccl_settings *plain(struct model_arena *arena)
{
    struct model_nccl_settings *settings =
        model_arena_alloc(arena, sizeof *settings);

    *settings = model_nccl_settings_none();
    return settings;
}

static void expect_way(const struct model_nccl_way *way,
                       int type,
                       int bytes_per_us,
                       int count)
{
    assert_int_equal(way->type, type);
    assert_int_equal(way->bytes_per_us, bytes_per_us);
    assert_int_equal(way->count, count);
}

static const struct model_nccl_way *
between_gpus(const struct model_nccl_paths *paths, int from, int to)
{
    return model_nccl_way_of(paths, MODEL_NCCL_GPU, from, MODEL_NCCL_GPU, to);
}

static const struct model_nccl_way *
to_net(const struct model_nccl_paths *paths, int gpu, int net)
{
    return model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, MODEL_NCCL_NET, net);
}

static const struct model_nccl_way *
from_net(const struct model_nccl_paths *paths, int net, int gpu)
{
    return model_nccl_way_of(paths, MODEL_NCCL_NET, net, MODEL_NCCL_GPU, gpu);
}

/*
 * 2 GPUs below a switch, 4 to a socket: GPU-PCI-GPU, GPU-PCI-CPU-PCI-GPU, and
 * one link more between sockets, where Ice Lake gives 10 of the 24 GB/s of PCIe
 * 4.0 x16.
 */
static void pcie_is_a_tree(void **state)
{
    static const char *const sets[] = {"node.host.cpu=intel"};
    const struct model_nccl_paths *paths =
        paths_of(*state, "2.18", "1x8 gpu:a40 pcie:4:2/switch sockets:2", sets,
                 1, plain(*state));

    expect_way(between_gpus(paths, 0, 1), MODEL_NCCL_PATH_PIX, 24000, 2);
    expect_way(between_gpus(paths, 0, 3), MODEL_NCCL_PATH_PHB, 24000, 4);
    expect_way(between_gpus(paths, 0, 7), MODEL_NCCL_PATH_SYS, 10000, 5);
    assert_true(between_gpus(paths, 0, 3)->taxed);
    assert_false(between_gpus(paths, 0, 1)->taxed);
    assert_false(between_gpus(paths, 0, 7)->taxed);
    assert_int_equal(model_nccl_farthest(paths, MODEL_NCCL_GPU),
                     MODEL_NCCL_PATH_SYS);
    assert_int_equal(model_nccl_nearest(paths, MODEL_NCCL_GPU),
                     MODEL_NCCL_PATH_PIX);
}

/*
 * A DGX-1: 1 link of 20 GB/s or 2 to four neighbours, and to the rest by way of
 * one of them. From 0 to 7 by 4 (2 links, 2) rather than 3 (2, 1).
 */
static void a_cube_mesh(void **state)
{
    const struct model_nccl_paths *paths =
        paths_of(*state, "2.18", "dgx1-v100", NULL, 0, plain(*state));

    expect_way(between_gpus(paths, 0, 1), MODEL_NCCL_PATH_NVL, 20000, 1);
    expect_way(between_gpus(paths, 0, 3), MODEL_NCCL_PATH_NVL, 40000, 1);
    expect_way(between_gpus(paths, 0, 7), MODEL_NCCL_PATH_NVB, 40000, 2);
    /* Two GPUs and a NIC of 12.5 GB/s below each switch of PCIe 3.0. */
    expect_way(to_net(paths, 1, 0), MODEL_NCCL_PATH_PIX, 12000, 3);
    assert_int_equal(paths->net_gpu[0], 0);
    assert_int_equal(paths->net_gpu[3], 6);
}

/*
 * 8 H100 with a NIC each: to the own one by its switch, 48 GB/s; to another one
 * by NVLink and the GPU beside it (GPU-NVS-GPU-PCI-NIC-NET); back by the CPUs.
 * Without PXN both ways go by the CPUs.
 */
static void pxn_goes_out_only(void **state)
{
    struct model_nccl_settings *settings = plain(*state);
    const struct model_nccl_paths *paths =
        paths_of(*state, "2.18", "dgx-h100", NULL, 0, settings);

    expect_way(between_gpus(paths, 2, 5), MODEL_NCCL_PATH_NVL, 360000, 2);
    expect_way(to_net(paths, 2, 2), MODEL_NCCL_PATH_PIX, 48000, 3);
    expect_way(to_net(paths, 2, 5), MODEL_NCCL_PATH_PXN, 48000, 5);
    expect_way(from_net(paths, 5, 2), MODEL_NCCL_PATH_SYS, 10000, 6);
    expect_way(from_net(paths, 5, 4), MODEL_NCCL_PATH_PHB, 48000, 5);
    assert_int_equal(paths->net_gpu[5], 5);
    settings->pxn_disable = 1;
    paths = paths_of(*state, "2.18", "dgx-h100", NULL, 0, settings);
    expect_way(to_net(paths, 2, 5), MODEL_NCCL_PATH_SYS, 10000, 6);
}

/* Where GPUDirect does not reach, data goes up to the CPU and down again. */
static void without_gpudirect(void **state)
{
    static const char *const sets[] = {"node.nics.gpudirect=false"};
    const struct model_nccl_paths *paths =
        paths_of(*state, "2.18", "dgx-h100", sets, 1, plain(*state));

    /* GPU-PCI-CPU and CPU-PCI-NIC-NET. */
    expect_way(to_net(paths, 2, 2), MODEL_NCCL_PATH_PHB, 48000, 5);
    expect_way(from_net(paths, 2, 2), MODEL_NCCL_PATH_PHB, 48000, 5);
}

/* NCCL_P2P_LEVEL=PIX bends what is nearer by NVB; PXB, unset, all that is PHB
 * between Intel CPUs, to the same way. */
static void levels(void **state)
{
    struct model_nccl_settings *settings = plain(*state);
    const struct model_nccl_paths *paths;

    settings->p2p_level = MODEL_PATH_NVL;
    paths = paths_of(*state, "2.18", "dgx1-v100", NULL, 0, settings);
    expect_way(between_gpus(paths, 0, 3), MODEL_NCCL_PATH_NVL, 40000, 1);
    /* GPU-PCI-CPU-CPU and CPU-PCI-GPU; Broadwell: 6 GB/s. */
    expect_way(between_gpus(paths, 0, 7), MODEL_NCCL_PATH_SYS, 6000, 5);
    settings->p2p_level_local = true;
    paths = paths_of(*state, "2.18", "dgx1-v100", NULL, 0, settings);
    expect_way(between_gpus(paths, 0, 3), MODEL_NCCL_PATH_PHB, 12000, 4);
    expect_way(between_gpus(paths, 0, 0), MODEL_NCCL_PATH_LOC, 5000000, 0);
}

/*
 * Grace Hopper: NICs on the CPUs' root ports. NCCL 2.18 sees the GPU's PCIe
 * there (PHB); 2.30 the link of its own (P2C).
 */
static void c2c(void **state)
{
    static const char *const sets[] = {"node.host.c2c_rate=450 GB/s"};
    const struct model_nccl_paths *paths =
        paths_of(*state, "2.18", "alps", sets, 1, plain(*state));

    expect_way(to_net(paths, 1, 1), MODEL_NCCL_PATH_PHB, 25000, 3);
    paths = paths_of(*state, "2.30", "alps", sets, 1, plain(*state));
    expect_way(to_net(paths, 1, 1), MODEL_NCCL_PATH_P2C, 25000, 3);
    expect_way(from_net(paths, 1, 1), MODEL_NCCL_PATH_P2C, 25000, 3);
    expect_way(to_net(paths, 1, 2), MODEL_NCCL_PATH_PXN, 25000, 4);
    /* 6 links of 20.6 GB/s to each of three peers. */
    expect_way(between_gpus(paths, 0, 3), MODEL_NCCL_PATH_NVL, 123600, 1);
}

/* Two NICs beside two GPUs: each takes one of them first, by turns. */
static void gpus_share_nics(void **state)
{
    const struct model_nccl_paths *paths = paths_of(
        *state, "2.18", "2x4 gpu:a40 pcie:4:2/switch sockets:1 nic:4x100Gbit/s",
        NULL, 0, plain(*state));
    int found[16];

    assert_int_equal(model_nccl_local_net(paths, 0, 0, found), 0);
    assert_int_equal(model_nccl_local_net(paths, 1, 0, found), 1);
    assert_int_equal(model_nccl_local_net(paths, 2, 0, found), 2);
    /* As many NICs as GPUs there: no turns. */
    assert_int_equal(model_nccl_local_net(paths, 1, 1, found), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcie_is_a_tree),
        cmocka_unit_test(a_cube_mesh),
        cmocka_unit_test(pxn_goes_out_only),
        cmocka_unit_test(without_gpudirect),
        cmocka_unit_test(levels),
        cmocka_unit_test(c2c),
        cmocka_unit_test(gpus_share_nics),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
