/*
 * test_collective.c - what a ring collective asks of the machine, by hand:
 * bytes, chunks, the pace of the ring, HBM, cache, and flows on links.
 */
#include "model/collective.h"

#include "tests/unit/fixture.h"

static struct model_config
config_of(enum model_transport transport, int channels, double chunk_bytes)
{
    return (struct model_config){.algorithm = MODEL_RING,
                                 .protocol = MODEL_SIMPLE,
                                 .transport = (int)transport,
                                 .channels = channels,
                                 .threads = 64,
                                 .chunk_bytes = chunk_bytes};
}

/* A collective of the whole world; folded shows one node. */
static struct model_collective ring(struct model_arena *arena,
                                    const struct model_topology *topology,
                                    bool folded,
                                    enum model_collective_kind kind,
                                    double size_bytes,
                                    const struct model_config *config)
{
    struct model_group world = {.name = "world",
                                .count = model_topology_rank_count(topology)};
    struct model_fabric fabric;

    model_fabric_make(topology, folded, &fabric);
    return model_collective_make(
        model_walk_new(arena, &fabric),
        &(struct model_collective_task){.kind = kind,
                                        .size_bytes = size_bytes,
                                        .group = &world,
                                        .config = config});
}

/* Flows on the link of that name; 0 when it is not passed. */
static double flows_on(const struct model_topology *topology,
                       bool folded,
                       const struct model_collective *collective,
                       const char *name)
{
    struct model_fabric fabric;
    char buffer[64];

    model_fabric_make(topology, folded, &fabric);
    for (int i = 0; i < collective->use_count; i++) {
        if (strcmp(model_fabric_link_name(&fabric, collective->uses[i].link,
                                          buffer, sizeof buffer),
                   name) == 0) {
            return collective->uses[i].flows;
        }
    }
    return 0;
}

/* Uses ascend, each link once, with flows. */
static void check_uses(const struct model_collective *collective)
{
    for (int i = 0; i < collective->use_count; i++) {
        assert_true(collective->uses[i].flows > 0);
        assert_true(i == 0 ||
                    collective->uses[i - 1].link < collective->uses[i].link);
    }
}

/*
 * 8 ranks, 80 MB, 10 channels. A block is 10 MB, a channel's part of it 1 MB.
 * AllGather and ReduceScatter: 7 steps, 7 MB a channel; AllReduce: 14 MB. Over
 * all channels 70 MB = 80 MB x 7/8, the wire bytes of the table.
 */
static void bytes_of_a_channel(void **state)
{
    static const struct {
        enum model_collective_kind kind;
        double channel_bytes, bus_factor;
    } rows[] = {{MODEL_ALL_GATHER, 7e6, 7.0 / 8.0},
                {MODEL_REDUCE_SCATTER, 7e6, 7.0 / 8.0},
                {MODEL_ALL_REDUCE, 14e6, 14.0 / 8.0}};
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 10, 65536);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_collective collective =
            ring(*state, topology, true, rows[i].kind, 80e6, &config);

        assert_int_equal(collective.rank_count, 8);
        assert_int_equal(collective.channels, 10);
        assert_near_ratio(collective.channel_bytes, rows[i].channel_bytes,
                          1e-12);
        assert_near_ratio(collective.bus_factor, rows[i].bus_factor, 1e-12);
    }
}

/*
 * The block of a rank, 10 MB, over 10 channels: 1 MB. A chunk of 64 KiB binds;
 * one of 2 MiB is cut to 1 MB. The footprint is that of all channels.
 */
static void chunks_are_cut_to_the_block(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 10, 65536);
    struct model_collective collective =
        ring(*state, topology, true, MODEL_ALL_GATHER, 80e6, &config);

    assert_near(collective.chunk_bytes, 65536, 0);
    assert_near(collective.footprint_bytes, 655360, 0);
    config.chunk_bytes = 2097152;
    collective = ring(*state, topology, true, MODEL_ALL_GATHER, 80e6, &config);
    assert_near_ratio(collective.chunk_bytes, 1e6, 1e-12);
    assert_near_ratio(collective.footprint_bytes, 1e7, 1e-12);
}

/*
 * Over NVLink or PCIe P2P, n ranks: AllGather (3n - 1) M/n HBM bytes for
 * (n - 1) M/n on the wire, AllReduce (6n - 4) M/n for 2 (n - 1) M/n.
 */
static void hbm_bytes_over_p2p(void **state)
{
    for (int n = 2; n <= 16; n++) {
        const struct model_topology *topology = fixture_topology(
            *state,
            model_arena_format(*state, "1x%d gpu:a100 %s", n,
                               n % 2 == 0 ? "nvswitch" : "pcie:4"),
            NULL, 0);
        struct model_config config = config_of(MODEL_P2P, 4, 65536);

        assert_near_ratio(
            ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config)
                .hbm_ratio,
            (3.0 * n - 1) / (n - 1), 1e-12);
        assert_near_ratio(
            ring(*state, topology, true, MODEL_REDUCE_SCATTER, 1e9, &config)
                .hbm_ratio,
            (3.0 * n - 1) / (n - 1), 1e-12);
        assert_near_ratio(
            ring(*state, topology, true, MODEL_ALL_REDUCE, 1e9, &config)
                .hbm_ratio,
            (6.0 * n - 4) / (2 * (n - 1)), 1e-12);
    }
}

/*
 * Through host memory (NCCL 2.18.3 primitives): a middle step touches HBM
 * once, S. With the first and last step's 2 S: AllGather over 8 GPUs (7 + 2)
 * / 7.
 */
static void hbm_bytes_over_shm(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:a40", NULL, 0);
    struct model_config config = config_of(MODEL_SHM, 4, 65536);

    assert_near_ratio(
        ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config).hbm_ratio,
        9.0 / 7.0, 1e-12);
    assert_near_ratio(
        ring(*state, topology, true, MODEL_ALL_REDUCE, 1e9, &config).hbm_ratio,
        16.0 / 14.0, 1e-12);
}

/*
 * NVLink pairs, SHM between them: half of the 8 hops keep their FIFO in device
 * memory. (1 + 2/2) a step and 2 in 7: 2 + 2/7.
 */
static void hbm_bytes_of_a_mixed_ring(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:a40 nvlink:pairs", NULL, 0);
    struct model_config config = config_of(MODEL_SHM, 4, 65536);

    assert_near_ratio(
        ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config).hbm_ratio,
        2 + 2.0 / 7.0, 1e-12);
}

/*
 * One GPU a node, GPUDirect: every step is 5 S (NCCL 2.18.3 primitives:
 * output, FIFO written and read by the NIC, FIFO written by the NIC and read);
 * 4 ranks: 5 + 2/3. Without GPUDirect the FIFOs are host memory: 1 + 2/3.
 */
static void hbm_bytes_over_the_network(void **state)
{
    static const char *const sets[] = {"node.nics.gpudirect=false"};
    const struct model_topology *with =
        fixture_topology(*state, "4x1 gpu:a40 nic:1x100Gbit/s", NULL, 0);
    const struct model_topology *without =
        fixture_topology(*state, "4x1 gpu:a40 nic:1x100Gbit/s", sets, 1);
    struct model_config config = config_of(MODEL_P2P, 4, 65536);

    assert_near_ratio(
        ring(*state, with, true, MODEL_ALL_GATHER, 1e9, &config).hbm_ratio,
        5 + 2.0 / 3.0, 1e-12);
    assert_near_ratio(
        ring(*state, without, true, MODEL_ALL_GATHER, 1e9, &config).hbm_ratio,
        1 + 2.0 / 3.0, 1e-12);
}

/*
 * 4 GPUs in NVLink pairs, over PCIe between them: 2 hops of each kind. 64
 * threads with 1000 bytes a warp: f = 2000, f / b = 1 us.
 *
 *     NVLink  R = 2 x 0.5 + 1 = 2: 2000 / 3 bytes/us, sync 0.5 + 0.5
 *     PCIe    up and down 1 us, R = 2 x 1 + 1 = 3: 500 bytes/us, sync 0.5 + 1
 *
 * 4 channels of 160 kB: blocks of 40 kB, chunks of 10 kB. A step lasts as the
 * slowest, 10,000 / 500 = 20 us, and the mean synchronisation, 1.25 us.
 */
static void the_pace_of_a_ring(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.warp_in_flight=1 kB",
        "gpu.channel.issue_rate=2 GB/s",
        "gpu.channel.rate=1 TB/s",
        "gpu.channel.sync=0.25 us",
        "gpu.hbm.latency=1 us",
        "gpu.l2_latency=1 us",
        "node.nvlink.latency=0.5 us",
        "node.pcie.latency=0.5 us",
    };
    const struct model_topology *topology = fixture_topology(
        *state, "1x4 gpu:a40 nvlink:pairs pcie:4", sets, FIXTURE_COUNT(sets));
    struct model_config config = config_of(MODEL_P2P, 4, 65536);
    struct model_collective collective =
        ring(*state, topology, true, MODEL_ALL_GATHER, 160e3, &config);

    assert_near_ratio(collective.chunk_bytes, 10e3, 1e-12);
    assert_near_ratio(collective.in_flight_bytes, 2000, 1e-12);
    assert_near_ratio(collective.channel_bytes_per_us, 10e3 / 21.25, 1e-12);
    /* Chunks of 500 bytes, less than is in flight: loads of 1 us, more than 3
     * us x 500 / 2000, and 0.25 us of issue, and 1.25 us. */
    config.chunk_bytes = 500;
    collective = ring(*state, topology, true, MODEL_ALL_GATHER, 160e3, &config);
    assert_near_ratio(collective.channel_bytes_per_us, 500.0 / 2.5, 1e-12);
}

/*
 * The same ring with an L2 of 0.5 us. 4 channels, 8 chunks of 10 kB in the FIFO
 * of each and as many in the user's buffer: 640 kB pass until a slot is used
 * again. Within an L2 of 640 kB the PCIe hop has R = 2.5: 2000 / 3.5 bytes/us,
 * a chunk 17.5 us; beside kernels, and with an L2 of a byte less, 20 us as
 * before. Of a chunk that could have 2 MiB the FIFO holds 2: 160 kB.
 */
static void a_ring_whose_fifos_stay_in_l2(void **state)
{
    static const struct {
        const char *l2;
        double most_bytes; /* of a chunk */
        double step_us;
    } rows[] = {{"gpu.l2=640000 B", 65536, 18.75},
                {"gpu.l2=639999 B", 65536, 21.25},
                {"gpu.l2=160000 B", 2097152, 18.75},
                {"gpu.l2=159999 B", 2097152, 21.25}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *sets[] = {
            "gpu.channel.warp_in_flight=1 kB",
            "gpu.channel.issue_rate=2 GB/s",
            "gpu.channel.rate=1 TB/s",
            "gpu.channel.sync=0.25 us",
            "gpu.hbm.latency=1 us",
            "gpu.l2_latency=0.5 us",
            "node.nvlink.latency=0.5 us",
            "node.pcie.latency=0.5 us",
            rows[i].l2,
        };
        const struct model_topology *topology =
            fixture_topology(*state, "1x4 gpu:a40 nvlink:pairs pcie:4", sets,
                             FIXTURE_COUNT(sets));
        struct model_config config =
            config_of(MODEL_P2P, 4, rows[i].most_bytes);
        struct model_collective collective =
            ring(*state, topology, true, MODEL_ALL_GATHER, 160e3, &config);

        assert_near_ratio(collective.channel_bytes_per_us,
                          10e3 / rows[i].step_us, 1e-12);
        assert_near_ratio(collective.crowded_bytes_per_us, 10e3 / 21.25, 1e-12);
    }
}

/* All to one switch: every GPU sends and receives what all channels do. */
static void links_of_an_nvswitch_node(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);

    for (int channels = 1; channels <= 24; channels += 23) {
        struct model_config config = config_of(MODEL_P2P, channels, 65536);
        struct model_collective collective =
            ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config);

        check_uses(&collective);
        assert_int_equal(collective.use_count, 16);
        for (int gpu = 0; gpu < 8; gpu++) {
            assert_near(flows_on(topology, true, &collective,
                                 model_arena_format(
                                     *state, "node0.gpu%d.nvlink.out", gpu)),
                        channels, 0);
            assert_near(flows_on(topology, true, &collective,
                                 model_arena_format(
                                     *state, "node0.gpu%d.nvlink.in", gpu)),
                        channels, 0);
        }
    }
}

/*
 * A lagom-a node: NVLink pairs (0 1) (2 3) (4 5) (6 7), GPUs 0 to 3 on socket
 * 0, each GPU on a root port. 8 channels: 4 run 0 1 .. 7, 4 backwards.
 *
 *     NVLink   each GPU sends 4 to its partner (one direction's) and gets 4
 *     PCIe     each GPU sends 4 and gets 4: GPU 1 forward up, backward down
 *     port     up and down together: 8
 *     sockets  3 -> 4 and 0 -> 7 leave socket 0: 8; and 8 come back
 *
 * 8 GPUs x (2 NVLink + 2 PCIe + 1 port) + 2 sockets x 2 = 44 links.
 */
static void links_of_a_lagom_a_node(void **state)
{
    static const struct {
        const char *format;
        double flows;
    } rows[] = {{"node0.gpu%d.nvlink.out", 4}, {"node0.gpu%d.nvlink.in", 4},
                {"node0.gpu%d.pcie.up", 4},    {"node0.gpu%d.pcie.down", 4},
                {"node0.gpu%d.port.p2p", 8},   {"node0.gpu%d.port.shm", 0}};
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 8, 65536);
    struct model_collective collective =
        ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config);

    check_uses(&collective);
    for (int gpu = 0; gpu < 8; gpu++) {
        for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
            char name[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(name, sizeof name, rows[i].format, gpu);
#pragma GCC diagnostic pop
            if (flows_on(topology, true, &collective, name) != rows[i].flows) {
                fail_msg("%s: %g flows", name,
                         flows_on(topology, true, &collective, name));
            }
        }
    }
    for (int socket = 0; socket < 2; socket++) {
        assert_near(flows_on(topology, true, &collective,
                             model_arena_format(
                                 *state, "node0.socket%d.cross.out", socket)),
                    8, 0);
        assert_near(flows_on(topology, true, &collective,
                             model_arena_format(
                                 *state, "node0.socket%d.cross.in", socket)),
                    8, 0);
        assert_near(flows_on(topology, true, &collective,
                             model_arena_format(*state, "node0.socket%d.memory",
                                                socket)),
                    0, 0);
    }
    assert_int_equal(collective.use_count, 44);
}

/*
 * The same through host memory: the port for SHM carries it, and of each hop
 * the sender's socket's memory is written and read. Forward 1 -> 2, 3 -> 4 and
 * backward 2 -> 1, 0 -> 7 start on socket 0: 4 hops of 4 channels, twice: 32.
 */
static void links_through_host_memory(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct model_config config = config_of(MODEL_SHM, 8, 65536);
    struct model_collective collective =
        ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config);

    check_uses(&collective);
    assert_near(flows_on(topology, true, &collective, "node0.socket0.memory"),
                32, 0);
    assert_near(flows_on(topology, true, &collective, "node0.socket1.memory"),
                32, 0);
    assert_near(flows_on(topology, true, &collective, "node0.gpu5.port.shm"), 8,
                0);
    assert_near(flows_on(topology, true, &collective, "node0.gpu5.port.p2p"), 0,
                0);
    assert_near(flows_on(topology, true, &collective, "node0.gpu5.nvlink.out"),
                4, 0);
}

/*
 * Two NVSwitch nodes with 2 NICs, 8 channels: 2 forward and 2 backward over
 * each NIC. Each ring leaves and enters a node once: a NIC carries 4 out and 4
 * in. Over NIC 0 the walk is 0 .. 7, over NIC 1 4 .. 7 0 .. 3; at both ends of
 * it 2 channels leave and 2 enter. Folded or not.
 */
static void links_of_the_network(void **state)
{
    static const struct {
        const char *name;
        double flows;
    } rows[] = {
        {"node0.nic0.out", 4},
        {"node0.nic0.in", 4},
        {"node0.nic1.out", 4},
        {"node0.nic1.in", 4},
        {"node0.gpu7.pcie.up", 2},
        {"node0.gpu0.pcie.up", 2},
        {"node0.gpu3.pcie.up", 2},
        {"node0.gpu4.pcie.up", 2},
        {"node0.gpu0.pcie.down", 2},
        {"node0.gpu7.pcie.down", 2},
        {"node0.gpu4.pcie.down", 2},
        {"node0.gpu3.pcie.down", 2},
        {"node0.gpu1.pcie.up", 0},
        /* all 8 but the 2 that leave the node from there */
        {"node0.gpu7.nvlink.out", 6},
        {"node0.gpu4.nvlink.in", 6},
        {"node0.gpu1.nvlink.out", 8},
    };
    const struct model_topology *topology = fixture_topology(
        *state, "2x8 gpu:h100 nvswitch nic:2x400Gbit/s", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 8, 65536);

    for (int folded = 0; folded < 2; folded++) {
        struct model_collective collective =
            ring(*state, topology, folded == 1, MODEL_ALL_GATHER, 1e9, &config);

        check_uses(&collective);
        for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
            double flows =
                flows_on(topology, folded == 1, &collective, rows[i].name);

            if (flows != rows[i].flows) {
                fail_msg("folded %d, %s: %g flows", folded, rows[i].name,
                         flows);
            }
        }
        assert_near(
            flows_on(topology, folded == 1, &collective, "node1.nic0.out"),
            folded == 1 ? 0 : 4, 0);
    }
}

/* Folding shows less, the pace and the HBM bytes stay. */
static void folding_keeps_the_numbers(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 8, 65536);
    struct model_collective folded =
        ring(*state, topology, true, MODEL_ALL_REDUCE, 1e9, &config);
    struct model_collective all =
        ring(*state, topology, false, MODEL_ALL_REDUCE, 1e9, &config);

    assert_near_ratio(folded.channel_bytes, all.channel_bytes, 1e-12);
    assert_near_ratio(folded.channel_bytes_per_us, all.channel_bytes_per_us,
                      1e-12);
    assert_near_ratio(folded.hbm_ratio, all.hbm_ratio, 1e-12);
    assert_near_ratio(folded.in_flight_bytes, all.in_flight_bytes, 1e-12);
}

/* With one rank nothing moves. */
static void one_rank_moves_nothing(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x1 gpu:a40", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 8, 65536);
    struct model_collective collective =
        ring(*state, topology, true, MODEL_ALL_GATHER, 1e9, &config);

    assert_near(collective.channel_bytes, 0, 0);
    assert_int_equal(collective.use_count, 0);
    assert_int_equal(collective.rank_count, 1);
}

static void faults_of_a_configuration(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:a40", NULL, 0);
    struct model_config config = config_of(MODEL_P2P, 84, 65536);

    config.threads = 1024;
    assert_null(model_collective_fault(topology, MODEL_ALL_GATHER, &config));
    config.channels = 85; /* the A40 has 84 SMs */
    assert_non_null(
        model_collective_fault(topology, MODEL_ALL_GATHER, &config));
    config.channels = 1;
    config.threads = 1056;
    assert_non_null(
        model_collective_fault(topology, MODEL_ALL_GATHER, &config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_channel),
        cmocka_unit_test(chunks_are_cut_to_the_block),
        cmocka_unit_test(hbm_bytes_over_p2p),
        cmocka_unit_test(hbm_bytes_over_shm),
        cmocka_unit_test(hbm_bytes_of_a_mixed_ring),
        cmocka_unit_test(hbm_bytes_over_the_network),
        cmocka_unit_test(the_pace_of_a_ring),
        cmocka_unit_test(a_ring_whose_fifos_stay_in_l2),
        cmocka_unit_test(links_of_an_nvswitch_node),
        cmocka_unit_test(links_of_a_lagom_a_node),
        cmocka_unit_test(links_through_host_memory),
        cmocka_unit_test(links_of_the_network),
        cmocka_unit_test(folding_keeps_the_numbers),
        cmocka_unit_test(one_rank_moves_nothing),
        cmocka_unit_test(faults_of_a_configuration),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
