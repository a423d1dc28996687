/*
 * test_overlap.c - which collectives run beside which kernels: small lists, and
 * a shipped model.
 */
#include "model/overlap.h"

#include "tests/unit/fixture.h"

/* "a b|k,c|l": of each overlap the collectives, then the kernels. */
static const char *text_of(struct model_arena *arena,
                           const struct model_workload *workload,
                           const struct model_overlaps *overlaps)
{
    const char *text = "";

    for (int i = 0; i < overlaps->count; i++) {
        const struct model_overlap *overlap = &overlaps->list[i];

        text = model_arena_format(arena, "%s%s", text, i > 0 ? ", " : "");
        for (int j = 0; j < overlap->collective_count; j++) {
            text =
                model_arena_format(arena, "%s%s ", text,
                                   workload->ops[overlap->collectives[j]].id);
        }
        text = model_arena_format(arena, "%s|", text);
        for (int j = 0; j < overlap->kernel_count; j++) {
            text = model_arena_format(arena, "%s %s", text,
                                      workload->ops[overlap->kernels[j]].id);
        }
    }
    return text;
}

static const char *cut(struct model_arena *arena, const char *ops)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:a40", NULL, 0);
    const struct model_workload *workload = fixture_workload(
        arena, topology, model_arena_format(arena, "name: w\nops:\n%s", ops));
    struct model_overlaps overlaps = model_overlaps_make(arena, workload);

    return text_of(arena, workload, &overlaps);
}

#define KERNEL(id, more)                                                       \
    "  - {id: " id ", kind: gemm, m: 1, n: 1, k: 1, stream: compute" more "}"  \
    "\n"
#define GATHER(id, more)                                                       \
    "  - {id: " id ", kind: all_gather, size: 1 MB, stream: comm" more "}\n"

/* Nothing waits: all run side by side, in whatever order they are listed. */
static void without_dependencies_all_is_one(void **state)
{
    assert_string_equal(cut(*state, GATHER("a", "") KERNEL("k", "")), "a | k");
    assert_string_equal(
        cut(*state, KERNEL("k", "") KERNEL("l", "") GATHER("a", "")),
        "a | k l");
    assert_string_equal(cut(*state, KERNEL("k", "")), "| k");
}

/* What waits for the other side begins the next overlap. */
static void who_waits_comes_next(void **state)
{
    assert_string_equal(
        cut(*state, KERNEL("k", "") GATHER("a", ", after: [k]")), "| k, a |");
    assert_string_equal(
        cut(*state, GATHER("a", "") KERNEL("k", ", after: [a]")), "a |, | k");
    /* a, and not b, ends before k: b runs beside it */
    assert_string_equal(cut(*state, GATHER("a", "") GATHER("b", "")
                                        KERNEL("k", ", after: [a]")),
                        "a |, b | k");
    /* waiting for what is over splits nothing */
    assert_string_equal(cut(*state,
                            GATHER("a", "") KERNEL("k", ", after: [a]")
                                GATHER("b", "") KERNEL("l", ", after: [a]")),
                        "a |, b | k l");
    /* on the device before its data are ready, it is beside what makes them */
    assert_string_equal(
        cut(*state, KERNEL("k", "") GATHER("a", ", after: [k], spins: true")),
        "a | k");
}

/* Ops of one stream wait for each other without being told. */
static void a_stream_is_in_order(void **state)
{
    assert_string_equal(
        cut(*state, "  - {id: k, kind: gemm, m: 1, n: 1, k: 1, stream: s}\n"
                    "  - {id: a, kind: all_gather, size: 1 MB, stream: s}\n"
                    "  - {id: l, kind: gemm, m: 1, n: 1, k: 1, stream: s}\n"),
        "| k, a |, | l");
}

/*
 * Two layers a and b of which each half's kernels wait for its own collective,
 * as Domino has it: a collective runs beside the other half's kernels.
 */
static void two_halves_take_turns(void **state)
{
    assert_string_equal(cut(*state,
                            KERNEL("k0", "") GATHER("a0", ", after: [k0]")
                                KERNEL("k1", "") GATHER("a1", ", after: [k1]")
                                    KERNEL("l0", ", after: [a0]")
                                        KERNEL("l1", ", after: [a1]")),
                        "| k0, a0 | k1, a1 | l0, | l1");
}

/*
 * Phi-2 with FSDP, 32 layers: the root's AllGather; that of layer 0 beside the
 * embedding; 31 times {AllGather l+1 | layer l}; layer 31 and the head;
 * AllGather 31 beside the head's gradients, 30 beside layer 31's; 30 times
 * {AllGather l-1, ReduceScatter l+1 | layer l}; ReduceScatter 1 beside layer 0;
 * the last two; the optimizer: 1 + 1 + 31 + 1 + 1 + 1 + 30 + 1 + 1 + 1.
 */
static void layers_of_phi_2(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct model_errors errors = {.arena = *state};
    struct model_workload workload;
    struct model_overlaps overlaps;
    int ops = 0;

    assert_int_equal(model_workload_read(*state, "phi-2-fsdp", NULL, 0,
                                         topology, &workload, &errors),
                     MODEL_OK);
    overlaps = model_overlaps_make(*state, &workload);
    assert_int_equal(overlaps.count, 69);
    for (int i = 0; i < overlaps.count; i++) {
        const struct model_overlap *overlap = &overlaps.list[i];

        ops += overlap->kernel_count + overlap->collective_count;
        if (i >= 2 && i < 33) {
            assert_int_equal(overlap->collective_count, 1);
            assert_string_equal(
                workload.ops[overlap->collectives[0]].id,
                model_arena_format(*state, "step0.forward.%d.all_gather",
                                   i - 1));
        } else if (i >= 36 && i < 66) {
            assert_int_equal(overlap->collective_count, 2);
            assert_string_equal(
                workload.ops[overlap->collectives[1]].id,
                model_arena_format(*state, "step0.backward.%d.reduce_scatter",
                                   31 - (i - 36)));
        }
    }
    assert_int_equal(ops, workload.op_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_dependencies_all_is_one),
        cmocka_unit_test(who_waits_comes_next),
        cmocka_unit_test(a_stream_is_in_order),
        cmocka_unit_test(two_halves_take_turns),
        cmocka_unit_test(layers_of_phi_2),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
