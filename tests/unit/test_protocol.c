/*
 * test_protocol.c - what Simple, LL and LL128 make of a channel: bytes on the
 * wire, slots, and how a CTA in a ring, on two ways at once and in a stream
 * moves a chunk.
 *
 *     GPU    1000 bytes in flight a warp with Simple, 200 with LL, 600 with
 *            LL128; issue 4000 bytes/us; memory 1 us; a synchronisation takes
 *            0.5, 0.125 and 0.25 us
 *     links  NVLink 0.5 us, network 3 us, one way
 *     NIC    1000 bytes/us; proxy 10 us, with flags 2 us
 *
 * 128 threads are 4 warps.
 */
#include "model/channel.h"

#include "tests/unit/fixture.h"

static struct model_topology small(void)
{
    struct model_topology topology = {
        .gpu = {.warp_bytes = 1000,
                .ll_warp_bytes = 200,
                .ll128_warp_bytes = 600,
                .channel_issue_bytes_per_us = 4000,
                .channel_bytes_per_us = 1e9,
                .hbm_latency_us = 1,
                .sync_us = 0.5,
                .ll_sync_us = 0.125,
                .ll128_sync_us = 0.25},
        .host = {.memory_latency_us = 2},
        .nics = {.bytes_per_us = 1000,
                 .ratio = 1,
                 .channel_bytes_per_us = 1e9,
                 .sync_us = 10,
                 .flag_sync_us = 2,
                 .latency_us = 3}};

    return topology;
}

static const struct model_hop nvlink = {.kind = MODEL_HOP_NVLINK,
                                        .latency_us = 0.5};
static const struct model_hop network = {
    .kind = MODEL_HOP_NET, .latency_us = 3, .direct_send = true};

/* FIFOs in memory. */
static struct model_channel in_ring(const struct model_topology *topology,
                                    const struct model_hop *hop,
                                    enum model_protocol protocol,
                                    int threads)
{
    return model_channel_make(topology, hop, protocol, threads, HUGE_VAL);
}

/* A chunk in one slice. */
static const struct model_channel_role whole = {.threads = 128,
                                                .share = 1,
                                                .work_ratio = 1,
                                                .slices = 1,
                                                .reuse_bytes = HUGE_VAL};

/*
 * NCCL 2.18.3: 8 slots in 4 MiB, 512 KiB (half of it flags) and 4,915,200 bytes
 * (120 of 128 of it data).
 */
static void slots_by_hand(void **state)
{
    const struct model_protocol_facts *simple =
        model_protocol_facts(MODEL_SIMPLE);
    const struct model_protocol_facts *ll = model_protocol_facts(MODEL_LL);
    const struct model_protocol_facts *ll128 =
        model_protocol_facts(MODEL_LL128);

    (void)state;
    assert_near(simple->slot_bytes, 4194304.0 / 8, 0);
    assert_near(simple->wire_ratio, 1, 0);
    assert_int_equal(simple->slices, 2);
    assert_near(ll->slot_bytes, 524288.0 / 8 / 2, 0);
    assert_near(ll->wire_ratio, 2, 0);
    assert_int_equal(ll->slices, 1);
    assert_near(ll128->slot_bytes, 4915200.0 / 8 * 120 / 128, 0);
    assert_near_ratio(ll128->wire_ratio, 128.0 / 120, 1e-15);
    assert_int_equal(ll128->slices, 1);
}

/* A ring's chunk: as set with Simple, one slot at most with the others. */
static void chunks_of_rings(void **state)
{
    (void)state;
    assert_near(model_protocol_chunk_bytes(MODEL_SIMPLE, 2097152), 2097152, 0);
    assert_near(model_protocol_chunk_bytes(MODEL_LL, 2097152), 32768, 0);
    assert_near(model_protocol_chunk_bytes(MODEL_LL, 1024), 1024, 0);
    assert_near(model_protocol_chunk_bytes(MODEL_LL128, 2097152), 576000, 0);
}

/*
 * Stores of LL and LL128 are posted, R is the polling of memory, 1 us; the
 * issue rate counts wire bytes.
 *
 *     Simple   f 4000, R 2, b 4000            4000 / 3, two slices
 *     LL       f  800, R 1, b 2000             800 / 1.4
 *     LL128    f 2400, R 1, b 3750            2400 / 1.64
 */
static void rates_over_nvlink(void **state)
{
    static const struct {
        enum model_protocol protocol;
        double in_flight_bytes, bytes_per_us, sync_us;
    } rows[] = {{MODEL_SIMPLE, 4000, 4000 / 3.0, 1.5},
                {MODEL_LL, 800, 800 / 1.4, 0.625},
                {MODEL_LL128, 2400, 2400 / 1.64, 0.75}};
    struct model_topology topology = small();

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_channel channel =
            in_ring(&topology, &nvlink, rows[i].protocol, 128);

        assert_near_ratio(channel.in_flight_bytes, rows[i].in_flight_bytes,
                          1e-12);
        assert_near_ratio(channel.bytes_per_us, rows[i].bytes_per_us, 1e-12);
        assert_near_ratio(channel.sync_us, rows[i].sync_us, 1e-12);
        assert_near_ratio(channel.own_sync_us, rows[i].sync_us - 0.5, 1e-12);
    }
}

/* The cap of a channel counts wire bytes: of 1000 LL has 500, LL128 937.5. */
static void caps_count_the_wire(void **state)
{
    static const double most[] = {1000, 500, 937.5};
    struct model_topology topology = small();

    (void)state;
    topology.gpu.channel_bytes_per_us = 1000;
    for (int protocol = 0; protocol < MODEL_PROTOCOLS; protocol++) {
        struct model_channel channel =
            in_ring(&topology, &nvlink, (enum model_protocol)protocol, 1024);

        assert_near_ratio(channel.bytes_per_us, most[protocol], 1e-12);
    }
}

/*
 * Up and down at once, half of the CTA on each: f 2000, b 2000, R 2: 2000 / 3,
 * half of the whole; a cap of 1000 leaves 500.
 *
 * A send and a recv that together take as long as a recvCopySend, half of the
 * time each: with half of the CTA for each 8000 bytes go out, and as many come
 * in, in the 2 + 2 x 2 us of a copy that the whole CTA passes on; with that cap
 * in 8.
 */
static void two_ways_share_a_cta(void **state)
{
    struct model_channel_role half = whole;
    struct model_topology topology = small();
    struct model_channel channel;

    (void)state;
    half.share = 0.5;
    channel = model_channel_in_role(&topology, &nvlink, MODEL_SIMPLE, &half);
    assert_near_ratio(channel.in_flight_bytes, 2000, 1e-12);
    assert_near_ratio(channel.bytes_per_us, 2000 / 3.0, 1e-12);
    topology.gpu.channel_bytes_per_us = 1000;
    channel = model_channel_in_role(&topology, &nvlink, MODEL_SIMPLE, &half);
    assert_near_ratio(channel.bytes_per_us, 500, 1e-12);
    half.work_ratio = 0.5;
    channel = model_channel_in_role(&topology, &nvlink, MODEL_SIMPLE, &half);
    assert_near_ratio(model_channel_transfer_us(&channel, 8000), 8, 1e-12);
    topology = small();
    channel = model_channel_in_role(&topology, &nvlink, MODEL_SIMPLE, &half);
    assert_near_ratio(model_channel_transfer_us(&channel, 8000), 6, 1e-12);
    channel = model_channel_in_role(&topology, &nvlink, MODEL_SIMPLE, &whole);
    assert_near_ratio(model_channel_transfer_us(&channel, 8000), 6, 1e-12);
}

/*
 * A ring's chunk of 8000 bytes leaves the NIC in two slices: the second takes
 * 4 us after it was written; as one slice 8 us. Sync: 2 x 0.5 + 3 + 10, in one
 * slice 0.5. LL: 2 x 8000 bytes in one slice, 16 us, and 0.125 + 3 + 2.
 */
static void the_nic_sends_slices(void **state)
{
    struct model_topology topology = small();
    struct model_channel channel =
        in_ring(&topology, &network, MODEL_SIMPLE, 128);

    (void)state;
    assert_near_ratio(model_channel_wait_us(&channel, 8000), 14 + 4, 1e-12);
    channel = model_channel_in_role(&topology, &network, MODEL_SIMPLE, &whole);
    assert_near_ratio(model_channel_wait_us(&channel, 8000), 13.5 + 8, 1e-12);
    channel = in_ring(&topology, &network, MODEL_LL, 128);
    assert_near_ratio(model_channel_wait_us(&channel, 8000), 5.125 + 16, 1e-12);
}

/*
 * A stream of chunks of 8000 bytes over the network, one slice each. f 4000, R
 * 1, b 4000: 2 + 2 us to write one, and the CTA's own 0.5: 4.5. The slot is
 * away for 4 + 13.5 + 8, an eighth of which is less. Chunks of 800 take 0.2 + 1
 * + 0.5 = 1.7, their slots 1.2 + 13.5 + 0.8 = 15.5: an eighth is 1.9375.
 */
static void a_stream_hides_the_way(void **state)
{
    struct model_topology topology = small();
    struct model_channel channel =
        model_channel_in_role(&topology, &network, MODEL_SIMPLE, &whole);

    (void)state;
    assert_near_ratio(model_channel_stream_us(&channel, 8000), 4.5, 1e-12);
    assert_near_ratio(model_channel_stream_us(&channel, 800), 1.9375, 1e-12);
    /* what the next hop waits for, all of it */
    assert_near_ratio(model_channel_hop_us(&channel, 8000, 0), 4 + 21.5, 1e-12);
}

/*
 * LL and LL128 pass on the first line that has come, whatever follows: R = 1
 * and the waits of 0.625 and 0.75. Simple passes all of a chunk of 8000 bytes,
 * 2 + 4 + 1.5. Over the network LL goes by whole steps: 8000 / 2000 + 10 x 1
 * and 21.125.
 */
static void lines_are_passed_on(void **state)
{
    struct model_topology topology = small();
    struct model_channel channel = in_ring(&topology, &nvlink, MODEL_LL, 128);

    (void)state;
    assert_near_ratio(model_channel_hop_us(&channel, 8000, 0), 1.625, 1e-12);
    assert_near_ratio(model_channel_hop_us(&channel, 400, 0), 1.625, 1e-12);
    channel = in_ring(&topology, &nvlink, MODEL_LL128, 128);
    assert_near_ratio(model_channel_hop_us(&channel, 8000, 0), 1.75, 1e-12);
    channel = in_ring(&topology, &nvlink, MODEL_SIMPLE, 128);
    assert_near_ratio(model_channel_hop_us(&channel, 8000, 0), 7.5, 1e-12);
    channel = in_ring(&topology, &network, MODEL_LL, 128);
    assert_near_ratio(model_channel_hop_us(&channel, 8000, 0), 14 + 21.125,
                      1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_by_hand),
        cmocka_unit_test(chunks_of_rings),
        cmocka_unit_test(rates_over_nvlink),
        cmocka_unit_test(caps_count_the_wire),
        cmocka_unit_test(two_ways_share_a_cta),
        cmocka_unit_test(the_nic_sends_slices),
        cmocka_unit_test(a_stream_hides_the_way),
        cmocka_unit_test(lines_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
