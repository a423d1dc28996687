/*
 * test_channel.c - the channel law on each kind of hop, from one small
 * topology:
 *
 *     GPU    1000 bytes in flight a warp; issue 4000 bytes/us; memory 1 us,
 *            L2 of 1 MB 0.5 us; synchronisation 0.25 us
 *     links  NVLink 0.5 us, PCIe 0.75 us, network 3 us, each one way
 *     host   memory 2 us
 *     NIC    proxy 10 us; a connection carries up to 700 bytes/us
 *
 * 128 threads are 4 warps: f = 4000 bytes in flight, f / b = 1 us of issue, so
 * r = 4000 / (R + 1).
 */
#include "model/channel.h"

#include "tests/unit/fixture.h"

#include <math.h>

static struct model_topology small(void)
{
    struct model_topology topology = {
        .gpu = {.warp_bytes = 1000,
                .channel_issue_bytes_per_us = 4000,
                .channel_bytes_per_us = 1e9,
                .hbm_latency_us = 1,
                .l2_bytes = 1e6,
                .l2_latency_us = 0.5,
                .sync_us = 0.25},
        .pcie = {.latency_us = 0.75},
        .host = {.memory_latency_us = 2},
        .nics = {.channel_bytes_per_us = 1e9, .sync_us = 10, .latency_us = 3}};

    return topology;
}

static void
expect(const struct model_channel *channel, double rate, double sync_us)
{
    assert_near(channel->in_flight_bytes, 4000, 1e-9);
    assert_near_ratio(channel->bytes_per_us, rate, 1e-12);
    assert_near_ratio(channel->sync_us, sync_us, 1e-12);
}

/* R = 2 x 0.5 + 1 = 2: 4000 / 3. Two slices: sync 2 x 0.25 +
 * 0.5. */
static void over_nvlink(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);

    (void)state;
    expect(&channel, 4000.0 / 3.0, 1);
}

/* Up and down: 1.5 us. R = 3 + 1 = 4: 4000 / 5. Sync 0.5 + 1.5. */
static void over_pcie(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_P2P, .latency_us = 1.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);

    (void)state;
    expect(&channel, 800, 2);
}

/* Host memory's 2 us more: R = 6, 4000 / 7. Sync 0.5 + 1.5 + 2. */
static void through_host_memory(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_SHM, .latency_us = 1.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);

    (void)state;
    expect(&channel, 4000.0 / 7.0, 4);
}

/*
 * GPUDirect: the CTA fills a FIFO in its own memory, R = 1: 4000 / 2. The step
 * waits for NIC and proxy too: 0.5 + 3 + 10.
 */
static void over_the_network(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {
        .kind = MODEL_HOP_NET, .latency_us = 3, .direct_send = true};
    struct model_channel channel;

    (void)state;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 2000, 13.5);
    /* one connection carries no more than 700 */
    topology.nics.channel_bytes_per_us = 700;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 700, 13.5);
    /* the FIFO is with a GPU beside the NIC, 1 us away: R = 3, 4000 / 4 */
    topology.nics.channel_bytes_per_us = 1e9;
    hop.relay_latency_us = 1;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 1000, 13.5);
}

/* The FIFO is host memory over PCIe: R = 2 x 0.75 + 1 + 2 = 4.5, 4000 / 5.5. */
static void over_the_network_by_way_of_the_host(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_NET, .latency_us = 3};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);

    (void)state;
    expect(&channel, 4000.0 / 5.5, 13.5);
    /* a port of 600 bytes/us carries no more */
    topology.pcie.bytes_per_us = 600;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 600, 13.5);
    /* LL sends two bytes for one, also when only one end is host memory */
    hop.direct_send = true;
    channel = model_channel_make(&topology, &hop, MODEL_LL, 128, HUGE_VAL);
    assert_near(channel.connection_bytes_per_us, 300, 1e-9);
    hop.direct_receive = true;
    channel = model_channel_make(&topology, &hop, MODEL_LL, 128, HUGE_VAL);
    assert_true(channel.connection_bytes_per_us > 300);
}

/*
 * A line of LL is in L2 when it is polled, wherever a FIFO of Simple would be;
 * in host memory it is not.
 */
static void lines_are_polled_in_l2(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_LL, 128, HUGE_VAL);

    (void)state;
    assert_near(channel.round_trip_us, 0.5, 1e-12);
    hop.kind = MODEL_HOP_P2P;
    channel = model_channel_make(&topology, &hop, MODEL_LL128, 128, HUGE_VAL);
    assert_near(channel.round_trip_us, 0.5, 1e-12);
    hop.kind = MODEL_HOP_SHM;
    channel = model_channel_make(&topology, &hop, MODEL_LL, 128, HUGE_VAL);
    assert_near(channel.round_trip_us, 1.0 + 2.0, 1e-12);
}

/* 4000 / 3 is more than a cap of 1000, 4000 / 7 is less. */
static void the_cap_of_a_channel(void **state)
{
    struct model_topology topology = small();
    struct model_hop fast = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    struct model_hop slow = {.kind = MODEL_HOP_SHM, .latency_us = 1.5};
    struct model_channel channel;

    (void)state;
    topology.gpu.channel_bytes_per_us = 1000;
    channel = model_channel_make(&topology, &fast, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 1000, 1);
    channel = model_channel_make(&topology, &slow, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 4000.0 / 7.0, 4);
}

/*
 * f = 1000 NT / 32. NT 32: 1000 / (2 + 0.25). NT 64: 2000 / 2.5. NT 640: 20000
 * / 7. Rising, and always below the issue rate of 4000.
 */
static void more_threads_more_in_flight(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    double before = 0;

    (void)state;
    assert_near_ratio(
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 32, HUGE_VAL)
            .bytes_per_us,
        1000 / 2.25, 1e-12);
    assert_near_ratio(
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 64, HUGE_VAL)
            .bytes_per_us,
        800, 1e-12);
    assert_near_ratio(
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 640, HUGE_VAL)
            .bytes_per_us,
        20000.0 / 7.0, 1e-12);
    for (int threads = 32; threads <= 1024; threads += 32) {
        double rate =
            model_channel_make(&topology, &hop, MODEL_SIMPLE, threads, HUGE_VAL)
                .bytes_per_us;

        assert_true(rate > before && rate < 4000);
        before = rate;
    }
}

/*
 * The other end keeps half as much in flight, 2000, its memory takes half as
 * long and its synchronisation 1 us: R = 1 + 0.5, 2000 / (1.5 + 0.5) = 1000,
 * less than 4000 / 3. Sync 2 x 1 + 0.5. The same in both directions; between
 * equal GPUs each keeps its own.
 */
static void between_two_kinds_of_gpu(void **state)
{
    double ranks[] = {1};
    struct model_topology topology = small();
    struct model_mixed other = {.ranks = {ranks, 1}, .gpu = topology.gpu};
    struct model_hop hop = {
        .kind = MODEL_HOP_NVLINK, .latency_us = 0.5, .ranks = {0, 1}};
    struct model_channel channel;

    (void)state;
    topology.gpus_per_node = 4;
    topology.mixed = (struct model_list){&other, 1};
    other.gpu.warp_bytes = 500;
    other.gpu.hbm_latency_us = 0.5;
    other.gpu.sync_us = 1;
    for (int i = 0; i < 2; i++) {
        channel =
            model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
        assert_near(channel.in_flight_bytes, 2000, 1e-9);
        assert_near_ratio(channel.bytes_per_us, 1000, 1e-12);
        assert_near_ratio(channel.sync_us, 2.5, 1e-12);
        hop.ranks[0] = 1;
        hop.ranks[1] = 0;
    }
    hop.ranks[0] = 2;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, HUGE_VAL);
    expect(&channel, 4000.0 / 3.0, 1);
}

/*
 * While no more than 1 MB passes until a slot is used again, its FIFO is in L2:
 * over NVLink R = 2 x 0.5 + 0.5 = 1.5, 4000 / 2.5 = 1600. One byte more, and it
 * is in memory: R = 2, 4000 / 3. The synchronisation stays as it is.
 */
static void a_fifo_in_l2(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, 1e6);

    (void)state;
    expect(&channel, 1600, 1);
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, 1e6 + 1);
    expect(&channel, 4000.0 / 3.0, 1);
    /* a GPU's file without l2_latency */
    topology.gpu.l2_latency_us = 0;
    channel = model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, 1e6);
    expect(&channel, 4000.0 / 3.0, 1);
}

/* With SHM it is in host memory: R = 6 whatever passes, as above. */
static void a_fifo_in_host_memory_is_not_in_l2(void **state)
{
    struct model_topology topology = small();
    struct model_hop hop = {.kind = MODEL_HOP_SHM, .latency_us = 1.5};
    struct model_channel channel =
        model_channel_make(&topology, &hop, MODEL_SIMPLE, 128, 1);

    (void)state;
    expect(&channel, 4000.0 / 7.0, 4);
}

/*
 * f = 4000. Over NVLink R = 2, loads 1 us: 8000 bytes take 2 + 2 x 2 us, 4000 1
 * + 2, 2000 0.5 + 1, and 1000, whose 0.5 us are less than the loads', 0.25 + 1.
 * With SHM R = 6 and loads cross the bus: 2000 bytes take 0.5 + 6.
 */
static void short_chunks_wait_for_their_loads(void **state)
{
    static const struct {
        double chunk_bytes, transfer_us;
    } rows[] = {{8000, 6}, {4000, 3}, {2000, 1.5}, {1000, 1.25}};
    struct model_topology topology = small();
    struct model_hop near = {.kind = MODEL_HOP_NVLINK, .latency_us = 0.5};
    struct model_hop far = {.kind = MODEL_HOP_SHM, .latency_us = 1.5};
    struct model_channel channel =
        model_channel_make(&topology, &near, MODEL_SIMPLE, 128, HUGE_VAL);

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_near_ratio(
            model_channel_transfer_us(&channel, rows[i].chunk_bytes),
            rows[i].transfer_us, 1e-12);
    }
    channel = model_channel_make(&topology, &far, MODEL_SIMPLE, 128, HUGE_VAL);
    assert_near_ratio(model_channel_transfer_us(&channel, 2000), 6.5, 1e-12);
}

/* Chunks of AutoCCL take 1, 2 or 4 of 8 slots of 512 KiB, NCCL's own 4. */
static void chunks_in_a_fifo(void **state)
{
    static const struct {
        double chunk_kib, chunks;
    } rows[] = {{6, 8},    {512, 8},  {513, 4},  {684, 4},
                {1024, 4}, {1025, 2}, {1366, 2}, {2048, 2}};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_near(model_protocol_fifo_chunks(1024 * rows[i].chunk_kib),
                    rows[i].chunks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_nvlink),
        cmocka_unit_test(over_pcie),
        cmocka_unit_test(through_host_memory),
        cmocka_unit_test(over_the_network),
        cmocka_unit_test(over_the_network_by_way_of_the_host),
        cmocka_unit_test(lines_are_polled_in_l2),
        cmocka_unit_test(the_cap_of_a_channel),
        cmocka_unit_test(more_threads_more_in_flight),
        cmocka_unit_test(between_two_kinds_of_gpu),
        cmocka_unit_test(a_fifo_in_l2),
        cmocka_unit_test(a_fifo_in_host_memory_is_not_in_l2),
        cmocka_unit_test(short_chunks_wait_for_their_loads),
        cmocka_unit_test(chunks_in_a_fifo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
