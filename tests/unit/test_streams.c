/*
 * test_streams.c - pace and fill of collectives whose chunks are a stream:
 * chains, trees, pairs; and the shares of a CTA's roles there and with NVLS.
 *
 *     GPU      1000 bytes in flight a warp; issue 4000 bytes/us; memory 1 us; a
 *              synchronisation takes 0.25 us, with LL 0.125; a recvReduceSend
 *              takes 0.5 of a recvCopySend, a send with a recv 1.2
 *     links    NVLink 0.5 us, network 3 us, one way
 *     NIC      1000 bytes/us; proxy 10 us
 *     chunks   8000 bytes, 10 of them on each of 2 channels; 128 threads
 *
 * A whole CTA has f = 4000 and b = 4000; over NVLink R = 2 x 0.5 + 1 = 2, so
 * that a chunk passed on takes 8000 / 4000 + 2 x 2 = 6 us.
 */
#include "tests/unit/algorithms.h"

#define CHUNK 8000.0

static const char *const sets[] = {
    "node.nvlink.latency=0.5 us",
    "gpu.channel.issue_rate=4 GB/s",
    "gpu.channel.warp_in_flight=1 kB",
    "gpu.channel.rate=1 TB/s",
    "gpu.channel.sync=0.25 us",
    "gpu.channel.start=0 us",
    "gpu.channel.ll.sync=0.125 us",
    "gpu.channel.ll.start=0 us",
    "gpu.channel.reduce=0.5",
    "gpu.channel.exchange=1.2",
    "gpu.hbm.latency=1 us",
    "node.nics.achieved=1",
    "node.nics.latency=3 us",
    "node.nics.sync=10 us",
    "node.nics.channel_rate=1 TB/s",
};

enum { ON_A_NODE = 11, FIRST_OVER_NODES = 1 };

static struct algorithm_case on_a_node(struct model_arena *arena,
                                       const char *notation,
                                       enum model_collective_kind kind,
                                       enum model_algorithm algorithm)
{
    return (struct algorithm_case){
        .topology = fixture_topology(arena, notation, sets, ON_A_NODE),
        .kind = kind,
        .size_bytes = 20 * CHUNK,
        .config = config_of(algorithm, MODEL_SIMPLE, 2, 128, CHUNK)};
}

static struct algorithm_case over_nodes(struct model_arena *arena,
                                        enum model_collective_kind kind,
                                        enum model_algorithm algorithm)
{
    return (struct algorithm_case){
        .topology = fixture_topology(arena, "2x1 gpu:a100 nic:1x8Gbit/s",
                                     sets + FIRST_OVER_NODES,
                                     FIXTURE_COUNT(sets) - FIRST_OVER_NODES),
        .kind = kind,
        .size_bytes = 20 * CHUNK,
        .config = config_of(algorithm, MODEL_SIMPLE, 2, 128, CHUNK)};
}

static void expect(struct model_arena *arena,
                   const struct algorithm_case *it,
                   double bytes_per_us,
                   double fill_us)
{
    struct model_collective cost = cost_of(arena, it);

    assert_near_ratio(cost.channel_bytes_per_us, bytes_per_us, 1e-12);
    assert_near_ratio(cost.fill_us, fill_us, 1e-6);
    assert_int_equal(cost.first_steps, 0);
}

/*
 * 4 GPUs. A chunk takes 6 + 0.25 us of each CTA. It is at the next one after 6
 * + 0.25 + 0.5; 3 hops. LL passes lines: a load of memory, its sync and the
 * way, 3 times, and all chunks after it.
 */
static void chains_on_a_node(void **state)
{
    struct algorithm_case it =
        on_a_node(*state, "1x4 gpu:a100 nvswitch", MODEL_BROADCAST, MODEL_RING);

    expect(*state, &it, CHUNK / 6.25, 3 * 6.75);
    it.config.protocol = MODEL_LL;
    assert_near_ratio(cost_of(*state, &it).fill_us, 3 * (1 + 0.125 + 0.5),
                      1e-12);
    /* reducing takes half of it */
    it.kind = MODEL_REDUCE;
    it.config.protocol = MODEL_SIMPLE;
    expect(*state, &it, CHUNK / 3.25, 3 * 3.75);
}

/*
 * With GPUDirect R = 1: 8000 / 4000 + 2 x 1 = 4 us and 0.25; the 3 + 10 us and
 * the NIC's 8 us a chunk are hidden by 8 slots, but for the first ones of both
 * channels.
 */
static void chains_over_nodes(void **state)
{
    struct algorithm_case it = over_nodes(*state, MODEL_BROADCAST, MODEL_RING);

    expect(*state, &it, CHUNK / 4.25, 4.25 + 13 + 2 * 8);
}

/* A chunk is no longer than a slot: 4 MiB / 8, 256 KiB / 8, 120 of 128. */
static void chunks_fit_into_slots(void **state)
{
    static const double slots[] = {
        [MODEL_SIMPLE] = 524288, [MODEL_LL] = 32768, [MODEL_LL128] = 576000};
    struct algorithm_case it =
        on_a_node(*state, "1x4 gpu:a100 nvswitch", MODEL_BROADCAST, MODEL_RING);

    it.size_bytes = 1e9;
    it.config.chunk_bytes = 2097152;
    for (int protocol = 0; protocol < MODEL_PROTOCOLS; protocol++) {
        it.config.protocol = protocol;
        assert_near(cost_of(*state, &it).chunk_bytes, slots[protocol], 0);
    }
}

/*
 * Half of a CTA goes up, reducing, half down: f = 2000, b = 2000. Of a chunk's
 * 8000 bytes the mean of 0.5 and 1 is 6000: 6000 / 2000 + 2 x 3 = 9 us. A chain
 * of 4 GPUs has 3 edges, up and down. The first chunk has b = 4000, as the
 * other half waits: 7.5 us.
 *
 * Over nodes 6000 / 2000 + 1 x 3 = 6 us; one edge, up and down, 4.5 + 0.25 + 13
 * + 8 us each.
 */
static void both_ways_of_a_tree(void **state)
{
    struct algorithm_case near = on_a_node(*state, "1x4 gpu:a100 nvswitch",
                                           MODEL_ALL_REDUCE, MODEL_TREE);
    struct algorithm_case far =
        over_nodes(*state, MODEL_ALL_REDUCE, MODEL_TREE);

    expect(*state, &near, CHUNK / 9.25, 6 * 8.25);
    expect(*state, &far, CHUNK / 6.25, 2 * 25.75);
}

/*
 * An exchange takes 1.2 of a copy that the whole CTA passes on: 7.2 us, and
 * 0.25; the first chunk is 0.5 us on its way. A send alone is half of it, by
 * half of the CTA.
 */
static void pairs_exchange(void **state)
{
    struct algorithm_case it = on_a_node(*state, "1x4 gpu:a100 nvswitch",
                                         MODEL_SEND_RECV, MODEL_PAIRWISE);

    expect(*state, &it, CHUNK / 7.45, 0.5);
    it = on_a_node(*state, "1x2 gpu:a100 nvswitch", MODEL_SEND, MODEL_PAIRWISE);
    expect(*state, &it, CHUNK / 7.45, 0.5);
}

/*
 * A CTA has all pairs at once, up to 8, the own one too: n chunks out and in
 * take n x 7.2 us and one synchronisation. 1 / n of them stay.
 */
static void all_pairs_at_once(void **state)
{
    static const int counts[] = {2, 4, 8, 16};

    for (int i = 0; i < FIXTURE_COUNT(counts); i++) {
        double n = counts[i];
        double at_once = n < 8 ? n : 8;
        struct algorithm_case it = on_a_node(
            *state,
            model_arena_format(*state, "1x%d gpu:a100 nvswitch", counts[i]),
            MODEL_ALL_TO_ALL, MODEL_PAIRWISE);

        it.size_bytes = n * 20 * CHUNK;
        expect(*state, &it,
               at_once * CHUNK * (n - 1) / n / (at_once * 7.2 + 0.25), 0.5);
    }
}

/*
 * 4 heads, 384 threads, 12000 bytes in flight and 12000 issued a us. Of a loop
 * of 4 chunks two roles copy all, the head a fourth: 72,000 bytes by copies of
 * 0.6, R = 1: 43,200 / 12,000 + 3.6, and 0.25 + 0.5. Two more roles see a first
 * loop.
 */
static void roles_of_nvls(void **state)
{
    const char *faster[ON_A_NODE + 1] = {NULL};
    struct algorithm_case it = on_a_node(*state, "1x4 gpu:h100 nvswitch",
                                         MODEL_ALL_REDUCE, MODEL_NVLS);

    for (int i = 0; i < ON_A_NODE; i++) {
        faster[i] = i == 1 ? "gpu.channel.issue_rate=12 GB/s" : sets[i];
    }
    faster[ON_A_NODE] = "gpu.channel.nvls.start=0 us";
    it.topology = fixture_topology(*state, "1x4 gpu:h100 nvswitch", faster,
                                   ON_A_NODE + 1);
    it.size_bytes = 4 * 20 * CHUNK;
    it.config.threads = 384;
    expect(*state, &it, 4 * CHUNK / 7.95, 2 * 7.95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_on_a_node),
        cmocka_unit_test(chains_over_nodes),
        cmocka_unit_test(chunks_fit_into_slots),
        cmocka_unit_test(both_ways_of_a_tree),
        cmocka_unit_test(pairs_exchange),
        cmocka_unit_test(all_pairs_at_once),
        cmocka_unit_test(roles_of_nvls),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
