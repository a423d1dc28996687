/*
 * test_algorithms_sim.c - collectives other than rings in simulated runs, on
 * machines whose times can be worked out by hand.
 *
 * The tiny machine of fixture.h, with a network: channels of 1000 bytes/us over
 * all kinds of hop, no latencies. 5 us from ready to running.
 */
#include "tests/unit/timeline.h"

#define PAIRWISE                                                               \
    "algorithm: pairwise, protocol: simple, transport: p2p, threads: 512, "    \
    "chunk: 16 KiB"

/* The tiny machine wired as the notation says, with further changes. */
static struct model_topology *tiny(struct model_arena *arena,
                                   const char *notation,
                                   const char *const *sets,
                                   int set_count)
{
    static const char *const network[] = {
        "node.nics.achieved=1",          "node.nics.latency=0 us",
        "node.nics.sync=0 us",           "node.nics.flag_sync=0 us",
        "node.nics.channel_rate=1 PB/s",
    };
    int base = FIXTURE_COUNT(fixture_tiny_sets);
    int more = strstr(notation, "nic:") != NULL ? FIXTURE_COUNT(network) : 0;
    const char **all = model_arena_array(
        arena, (size_t)base + (size_t)more + (size_t)set_count, sizeof *all);

    for (int i = 0; i < base + more; i++) {
        all[i] = i < base ? fixture_tiny_sets[i] : network[i - base];
    }
    for (int i = 0; i < set_count; i++) {
        all[base + more + i] = sets[i];
    }
    return fixture_topology(arena, notation, all, base + more + set_count);
}

/*
 * 2 nodes of 2 GPUs, NVLink of 500 bytes/us, NICs without limits. A channel
 * sends with half of itself and receives with the other half; both together
 * take as long as a copy that is passed on. To the rank two further, on the
 * other node: 1 kB at the channel's 1000, 1 us. To the next rank, of which
 * every other is a neighbour over NVLink: 2 us. Each is known by its own time
 * alone, or what they lost would not add up.
 */
static void shifts_are_told_apart(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=500 MB/s",
                                       "node.nics.rate=1 PB/s"};
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x2 gpu:a40 nvswitch nic:2x8Gbit/s", sets, 2),
        "ops:\n"
        "  - {id: far, kind: send_recv, size: 1 kB, shift: 2, channels: "
        "1, " PAIRWISE "}\n"
        "  - {id: near, kind: send_recv, size: 1 kB, shift: 1, channels: "
        "1, " PAIRWISE "}\n");

    assert_near(end_of(&timeline, "far"), 6, CLOSE_US);
    assert_near(end_of(&timeline, "near"), 6 + 7, CLOSE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_are_told_apart),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
