/*
 * test_nccl_p2p.c - NCCL's send and receive: parts, channels, protocol, chunk.
 */
#include "tests/unit/nccl.h"

enum { KIB = 1024, MIB = 1048576 };
enum { LL = MODEL_NCCL_LL, SIMPLE = MODEL_NCCL_SIMPLE };

struct row {
    double bytes;
    int peers, protocol, channels;
    double part_bytes, chunk_bytes;
};

static void check_rows(struct nccl_rig *rig, const struct row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        struct model_nccl_choice choice;

        model_nccl_choose_p2p(&rig->comm, rows[i].bytes, rows[i].peers,
                              &choice);
        assert_int_equal(choice.function, MODEL_UNSET);
        assert_int_equal(choice.protocol, rows[i].protocol);
        assert_int_equal(choice.channels, rows[i].channels);
        assert_near(choice.channel_bytes, rows[i].part_bytes, 0);
        assert_near(choice.chunk_bytes, rows[i].chunk_bytes, 0);
        assert_int_equal(choice.threads, 640);
    }
}

/*
 * 8 H100, 32 channels, all of which a peer may have; a step is 512 KiB. 8 ranks
 * begin with 4 channels each, in parts of at least 64 KiB, and have at most 16,
 * when parts are above 16 MiB: at 256 MiB. A peer's parts are 16, 8 and 24
 * channels away from its first, so 7 peers with 4 are on 28 channels, with 16
 * on all. 100 KiB are 64 and 36. 16 KiB is LL.
 */
static void over_nvlink(void **state)
{
    static const struct row rows[] = {
        {MIB, 1, SIMPLE, 4, 256 * KIB, 512 * KIB},
        {MIB, 7, SIMPLE, 28, 256 * KIB, 512 * KIB},
        {MIB, 8, SIMPLE, 32, 256 * KIB, 512 * KIB},
        {100 * KIB, 1, SIMPLE, 2, 64 * KIB, 512 * KIB},
        {16 * KIB, 7, LL, 7, 16 * KIB, 32 * KIB},
        {16 * KIB + 1, 7, SIMPLE, 7, 16 * KIB + 1, 512 * KIB},
        {64.0 * MIB, 1, SIMPLE, 4, 16 * MIB, 512 * KIB},
        {256.0 * MIB, 1, SIMPLE, 16, 16 * MIB, 512 * KIB},
        {256.0 * MIB, 7, SIMPLE, 32, 16 * MIB, 512 * KIB},
        {1024.0 * MIB, 1, SIMPLE, 16, 64 * MIB, 512 * KIB}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_h100), rows,
               FIXTURE_COUNT(rows));
}

/*
 * 2.30 lets a peer have all 32. 20 KiB take one part of it, as there is less
 * than 64 KiB; 100 KiB two even ones. First channels are 16, 8, 24 ... apart.
 */
static void over_nvlink_later(void **state)
{
    static const struct row rows[] = {
        {MIB, 7, SIMPLE, 28, 256 * KIB, 512 * KIB},
        {20 * KIB, 1, SIMPLE, 1, 20 * KIB, 512 * KIB},
        {100 * KIB, 1, SIMPLE, 2, 50 * KIB, 512 * KIB},
        {16 * KIB, 1, LL, 1, 16 * KIB, 32 * KIB},
        {1024.0 * MIB, 1, SIMPLE, 32, 32 * MIB, 512 * KIB}};

    check_rows(nccl_rig_new(*state, "2.30", &nccl_h100), rows,
               FIXTURE_COUNT(rows));
}

/*
 * 8 A40 over PCIe: a step is 128 KiB; 2 channels for 8 ranks, one for each, so
 * that peers take turns.
 */
static void over_pcie(void **state)
{
    static const struct row rows[] = {
        {MIB, 1, SIMPLE, 1, MIB, 128 * KIB},
        {MIB, 7, SIMPLE, 2, MIB, 128 * KIB},
        {64.0 * MIB, 1, SIMPLE, 1, 64 * MIB, 128 * KIB}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_a40), rows,
               FIXTURE_COUNT(rows));
}

/*
 * Two nodes of H100, 16 channels, 2 a peer; a step is 128 KiB, and there is no
 * LL. Parts of 2.18 are all that counts for chunks: below 8 steps a half, below
 * one a quarter. Peers of a node share channels 0 and 8, of the next 1 and 9.
 */
static void across_nodes(void **state)
{
    static const struct row rows[] = {
        {4.0 * MIB, 1, SIMPLE, 2, 2 * MIB, 128 * KIB},
        {2.0 * MIB, 8, SIMPLE, 2, MIB, 128 * KIB},
        {2.0 * MIB - 32 * KIB, 1, SIMPLE, 2, MIB - 16 * KIB, 64 * KIB},
        {MIB, 15, SIMPLE, 4, 512 * KIB, 64 * KIB},
        {64 * KIB, 1, SIMPLE, 2, 32 * KIB, 32 * KIB},
        {8, 1, SIMPLE, 1, 8, 32 * KIB}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_h100_nodes), rows,
               FIXTURE_COUNT(rows));
}

/*
 * 2.30: one channel at first for each of 16 ranks, another when a part is
 * longer than a step; the whole message counts for chunks. Channels 0 and 1 to
 * one node, 8 and 9 to the other.
 */
static void across_nodes_later(void **state)
{
    static const struct row rows[] = {
        {MIB, 1, SIMPLE, 2, 512 * KIB, 128 * KIB},
        {MIB - 1, 1, SIMPLE, 2, 512 * KIB, 64 * KIB},
        {MIB, 15, SIMPLE, 4, 512 * KIB, 128 * KIB},
        {128 * KIB, 1, SIMPLE, 1, 128 * KIB, 64 * KIB},
        {64 * KIB, 15, SIMPLE, 2, 64 * KIB, 32 * KIB}};

    check_rows(nccl_rig_new(*state, "2.30", &nccl_h100_nodes), rows,
               FIXTURE_COUNT(rows));
}

/*
 * NCCL_P2P_{NVL,PCI,NET}_CHUNKSIZE, no more than a slot; NCCL_P2P_LL_THRESHOLD,
 * 0 for no LL; NCCL_BUFFSIZE of 1 MiB has slots of 128 KiB, one of 8 bytes such
 * as would hold no load of a thread in an eighth.
 */
static void as_told(void **state)
{
    static const struct row nvlink[] = {
        {MIB, 1, SIMPLE, 4, 256 * KIB, 256 * KIB},
        {20 * KIB, 1, LL, 1, 20 * KIB, 32 * KIB}};
    static const struct row never[] = {{8, 1, SIMPLE, 1, 8, 256 * KIB}};
    static const struct row slot[] = {
        {MIB, 1, SIMPLE, 4, 256 * KIB, 128 * KIB}};
    static const struct row least[] = {{16, 1, SIMPLE, 1, 16, 128}};
    static const struct row pcie[] = {{MIB, 1, SIMPLE, 1, MIB, 64 * KIB}};
    static const struct row network[] = {
        {4.0 * MIB, 1, SIMPLE, 2, 2 * MIB, 256 * KIB}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    rig->settings.p2p_nvl_chunk_bytes = 256 * KIB;
    rig->settings.p2p_pci_chunk_bytes = 64 * KIB;
    rig->settings.p2p_net_chunk_bytes = 16 * KIB;
    rig->settings.p2p_ll_threshold_bytes = 20 * KIB;
    check_rows(rig, nvlink, FIXTURE_COUNT(nvlink));
    rig->settings.p2p_ll_threshold_bytes = 0;
    check_rows(rig, never, FIXTURE_COUNT(never));
    rig->settings.buffer_bytes[SIMPLE] = MIB;
    check_rows(rig, slot, FIXTURE_COUNT(slot));
    rig->settings.buffer_bytes[SIMPLE] = 8;
    check_rows(rig, least, FIXTURE_COUNT(least));
    rig = nccl_rig_new(*state, "2.18", &nccl_a40);
    rig->settings.p2p_pci_chunk_bytes = 64 * KIB;
    rig->settings.p2p_nvl_chunk_bytes = 16 * KIB;
    check_rows(rig, pcie, FIXTURE_COUNT(pcie));
    rig = nccl_rig_new(*state, "2.18", &nccl_h100_nodes);
    rig->settings.p2p_net_chunk_bytes = 256 * KIB;
    check_rows(rig, network, FIXTURE_COUNT(network));
}

/*
 * A kernel of 16 channels for an all_to_all whose communicator has fewer: send
 * and receive have a count of their own (github.com/NVIDIA/nccl issue 1598).
 */
static void channels_of_their_own(void **state)
{
    static const struct row rows[] = {
        {MIB, 8, SIMPLE, 16, 512 * KIB, 512 * KIB}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    rig->comm.channels = 10;
    rig->comm.p2p_channels = 16;
    rig->comm.p2p_channels_per_peer = 16;
    check_rows(rig, rows, FIXTURE_COUNT(rows));
}

/* What they are to the simulator, and the way there. */
static void what_to_run(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100_nodes);
    struct model_config wanted = {.algorithm = MODEL_PAIRWISE,
                                  .protocol = MODEL_SIMPLE,
                                  .transport = MODEL_SHM,
                                  .channels = 4,
                                  .threads = 640,
                                  .chunk_bytes = 64 * KIB};
    struct model_nccl_choice choice;
    struct model_config config;

    rig->comm.transport = MODEL_SHM;
    model_nccl_choose_p2p(&rig->comm, MIB, 15, &choice);
    config = model_nccl_config(&choice);
    assert_true(model_config_equal(&config, &wanted));
    assert_int_equal(choice.step_count, 3);
    assert_int_equal(choice.steps[0].cause, MODEL_NCCL_AS_SEARCHED);
    assert_int_equal(choice.steps[0].channels, 16);
    assert_int_equal(choice.steps[1].cause, MODEL_NCCL_CHANNELS_OF_PEERS);
    assert_int_equal(choice.steps[1].channels, 4);
    assert_near(choice.steps[1].chunk_bytes, 128 * KIB, 0);
    assert_int_equal(choice.steps[2].cause, MODEL_NCCL_SMALLER_CHUNK);
    assert_near(choice.steps[2].chunk_bytes, 64 * KIB, 0);
    assert_true(choice.time_us[MODEL_NCCL_RING][SIMPLE] < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_nvlink),
        cmocka_unit_test(over_nvlink_later),
        cmocka_unit_test(over_pcie),
        cmocka_unit_test(across_nodes),
        cmocka_unit_test(across_nodes_later),
        cmocka_unit_test(as_told),
        cmocka_unit_test(channels_of_their_own),
        cmocka_unit_test(what_to_run),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
