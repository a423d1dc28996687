/*
 * test_pp.c - the lowering of pipeline parallelism: what a rank computes and
 * sends by closed form, who waits for whom, and the time of 1F1B.
 *
 * Llama-3-70B on 64 ranks, TP 8, 4 stages of 20 layers, 2 replicas: h = 8192,
 * of 64 heads of 128 a rank has 8, of 8 kv_heads 1, of 28672 FFN columns 3584,
 * of 128256 words 16032. A rank's parameters:
 *
 *     layer      8192 (1024 + 2 x 128 + 1024 + 3 x 3584) = 106,954,752
 *     vocabulary 16032 x 8192                            = 131,334,144
 *
 * 8 x (80 layers + 2 vocabularies) are 70,552,387,584; with 161 norms of 8192
 * they are the 70,553,706,496 that the model is known to have.
 *
 * 512 sequences over 2 replicas in micro-batches of 2 are 128 steps of 16384
 * tokens.
 */
#include "model/transformer.h"

#include "tests/unit/lowered.h"

enum { STAGES = 4, LAYERS = 20, STEPS = 128 };

static const double LAYER = 106954752;
static const double VOCABULARY = 131334144;
static const double TOKENS = 16384;

static struct model_workload *read_on(struct model_arena *arena,
                                      const char *nodes,
                                      const char *name,
                                      const char *const *sets,
                                      int set_count)
{
    return lowered_read(arena, fixture_topology(arena, "dgx-h100", &nodes, 1),
                        name, sets, set_count);
}

static struct model_workload *llama(struct model_arena *arena)
{
    return read_on(arena, "nodes=8", "llama-3-70b", NULL, 0);
}

static const struct model_op *op_of(const struct model_workload *w,
                                    const char *id)
{
    return &w->ops[fixture_op(w, id)];
}

/* 2 m n k of the GEMMs in an iteration. */
static double flops_of(const struct model_workload *w)
{
    double flops = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        flops += op->kind == MODEL_OP_GEMM
                     ? model_workload_repeats(w, i) * 2 * op->m * op->n *
                           op->k * op->batch
                     : 0;
    }
    return flops;
}

static double
count_of(const struct model_workload *w, const char *window, const char *group)
{
    double count = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        count += model_op_is_collective(op) &&
                         strcmp(op->window, window) == 0 &&
                         strcmp(w->groups[op->group].name, group) == 0
                     ? model_workload_repeats(w, i)
                     : 0;
    }
    return count;
}

/*
 * Steps do 6 flops a parameter and token of 20 layers and the head; 3 slots of
 * the fill 2 of the layers', 3 of the drain 4. Attention's are not GEMMs.
 */
static void gemms_of_an_iteration(void **state)
{
    assert_near_ratio(flops_of(llama(*state)),
                      STEPS * 6 * TOKENS * (LAYERS * LAYER + VOCABULARY) +
                          (STAGES - 1) * 6 * TOKENS * LAYERS * LAYER,
                      1e-12);
}

/*
 * GPT-3: h = 12288, 12 h^2 parameters a layer over 8 ranks, 12 layers a stage,
 * 51200 / 8 words; 96 layers and one vocabulary are 174.6e9. 1536 sequences in
 * micro-batches of 2 on one replica: 768 steps of 4096 tokens, 7 slots each of
 * fill and drain.
 */
static void gemms_of_gpt_3(void **state)
{
    const struct model_workload *w =
        read_on(*state, "nodes=8", "gpt-3-175b", NULL, 0);
    double layer = 12.0 * 12288 * 12288 / 8;
    double vocabulary = 51200.0 / 8 * 12288;

    assert_near(8 * (96 * layer + vocabulary), 174575321088, 0);
    assert_int_equal(w->cycle.steps, 768);
    assert_near_ratio(flops_of(w),
                      768 * 6 * 4096.0 * (12 * layer + vocabulary) +
                          7 * 6 * 4096.0 * 12 * layer,
                      1e-12);
    assert_near_ratio(op_of(w, "optimizer.adamw")->bytes,
                      28 * (12 * layer + vocabulary), 1e-12);
}

/*
 * Sends are of [16384, 8192] in bf16, 256 MiB: 3 forward, one back in each
 * step, and 2 more back. AllReduces of a half, 128 MiB: 2 a layer, half and
 * pass.
 */
static void collectives_of_an_iteration(void **state)
{
    const struct model_workload *w = llama(*state);

    assert_near(count_of(w, "fill", "pp"), STAGES - 1, 0);
    assert_near(count_of(w, "backward", "pp"), STEPS, 0);
    assert_near(count_of(w, "drain", "pp"), STAGES - 2, 0);
    assert_near(count_of(w, "forward", "tp"), STEPS * 4 * LAYERS, 0);
    assert_near(count_of(w, "backward", "tp"), STEPS * 4 * LAYERS, 0);
    assert_near(count_of(w, "fill", "tp"), 3 * 4 * LAYERS, 0);
    assert_near(count_of(w, "drain", "tp"), 2 * 4 * LAYERS, 0);
    assert_near(count_of(w, "gradients", "tp"), 4 * LAYERS, 0);
    /* Of the embedding once, of the head's gradient in each step. */
    assert_near(count_of(w, "root", "tp"), 1 + STEPS, 0);
    assert_near(op_of(w, "fill0.send")->bytes, 256 * 1048576.0, 0);
    assert_near(op_of(w, "fill2.forward.19.1.ffn.all_reduce")->bytes,
                128 * 1048576.0, 0);
    assert_int_equal(op_of(w, "fill2.send")->shift, 1);
    assert_int_equal(op_of(w, "step127.send")->shift, -1);
    assert_int_equal(op_of(w, "drain1.send")->shift, -1);
}

/* A layer's gradients, 204 MiB, fill a bucket; the embedding's 250.5 MiB, too.
 */
static void gradients_of_the_first_stage(void **state)
{
    const struct model_workload *w = llama(*state);

    assert_near(count_of(w, "gradients", "dp"), LAYERS + 1, 0);
    assert_near(op_of(w, "gradients.0.all_reduce")->bytes, 2 * LAYER, 0);
    assert_near(op_of(w, "gradients.20.all_reduce")->bytes, 2 * VOCABULARY, 0);
    lowered_expect_wait(w, "gradients.0.all_reduce",
                        "drain2.backward.19.0.qkv.wgrad");
    lowered_expect_wait(w, "optimizer.adamw", "gradients.20.all_reduce");
    assert_near_ratio(op_of(w, "optimizer.adamw")->bytes,
                      28 * (LAYERS * LAYER + VOCABULARY), 1e-12);
}

/* Rank 8 d + 16 s + t: tp first, then replicas, then stages. */
static void ranks_are_numbered_as_in_megatron(void **state)
{
    const struct model_workload *w = llama(*state);
    const struct model_group *tp =
        &w->groups[op_of(w, "fill0.forward.0.0.ffn.all_reduce")->group];
    const struct model_group *dp =
        &w->groups[op_of(w, "gradients.0.all_reduce")->group];
    const struct model_group *pp = &w->groups[op_of(w, "fill0.send")->group];
    int rank = 8 * 1 + 16 * 2 + 5;

    assert_int_equal(model_group_member(tp, rank), 5);
    assert_int_equal(model_group_member(dp, rank), 1);
    assert_int_equal(model_group_member(pp, rank), 2);
    assert_int_equal(model_group_instances(tp, 64), 8);
    assert_int_equal(model_group_instances(dp, 64), 32);
    assert_int_equal(model_group_instances(pp, 64), 16);
}

static void slots_wait_for_sends(void **state)
{
    const struct model_workload *w = llama(*state);

    lowered_expect_wait(w, "fill0.send", "fill0.forward.19.1.residual");
    lowered_expect_wait(w, "fill1.forward.0.0.norm1", "fill0.send");
    lowered_expect_wait(w, "fill1.forward.0.1.norm1", "fill0.send");
    lowered_expect_wait(w, "step0.forward.0.0.norm1", "fill2.send");
    lowered_expect_wait(w, "step1.forward.0.0.norm1", "step0.send");
    lowered_expect_wait(w, "step127.send", "step127.backward.0.0.norm1.grad");
    lowered_expect_wait(w, "drain0.backward.19.1.residual.grad",
                        "step127.send");
    lowered_expect_wait(w, "drain1.backward.19.0.residual.grad", "drain0.send");
}

/* -- times -- */

/* One replica of a small model: 4 stages of 2 layers on 4 nodes. */
static const struct model_workload *
small(struct model_arena *arena, const char *set, const char *other)
{
    const char *sets[] = {"model.layers=8", "batch.steps=9", set, other};

    return read_on(arena, "nodes=4", "llama-3-70b", sets,
                   set == NULL     ? 2
                   : other == NULL ? 3
                                   : 4);
}

static struct sim_result
simulate(struct model_arena *arena, const struct model_workload *w, bool all)
{
    static const char *const nodes = "nodes=4";
    const struct model_topology *topology =
        fixture_topology(arena, "dgx-h100", &nodes, 1);
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(arena, topology, w),
                                  .all_ranks = all};

    return fixture_simulate(arena, &request);
}

static double end_us(const struct model_workload *w,
                     const struct sim_result *result,
                     const char *id)
{
    return result->ops[fixture_op(w, id)].end_us;
}

static double start_us(const struct model_workload *w,
                       const struct sim_result *result,
                       const char *id)
{
    return result->ops[fixture_op(w, id)].start_us;
}

/*
 * (p - 1) (F + c) + m (F + H + B) + (m - 1) c + (p - 1) (c + B), with F, B, H
 * and c as they come out in one slot; the embedding before, the optimizer
 * after.
 */
static void the_time_of_1f1b(void **state)
{
    const struct model_workload *w = small(*state, NULL, NULL);
    struct sim_result result = simulate(*state, w, false);
    double sent_us = end_us(w, &result, "fill1.send");
    double c_us = sent_us - start_us(w, &result, "fill1.send");
    double f_us =
        start_us(w, &result, "fill1.send") - end_us(w, &result, "fill0.send");
    double b_us =
        start_us(w, &result, "drain1.send") - end_us(w, &result, "drain0.send");
    double head_us = end_us(w, &result, "step0.head.norm.grad") -
                     start_us(w, &result, "step0.head.norm");
    double embed_us = start_us(w, &result, "fill0.send") - f_us;
    double optimizer_us = end_us(w, &result, "optimizer.adamw") -
                          start_us(w, &result, "optimizer.adamw");

    assert_near_ratio(result.steady.to_us - result.steady.from_us,
                      f_us + head_us + b_us + c_us, 1e-9);
    assert_near_ratio(result.iteration_us,
                      embed_us + 3 * (f_us + c_us) +
                          9 * (f_us + head_us + b_us) + 8 * c_us +
                          3 * (c_us + b_us) + optimizer_us,
                      1e-9);
    /* The embedding's AllReduce hides behind nothing, so this is no more. */
    assert_true(embed_us < f_us);
}

/* The steady steps stand for all, also where sends reach into the next. */
static void steps_stand_for_all(void **state)
{
    static const char *const overlap[] = {"parallel.overlap_sends=false",
                                          "parallel.overlap_sends=true"};

    for (int i = 0; i < 2; i++) {
        struct sim_result few =
            simulate(*state, small(*state, overlap[i], NULL), false);
        struct sim_result all = simulate(
            *state, small(*state, overlap[i], "batch.simulate=all"), false);

        assert_true(few.steady.extra > 0);
        assert_near_ratio(few.iteration_us, all.iteration_us, 1e-9);
        assert_near_ratio(few.exposed_comm_us, all.exposed_comm_us, 1e-9);
        assert_near_ratio(few.comm_us, all.comm_us, 1e-9);
    }
}

/* Between 9 steps 8 sends of c hide, but for what they slow kernels by. */
static void overlapped_sends_hide(void **state)
{
    const struct model_workload *w = small(*state, NULL, NULL);
    struct sim_result plain = simulate(*state, w, false);
    double c_us =
        end_us(w, &plain, "step1.send") - start_us(w, &plain, "step1.send");
    struct sim_result hidden = simulate(
        *state, small(*state, "parallel.overlap_sends=true", NULL), false);
    double saved_us = plain.iteration_us - hidden.iteration_us;

    assert_true(saved_us > 0.8 * 8 * c_us);
    assert_true(saved_us < 8 * c_us);
}

/* All stages on ranks of their own: the same as one for all. */
static void folded_equals_all_ranks(void **state)
{
    const struct model_workload *w = small(*state, "model.layers=4", NULL);

    assert_near_ratio(simulate(*state, w, false).iteration_us,
                      simulate(*state, w, true).iteration_us, 1e-12);
}

/* One stage is tensor parallelism. */
static void one_stage_is_tp(void **state)
{
    const char *sets[] = {"model.layers=2", "parallel={kind: pp, size: 8}"};
    const struct model_workload *tp =
        read_on(*state, "nodes=4", "llama-3-8b-tp", sets, 1);
    const char *stages[] = {sets[0], "parallel={kind: pp, size: 8, stages: 1}"};
    const struct model_workload *pp =
        read_on(*state, "nodes=4", "llama-3-8b-tp", stages, 2);

    assert_int_equal(tp->op_count, pp->op_count);
    for (int i = 0; i < tp->op_count; i++) {
        assert_string_equal(tp->ops[i].id, pp->ops[i].id);
        assert_near(tp->ops[i].bytes, pp->ops[i].bytes, 0);
    }
}

static void bad_models_are_refused(void **state)
{
    static const struct {
        const char *set, *key, *message;
    } rows[] = {
        {"parallel={kind: pp, size: 8}", "parallel.stages", "has no stages"},
        {"parallel.stages=3", "parallel.stages", "layers do not divide"},
        {"parallel.stages=16", "parallel.stages", "ranks do not divide"},
        {"parallel.stages=0", "parallel.stages", "out of range"},
        {"parallel.size=3", "parallel.size", "do not divide over 3"},
        {"parallel={kind: tp, size: 8, stages: 4}", "parallel.stages",
         "tp has no such key"},
        {"batch.micro=3", "batch.micro", "no two halves"},
        {"batch.global=3", "batch.global", "do not divide over 2 replicas"},
    };
    static const char *const nodes = "nodes=8";

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;

        assert_int_equal(
            model_workload_read(*state, "llama-3-70b", &rows[i].set, 1,
                                fixture_topology(*state, "dgx-h100", &nodes, 1),
                                &w, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemms_of_an_iteration),
        cmocka_unit_test(gemms_of_gpt_3),
        cmocka_unit_test(collectives_of_an_iteration),
        cmocka_unit_test(gradients_of_the_first_stage),
        cmocka_unit_test(ranks_are_numbered_as_in_megatron),
        cmocka_unit_test(slots_wait_for_sends),
        cmocka_unit_test(the_time_of_1f1b),
        cmocka_unit_test(steps_stand_for_all),
        cmocka_unit_test(overlapped_sends_hide),
        cmocka_unit_test(folded_equals_all_ranks),
        cmocka_unit_test(one_stage_is_tp),
        cmocka_unit_test(bad_models_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
