/*
 * test_latent.c - latent attention (MLA) in a layer, by DeepSeek-V3 with EP 64:
 * shapes, parameters, flops and bytes by hand.
 *
 * h = 7168, 128 heads of 128, ranks 1536 and 512, 64 for positions. Parameters:
 *
 *     latent   7168 (1536 + 512 + 64) = 15,138,816
 *     q.up     1536 x 128 (128 + 64)  = 37,748,736
 *     kv.up    512 x 128 x 256        = 16,777,216
 *     out      128 x 128 x 7168       = 117,440,512   together 187,105,280
 *     router   256 x 7168 = 1,835,008
 *     expert   3 x 7168 x 2048 = 44,040,192, the shared one as many
 *     dense    3 x 7168 x 18432 = 396,361,728
 *     head     129280 x 7168 = 926,679,040, the embedding as many
 *
 * 2 sequences of 4096 tokens a step; 1024 sequences over 64 ranks are 8 steps.
 */
#include "model/transformer.h"

#include "tests/unit/lowered.h"

enum { LAYERS = 61, DENSE = 3, SPARSE = 58, STEPS = 8 };

static const double ATTENTION = 187105280;
static const double EXPERT = 44040192;
static const double ROUTER = 1835008;
static const double DENSE_FFN = 396361728;
static const double HEAD = 926679040;
static const double TOKENS = 8192;

static const struct model_topology *machine(struct model_arena *arena)
{
    static const char *const nodes = "nodes=8";

    return fixture_topology(arena, "dgx-h100", &nodes, 1);
}

static const struct model_workload *deepseek(struct model_arena *arena)
{
    return lowered_read(arena, machine(arena), "deepseek-v3-ep", NULL, 0);
}

static const struct model_op *op_of(const struct model_workload *w,
                                    const char *id)
{
    return &w->ops[fixture_op(w, id)];
}

static double flops_of(const struct model_op *op)
{
    double rows = op->kind == MODEL_OP_GEMM ? op->m * op->batch : 0;

    for (int i = 0; i < op->row_count; i++) {
        rows += op->rows[i];
    }
    return 2 * rows * op->n * op->k;
}

/* 6 flops a parameter that a token meets: 9 of 257 experts; not the
   embedding's, which is looked up. */
static void gemms_of_an_iteration(void **state)
{
    const struct model_workload *w = deepseek(*state);
    double flops = 0;

    assert_int_equal(w->cycle.steps, STEPS);
    for (int i = 0; i < w->op_count; i++) {
        flops += model_workload_repeats(w, i) * flops_of(&w->ops[i]);
    }
    assert_near_ratio(flops,
                      STEPS * 6 * TOKENS *
                          (LAYERS * ATTENTION + DENSE * DENSE_FFN +
                           SPARSE * (ROUTER + 9 * EXPERT) + HEAD),
                      1e-12);
}

/* All alike but the experts; 671.0e9 are what its paper states. */
static void parameters(void **state)
{
    const struct model_workload *w = deepseek(*state);
    double common = LAYERS * ATTENTION + DENSE * DENSE_FFN +
                    SPARSE * (ROUTER + EXPERT) + 2 * HEAD;

    assert_near(common + SPARSE * 256.0 * EXPERT, 671025397760, 0);
    assert_near(op_of(w, "gradients.common")->bytes, 2 * common, 0);
    assert_near_ratio(op_of(w, "optimizer.adamw")->bytes,
                      28 * (common + SPARSE * 4 * EXPERT), 1e-12);
}

/* A half has 4096 tokens, each with 8 copies of 7168 in bf16. */
static void shapes_of_a_half(void **state)
{
    static const struct {
        const char *name;
        double m, n, k;
    } rows[] = {{"latent", 4096, 2112, 7168},
                {"q.up", 4096, 24576, 1536},
                {"kv.up", 4096, 32768, 512},
                {"out", 4096, 7168, 16384}};
    const struct model_workload *w = deepseek(*state);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_op *op =
            op_of(w, model_arena_format(*state, "step1.forward.9.half0.%s",
                                        rows[i].name));

        assert_near(op->m, rows[i].m, 0);
        assert_near(op->n, rows[i].n, 0);
        assert_near(op->k, rows[i].k, 0);
    }
    assert_near(op_of(w, "step1.forward.9.half0.dispatch")->bytes,
                4096.0 * 8 * 7168 * 2, 0);
    assert_near_ratio(op_of(w, "step1.forward.9.half1.kv.norm")->bytes,
                      4096.0 * (2 * 512 * 2 + 8) + 2 * 2 * 512, 1e-12);
    (void)fixture_op(w, "step0.backward.2.kv.up.wgrad");
}

/*
 * Each of 128 heads: products of 192 and of 128 columns over half of the pairs
 * of 4096 tokens; Q, K of 192 and V, O of 128 columns in bf16, 4 bytes of sums
 * a row. Backward three products of 192 and two of 128, here of 160 each: 4 %
 * less.
 */
static void attention_of_a_half(void **state)
{
    const struct model_workload *w = deepseek(*state);
    const struct model_op *forward =
        op_of(w, "step1.forward.9.half0.attention");
    const struct model_op *backward =
        op_of(w, "step1.backward.9.half0.attention.grad");
    double pairs = 4096.0 * 4096 / 2;

    assert_near_ratio(forward->flops, 128 * pairs * 2 * (192 + 128), 1e-12);
    assert_near_ratio(forward->bytes,
                      128 * 4096.0 * (2 * (2 * 192 + 2 * 128) + 4), 1e-12);
    assert_near_ratio(backward->flops, 128 * pairs * 2 * (3 * 192 + 2 * 128),
                      0.04);
}

static void bad_models_are_refused(void **state)
{
    static const struct {
        const char *set, *message;
    } rows[] = {
        {"model.q_rank=0", "has both ranks"},
        {"model.kv_rank=0", "has both ranks"},
        {"parallel={kind: dp}", "dp cannot cut latent attention"},
    };
    static const char *const dense[] = {"model.q_rank=512",
                                        "model.kv_rank=512"};
    struct model_errors errors = {.arena = *state};
    struct model_workload w;

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors found = {.arena = *state};

        assert_int_equal(model_workload_read(*state, "deepseek-v3-ep",
                                             &rows[i].set, 1, machine(*state),
                                             &w, &found),
                         MODEL_BAD_INPUT);
        fixture_expect_error(&found, NULL, rows[i].message);
    }
    assert_int_equal(model_workload_read(*state, "phi-2-tp", dense, 2,
                                         machine(*state), &w, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "model.kv_rank",
                         "tp cannot cut latent attention");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemms_of_an_iteration),
        cmocka_unit_test(parameters),
        cmocka_unit_test(shapes_of_a_half),
        cmocka_unit_test(attention_of_a_half),
        cmocka_unit_test(bad_models_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
