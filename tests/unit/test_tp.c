/*
 * test_tp.c - the lowering of tensor and data parallelism: what a rank computes
 * and sends by closed form, who waits for whom, and what it does to time.
 *
 * Phi-2 on 8 ranks a layer: h = 2560, of 32 heads 4, q = kv = 320, of 10240 FFN
 * columns 1280, of 51200 words 6400. 8 sequences of 2048 tokens are T = 16384,
 * a half of them 8192. A rank's parameters:
 *
 *     layer      2560 (320 + 2 x 320 + 320 + 2 x 1280) = 9,830,400
 *     embedding  6400 x 2560 = 16,384,000; the head as many
 *
 * 2 bytes each in bf16: 19,660,800 and 32,768,000.
 */
#include "model/transformer.h"

#include "tests/unit/lowered.h"

enum { LAYERS = 32 };

static const double LAYER_BYTES = 19660800;
static const double HEAD_BYTES = 32768000;

static struct model_workload *read_on(struct model_arena *arena,
                                      const char *machine,
                                      const char *name,
                                      const char *const *sets,
                                      int set_count)
{
    return lowered_read(arena, fixture_topology(arena, machine, NULL, 0), name,
                        sets, set_count);
}

/* Phi-2, of whose iteration two micro-batches tell all. */
static struct model_workload *
phi_2(struct model_arena *arena, const char *machine, const char *set)
{
    const char *sets[] = {"batch.steps=2", set};

    return read_on(arena, machine, "phi-2-tp", sets, set == NULL ? 1 : 2);
}

static const struct model_op *op_of(const struct model_workload *w,
                                    const char *id)
{
    return &w->ops[fixture_op(w, id)];
}

static int
count_in(const struct model_workload *w, const char *window, const char *group)
{
    int count = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        count += model_op_is_collective(op) &&
                         strcmp(op->window, window) == 0 &&
                         strcmp(w->groups[op->group].name, group) == 0
                     ? 1
                     : 0;
    }
    return count;
}

/*
 * AllReduces of a half, [8192, 2560] in bf16: 41,943,040 bytes, 40 MiB. Two a
 * layer, half and direction: 128 forward and 128 backward of each of 2 steps.
 * Embedding and head sum whole micro-batches: 2 a step, 80 MiB.
 */
static void all_reduces_of_a_layer(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a-1node", NULL);

    assert_int_equal(count_in(w, "forward", "tp"), 2 * 2 * 2 * LAYERS);
    assert_int_equal(count_in(w, "backward", "tp"), 2 * 2 * 2 * LAYERS);
    assert_int_equal(count_in(w, "root", "tp"), 2 * 2);
    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        if (model_op_is_collective(op)) {
            assert_int_equal(op->kind, MODEL_OP_ALL_REDUCE);
            assert_near(op->bytes,
                        strcmp(op->window, "root") == 0 ? 83886080 : 41943040,
                        0);
        }
    }
}

/* Half a micro-batch, [tokens, hidden]: Llama 2 x 8192 x 4096 x 2 bytes, 128
   MiB; MPT 1 x 2048 x 4096 x 2, 16 MiB. */
static void all_reduces_of_the_other_models(void **state)
{
    const struct model_workload *llama =
        read_on(*state, "lagom-b-1node", "llama-3-8b-tp", NULL, 0);
    const struct model_workload *mpt =
        read_on(*state, "lagom-b-1node", "mpt-7b-tp", NULL, 0);

    assert_near(op_of(llama, "step0.forward.5.1.ffn.all_reduce")->bytes,
                134217728, 0);
    assert_near(op_of(mpt, "step0.backward.5.0.attention.all_reduce")->bytes,
                16777216, 0);
}

/* Families of 8 neighbours, and of one rank of each node. */
static void groups_cover_the_machine(void **state)
{
    const struct model_workload *one = phi_2(*state, "lagom-a-1node", NULL);
    const struct model_workload *two = phi_2(*state, "lagom-a", NULL);
    const struct model_group *tp =
        &two->groups[op_of(two, "step0.forward.0.0.ffn.all_reduce")->group];
    const struct model_group *dp =
        &two->groups[op_of(two, "gradients.0.all_reduce")->group];

    assert_int_equal(model_group_instances(tp, 16), 2);
    assert_int_equal(model_group_member(tp, 13), 5);
    assert_int_equal(model_group_instances(dp, 16), 8);
    assert_int_equal(model_group_instance_of(dp, 13), 5);
    assert_int_equal(model_group_member(dp, 13), 1);
    for (int i = 0; i < one->group_count; i++) {
        assert_string_not_equal(one->groups[i].name, "dp");
    }
}

/*
 * 2 m n k of the GEMMs of 2 steps: 6 flops a parameter of the rank and token,
 * head included; m of a layer's is a half's tokens.
 */
static void gemms_are_cut_to_a_rank(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);
    const struct model_op *up = op_of(w, "step1.forward.3.1.up");
    const struct model_op *out = op_of(w, "step1.backward.3.0.out.dgrad");
    double flops = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        flops += op->kind == MODEL_OP_GEMM
                     ? 2 * op->m * op->n * op->k * op->batch
                     : 0;
    }
    assert_near_ratio(
        flops, 2 * 6.0 * 16384 * (LAYERS * 9830400.0 + 16384000.0), 1e-12);
    assert_near(up->m, 8192, 0);
    assert_near(up->n, 1280, 0);
    assert_near(up->k, 2560, 0);
    assert_near(out->m, 8192, 0);
    assert_near(out->n, 320, 0);
    assert_near(out->k, 2560, 0);
    assert_near(op_of(w, "step1.head.logits")->m, 16384, 0);
    assert_near(op_of(w, "step1.head.logits")->n, 6400, 0);
}

/*
 * Attention: 4 of 32 heads over 4 sequences. Norms and residuals are not cut:
 * norm1 reads and writes 2560 elements of a token, with 8 bytes of statistics,
 * and reads 2 x 2560 weights; the residual is 3 x 2560 elements.
 */
static void what_is_cut_and_what_is_not(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);
    const struct model_op *attention = op_of(w, "step0.forward.9.0.attention");

    assert_near(attention->attention.batch, 4, 0);
    assert_near(attention->attention.heads, 4, 0);
    assert_near(attention->attention.kv_heads, 4, 0);
    assert_near(attention->attention.head_width, 80, 0);
    assert_near_ratio(op_of(w, "step0.forward.9.0.norm1")->bytes,
                      8192.0 * (2 * 2560 * 2 + 8) + 2 * 2 * 2560, 1e-12);
    assert_near_ratio(op_of(w, "step0.forward.9.1.residual")->bytes,
                      8192.0 * 3 * 2560 * 2, 1e-12);
    assert_near_ratio(op_of(w, "step0.forward.9.1.activation")->bytes,
                      8192.0 * 2 * 1280 * 2, 1e-12);
    assert_near_ratio(op_of(w, "step0.embed.embed")->bytes,
                      2 * 16384.0 * 2560 * 2, 1e-12);
}

/*
 * Gradients are reduced from 80e6 bytes on. Phi-2: the head's and 3 layers'
 * are 32.8e6 + 3 x 19.7e6 = 91.8e6; then 5 layers, 98.3e6, five times; the last
 * 4 layers are 78.6e6, so that the embedding's join them: 111.4e6.
 */
static void gradients_come_in_buckets(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);

    assert_int_equal(count_in(w, "gradients", "dp"), 7);
    for (int i = 0; i < 7; i++) {
        double bytes = i == 0  ? HEAD_BYTES + 3 * LAYER_BYTES
                       : i < 6 ? 5 * LAYER_BYTES
                               : 4 * LAYER_BYTES + HEAD_BYTES;

        assert_near(
            op_of(w, model_arena_format(*state, "gradients.%d.all_reduce", i))
                ->bytes,
            bytes, 0);
    }
    lowered_expect_wait(w, "gradients.0.all_reduce",
                        "step1.backward.29.0.qkv.wgrad");
    lowered_expect_wait(w, "gradients.1.all_reduce",
                        "step1.backward.24.0.qkv.wgrad");
    lowered_expect_wait(w, "gradients.6.all_reduce",
                        "step1.backward.0.0.norm1.grad");
    lowered_expect_wait(w, "optimizer.adamw", "gradients.6.all_reduce");
}

/* MPT-7B ties its embedding: the head has no gradients of its own. Layers of 48
   MiB go in twos, 16 of them; the embedding's, 6304 x 4096 x 2 bytes, alone. */
static void a_tied_embedding_is_reduced_once(void **state)
{
    const struct model_workload *w =
        read_on(*state, "lagom-b", "mpt-7b-tp", NULL, 0);

    assert_int_equal(count_in(w, "gradients", "dp"), 17);
    assert_near(op_of(w, "gradients.15.all_reduce")->bytes, 96 * 1048576.0, 0);
    assert_near(op_of(w, "gradients.16.all_reduce")->bytes, 6304.0 * 4096 * 2,
                0);
}

/* The last micro-batch's backward pass alone, and only with replicas. */
static void gradients_have_a_window(void **state)
{
    const struct model_workload *one = phi_2(*state, "lagom-a-1node", NULL);
    const struct model_workload *two = phi_2(*state, "lagom-a", NULL);

    assert_int_equal(count_in(one, "gradients", "tp"), 0);
    assert_int_equal(count_in(two, "gradients", "tp"), 2 * 2 * LAYERS);
    assert_int_equal(count_in(two, "backward", "tp"), 2 * 2 * LAYERS);
    assert_string_equal(op_of(two, "step0.backward.4.0.qkv.dgrad")->window,
                        "backward");
    assert_string_equal(op_of(two, "step1.backward.4.0.qkv.dgrad")->window,
                        "gradients");
}

/* A rank's AdamW has 28 bytes for each of its parameters, with replicas too. */
static void the_optimizer_has_the_ranks_part(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);

    assert_near_ratio(op_of(w, "optimizer.adamw")->bytes,
                      28.0 * (LAYERS * 9830400.0 + 2 * 16384000.0), 1e-12);
}

/*
 * Forward, of each half: attention's last kernel, its AllReduce, norm2; the
 * FFN's last kernel, its AllReduce, the residual, which starts its next layer.
 * Between an AllReduce and who waits for it come kernels of the other half.
 */
static void forward_waits(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);

    lowered_expect_wait(w, "step0.embed.embed.all_reduce", "step0.embed.embed");
    lowered_expect_wait(w, "step0.forward.0.1.norm1",
                        "step0.embed.embed.all_reduce");
    for (int half = 0; half < 2; half++) {
        const char *id = model_arena_format(*state, "step0.forward.6.%d", half);
        const char *attention =
            model_arena_format(*state, "%s.attention.all_reduce", id);
        const char *ffn = model_arena_format(*state, "%s.ffn.all_reduce", id);

        lowered_expect_wait(w, attention,
                            model_arena_format(*state, "%s.out", id));
        lowered_expect_wait(w, model_arena_format(*state, "%s.norm2", id),
                            attention);
        lowered_expect_wait(w, ffn, model_arena_format(*state, "%s.down", id));
        lowered_expect_wait(w, model_arena_format(*state, "%s.residual", id),
                            ffn);
    }
    assert_true(fixture_op(w, "step0.forward.6.0.attention.all_reduce") <
                fixture_op(w, "step0.forward.6.1.norm1"));
    assert_true(fixture_op(w, "step0.forward.6.1.out") <
                fixture_op(w, "step0.forward.6.0.norm2"));
    assert_true(fixture_op(w, "step0.forward.6.1.ffn.all_reduce") <
                fixture_op(w, "step0.forward.7.0.norm1"));
    assert_true(fixture_op(w, "step0.forward.7.0.out") <
                fixture_op(w, "step0.forward.6.1.residual"));
}

/*
 * Backward the mirror image: half 1 first. An AllReduce follows the input
 * gradient and does not wait for the weight gradient of the same GEMM.
 */
static void backward_waits(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);

    lowered_expect_wait(w, "step0.head.logits.all_reduce",
                        "step0.head.logits.dgrad");
    lowered_expect_wait(w, "step0.head.norm.grad",
                        "step0.head.logits.all_reduce");
    for (int half = 0; half < 2; half++) {
        const char *id =
            model_arena_format(*state, "step0.backward.6.%d", half);
        const char *attention =
            model_arena_format(*state, "%s.attention.all_reduce", id);
        const char *ffn = model_arena_format(*state, "%s.ffn.all_reduce", id);

        lowered_expect_wait(w, ffn,
                            model_arena_format(*state, "%s.up.dgrad", id));
        assert_int_equal(op_of(w, ffn)->after_count, 1);
        lowered_expect_wait(w, model_arena_format(*state, "%s.norm2.grad", id),
                            ffn);
        lowered_expect_wait(w, attention,
                            model_arena_format(*state, "%s.qkv.dgrad", id));
        assert_int_equal(op_of(w, attention)->after_count, 1);
        lowered_expect_wait(w, model_arena_format(*state, "%s.norm1.grad", id),
                            attention);
    }
    assert_true(fixture_op(w, "step0.backward.6.1.ffn.all_reduce") <
                fixture_op(w, "step0.backward.6.0.residual.grad"));
    assert_true(fixture_op(w, "step0.backward.6.0.ffn.all_reduce") <
                fixture_op(w, "step0.backward.6.1.norm2.grad"));
    assert_true(fixture_op(w, "step0.backward.6.1.norm1.grad") <
                fixture_op(w, "step0.backward.5.1.residual.grad"));
}

static void streams_and_order(void **state)
{
    const struct model_workload *w = phi_2(*state, "lagom-a", NULL);

    for (int op = 0; op < w->op_count; op++) {
        const struct model_op *it = &w->ops[op];
        const char *stream = w->streams[it->stream].name;
        const char *group =
            model_op_is_collective(it) ? w->groups[it->group].name : "";

        assert_string_equal(stream, strcmp(group, "tp") == 0   ? "comm"
                                    : strcmp(group, "dp") == 0 ? "gradients"
                                                               : "compute");
        for (int i = 0; i < it->after_count; i++) {
            assert_in_range(it->after[i], 0, op - 1);
        }
    }
}

/* Without Domino: whole micro-batches, half as many AllReduces of 80 MiB. */
static void without_domino(void **state)
{
    const struct model_workload *w =
        phi_2(*state, "lagom-a-1node", "parallel.domino=false");

    assert_int_equal(count_in(w, "forward", "tp"), 2 * 2 * LAYERS);
    assert_near(op_of(w, "step0.forward.3.ffn.all_reduce")->bytes, 83886080, 0);
    assert_near(op_of(w, "step0.forward.3.up")->m, 16384, 0);
    lowered_expect_wait(w, "step0.forward.3.residual",
                        "step0.forward.3.ffn.all_reduce");
}

/*
 * kind dp: whole layers on each rank, no group tp; of the FSDP file's Phi-2 the
 * head's 250 MiB, 32 times 150 MiB, the embedding's 250 MiB. All in one bucket
 * when that is large enough: 2 x 250 + 32 x 150 = 5300 MiB.
 */
static void data_parallel_alone(void **state)
{
    static const char *const sets[] = {"parallel.kind=dp",
                                       "parallel.bucket=6 GiB"};
    const struct model_workload *w =
        read_on(*state, "lagom-a", "phi-2-fsdp", sets, 1);

    assert_int_equal(count_in(w, "gradients", "dp"), 34);
    assert_near(op_of(w, "gradients.0.all_reduce")->bytes, 250 * 1048576.0, 0);
    assert_near(op_of(w, "gradients.1.all_reduce")->bytes, 150 * 1048576.0, 0);
    assert_near(op_of(w, "gradients.33.all_reduce")->bytes, 250 * 1048576.0, 0);
    assert_int_equal(w->groups[op_of(w, "gradients.0.all_reduce")->group].count,
                     16);
    assert_near(op_of(w, "step0.forward.3.up")->m, 4096, 0);
    assert_near(op_of(w, "step0.forward.3.up")->n, 10240, 0);
    w = read_on(*state, "lagom-a", "phi-2-fsdp", sets, 2);
    assert_int_equal(count_in(w, "gradients", "dp"), 1);
    assert_near(op_of(w, "gradients.0.all_reduce")->bytes, 5300 * 1048576.0, 0);
}

/* 1 x 50257 words on 8 ranks are padded to 6283 each. */
static void the_vocabulary_is_padded(void **state)
{
    const struct model_workload *w =
        phi_2(*state, "lagom-a-1node", "model.vocabulary=50257");

    assert_near(op_of(w, "step0.head.logits")->n, 6283, 0);
}

static struct sim_result simulate(struct model_arena *arena,
                                  const char *machine,
                                  const char *set,
                                  bool all_ranks)
{
    const char *sets[] = {"batch.steps=1", "model.layers=4", set};
    const struct model_topology *topology =
        fixture_topology(arena, machine, NULL, 0);
    const struct model_workload *w =
        read_on(arena, machine, "phi-2-tp", sets, set == NULL ? 2 : 3);
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(arena, topology, w),
                                  .all_ranks = all_ranks};

    return fixture_simulate(arena, &request);
}

/* All ranks are alike, to the bit, replicas that share NICs, too. */
static void folded_equals_all_ranks(void **state)
{
    static const char *const machines[] = {"lagom-a-1node", "lagom-b-1node",
                                           "dgx-h100", "lagom-a", "lagom-b"};

    for (int i = 0; i < FIXTURE_COUNT(machines); i++) {
        double folded = simulate(*state, machines[i], NULL, false).iteration_us;
        double all = simulate(*state, machines[i], NULL, true).iteration_us;

        assert_near_ratio(folded, all, 1e-12);
    }
}

/* Without halves every AllReduce forward is exposed, and most of a backward
   one is not: it has a weight gradient beside it. Halves hide more. */
static void domino_hides(void **state)
{
    struct sim_result halves = simulate(*state, "lagom-a-1node", NULL, false);
    struct sim_result whole =
        simulate(*state, "lagom-a-1node", "parallel.domino=false", false);

    assert_true(halves.exposed_comm_us < 0.5 * whole.exposed_comm_us);
    assert_true(halves.iteration_us < whole.iteration_us);
    assert_true(whole.exposed_comm_us > 0.5 * whole.comm_us);
}

static void bad_models_are_refused(void **state)
{
    static const struct {
        const char *set, *key, *message;
    } rows[] = {
        {"parallel.size=3", "parallel.size", "16 ranks do not divide over 3"},
        {"parallel.size=0", "parallel.size", "tp has no size"},
        {"model.kv_heads=4", "model.kv_heads", "do not divide over 8"},
        {"model.ffn=10241", "model.ffn", "do not divide over 8"},
        {"batch.micro=3", "batch.micro", "no two halves"},
        {"parallel.bucket=3", "parallel.bucket", "no unit"},
        {"parallel.forward_prefetch=true", "parallel.forward_prefetch",
         "tp has no such key"},
        {"parallel.kind=dp", "parallel.size", "dp has no such key"},
        {"parallel={kind: tp}", "parallel.size", "tp has no size"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;

        assert_int_equal(
            model_workload_read(*state, "phi-2-tp", &rows[i].set, 1,
                                fixture_topology(*state, "lagom-a", NULL, 0),
                                &w, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_reduces_of_a_layer),
        cmocka_unit_test(all_reduces_of_the_other_models),
        cmocka_unit_test(groups_cover_the_machine),
        cmocka_unit_test(gemms_are_cut_to_a_rank),
        cmocka_unit_test(what_is_cut_and_what_is_not),
        cmocka_unit_test(gradients_come_in_buckets),
        cmocka_unit_test(a_tied_embedding_is_reduced_once),
        cmocka_unit_test(gradients_have_a_window),
        cmocka_unit_test(the_optimizer_has_the_ranks_part),
        cmocka_unit_test(forward_waits),
        cmocka_unit_test(backward_waits),
        cmocka_unit_test(streams_and_order),
        cmocka_unit_test(without_domino),
        cmocka_unit_test(data_parallel_alone),
        cmocka_unit_test(the_vocabulary_is_padded),
        cmocka_unit_test(folded_equals_all_ranks),
        cmocka_unit_test(domino_hides),
        cmocka_unit_test(bad_models_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
