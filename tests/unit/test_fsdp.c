/*
 * test_fsdp.c - the lowering of fully sharded data parallelism: bytes by closed
 * form, counts, windows, and who waits for whom.
 *
 *     layer  qkv h (q + 2 kv), out q h, up h f (gated: twice), down f h
 *     root   embedding and head, 2 V h (tied: once)
 *
 * with h hidden, q and kv the widths of queries and keys, f the FFN's width, V
 * the vocabulary; 2 bytes each in bf16.
 */
#include "model/transformer.h"

#include "tests/unit/lowered.h"

static const struct model_topology *machine(struct model_arena *arena)
{
    return fixture_topology(arena, "lagom-a", NULL, 0);
}

static struct model_workload *read_with(struct model_arena *arena,
                                        const char *name,
                                        const char *const *sets,
                                        int set_count)
{
    return lowered_read(arena, machine(arena), name, sets, set_count);
}

struct shape {
    const char *name;
    double layer_bytes, root_bytes;
    int layers, steps;
};

static const struct shape shapes[] = {
    /*
     * Phi-2: 2560 (7680 + 2560 + 2 x 10240) = 78,643,200 parameters, 150 MiB.
     * Root 2 x 51200 x 2560 = 262,144,000, 500 MiB.
     */
    {"phi-2-fsdp", 157286400, 524288000, 32, 1},
    /*
     * Llama-3-8B: 4096 (4096 + 2 x 1024 + 4096 + 3 x 14336) = 218,103,808, 416
     * MiB. Root 2 x 128256 x 4096 = 1,050,673,152, 2004 MiB.
     */
    {"llama-3-8b-fsdp", 436207616, 2101346304, 32, 2},
    /*
     * MPT-7B: 4096 (4 x 4096 + 2 x 16384) = 201,326,592, 384 MiB. Root, tied:
     * 50432 x 4096 = 206,569,472, 394 MiB.
     */
    {"mpt-7b-fsdp", 402653184, 413138944, 32, 2},
};

static void bytes_of_a_layer_and_the_root(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct model_workload *w =
            read_with(*state, shapes[i].name, NULL, 0);

        for (int op = 0; op < w->op_count; op++) {
            bool root = strcmp(w->ops[op].window, "root") == 0;

            if (model_op_is_collective(&w->ops[op])) {
                assert_near(w->ops[op].bytes,
                            root ? shapes[i].root_bytes : shapes[i].layer_bytes,
                            0);
                assert_string_equal(w->groups[w->ops[op].group].name, "world");
            }
        }
    }
    assert_near(shapes[0].layer_bytes, 150 * 1048576.0, 0);
    assert_near(shapes[1].layer_bytes, 416 * 1048576.0, 0);
}

/*
 * Per step each of L layers is gathered forward and backward, the root once: 2L
 * +
 * 1. Each is reduced once: L + 1. In all 2 bytes x (2 L P + R), and x (L P +
 * R).
 */
static void counts_and_sums(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        const struct model_workload *w =
            read_with(*state, shape->name, NULL, 0);
        double layers_bytes = shape->layers * shape->layer_bytes;

        assert_int_equal(lowered_count(w, MODEL_OP_ALL_GATHER),
                         shape->steps * (2 * shape->layers + 1));
        assert_int_equal(lowered_count(w, MODEL_OP_REDUCE_SCATTER),
                         shape->steps * (shape->layers + 1));
        assert_int_equal(lowered_count(w, MODEL_OP_ALL_REDUCE), 0);
        assert_near(lowered_bytes(w, MODEL_OP_ALL_GATHER),
                    shape->steps * (2 * layers_bytes + shape->root_bytes), 0);
        assert_near(lowered_bytes(w, MODEL_OP_REDUCE_SCATTER),
                    shape->steps * (layers_bytes + shape->root_bytes), 0);
    }
}

/* The same closed form over random shapes, from the functions' own header. */
static void parameters_follow_the_table(void **state)
{
    (void)state;
    for (int i = 1; i <= 20; i++) {
        struct model_transformer t = {.hidden = 64 * i,
                                      .layers = i,
                                      .heads = 4 * i,
                                      .kv_heads = 2 * i,
                                      .head_width = 16,
                                      .ffn = 100 + i,
                                      .vocabulary = 1000 + i,
                                      .gated_ffn = i % 2 == 0,
                                      .tied_embedding = i % 3 == 0};
        double h = t.hidden;
        double q = 16.0 * t.heads;
        double kv = 16.0 * t.kv_heads;
        double ffn = (t.gated_ffn ? 3.0 : 2.0) * h * t.ffn;

        assert_near(model_transformer_layer_parameters(&t),
                    h * (q + 2 * kv) + q * h + ffn, 0);
        assert_near(model_transformer_root_parameters(&t),
                    (t.tied_embedding ? 1.0 : 2.0) * t.vocabulary * h, 0);
    }
}

/*
 * Flops of the GEMMs of a step, 2 m n k: 6 a parameter and token, 2 forward and
 * 4 backward, layers and head. T = 2 x 2048 tokens of Phi-2.
 */
static void gemms_do_6_flops_a_parameter_and_token(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);
    double flops = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        flops += op->kind == MODEL_OP_GEMM
                     ? 2 * op->m * op->n * op->k * op->batch
                     : 0;
    }
    assert_near_ratio(
        flops, 6.0 * 4096.0 * (32 * 78643200.0 + 51200.0 * 2560.0), 1e-12);
}

/*
 * Causal attention: 4 T s q / 2 = 2 x 4096 x 2048 x 2560 flops forward, 2.5
 * times backward. Forward reads q, k, v and writes the output, 4 x 2560
 * elements of 2 bytes a token, and a log-sum for each of 32 heads in fp32.
 */
static void attention_has_the_models_shape(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);
    const struct model_op *forward =
        &w->ops[fixture_op(w, "step0.forward.7.attention")];
    const struct model_op *backward =
        &w->ops[fixture_op(w, "step0.backward.7.attention.grad")];
    double flops = 2.0 * 4096 * 2048 * 2560;

    assert_int_equal(forward->kind, MODEL_OP_ATTENTION);
    assert_int_equal(forward->kernel_class, MODEL_CLASS_ATTENTION);
    assert_near(forward->attention.batch, 2, 0);
    assert_near(forward->attention.heads, 32, 0);
    assert_near(forward->attention.sequence, 2048, 0);
    assert_near(forward->attention.keys, 2048, 0);
    assert_near(forward->attention.head_width, 80, 0);
    assert_true(forward->attention.causal && !forward->attention.backward);
    assert_true(backward->attention.causal && backward->attention.backward);
    assert_near_ratio(forward->flops, flops, 1e-12);
    assert_near_ratio(backward->flops, 2.5 * flops, 1e-12);
    assert_near_ratio(forward->bytes, 4096 * (4.0 * 2560 * 2 + 32 * 4.0),
                      1e-12);
}

/*
 * Streaming kernels of a layer of Llama-3, in bytes a token: h = 4096, f =
 * 14336, gated, bf16. Norms besides: 8 bytes of statistics a token; weights.
 *   forward   norm1 2 h; norm2 x, residual, sum, y: 4 h; activation reads 2 f,
 *             writes f; residual 3 h
 *   backward  norm1 3 h; norm2 the gradient of the sum too: 4 h; activation
 *             reads 2 f and f, writes 2 f; residual adds two gradients, 3 h
 */
static void streaming_kernels_have_their_bytes(void **state)
{
    static const struct {
        const char *id;
        int kind;
        double elements, row_bytes, weights;
    } rows[] = {
        {"forward.7.norm1", MODEL_OP_NORM, 2 * 4096, 8, 2 * 4096},
        {"forward.7.norm2", MODEL_OP_NORM, 4 * 4096, 8, 2 * 4096},
        {"forward.7.activation", MODEL_OP_ELEMENTWISE, 3 * 14336, 0, 0},
        {"forward.7.residual", MODEL_OP_ELEMENTWISE, 3 * 4096, 0, 0},
        {"backward.7.norm1.grad", MODEL_OP_NORM, 3 * 4096, 8, 3 * 4096},
        {"backward.7.norm2.grad", MODEL_OP_NORM, 4 * 4096, 8, 3 * 4096},
        {"backward.7.activation.grad", MODEL_OP_ELEMENTWISE, 5 * 14336, 0, 0},
        {"backward.7.residual.grad", MODEL_OP_ELEMENTWISE, 3 * 4096, 0, 0},
        {"embed.0.embed", MODEL_OP_COPY, 2 * 4096, 0, 0},
    };
    const struct model_workload *w =
        read_with(*state, "llama-3-8b-fsdp", NULL, 0);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_op *op = &w->ops[fixture_op(
            w, model_arena_format(*state, "step0.%s", rows[i].id))];

        assert_int_equal(op->kind, rows[i].kind);
        assert_int_equal(op->kernel_class, MODEL_CLASS_VECTOR);
        assert_near_ratio(op->bytes,
                          8192 * (rows[i].elements * 2 + rows[i].row_bytes) +
                              2 * rows[i].weights,
                          1e-12);
    }
}

/* AdamW: the rank's part of all parameters, 2 x 2 + 3 x 8 = 28 bytes each. */
static void the_optimizer_has_its_shard(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);
    const struct model_op *op = &w->ops[w->op_count - 1];

    assert_int_equal(op->kind, MODEL_OP_OPTIMIZER);
    assert_string_equal(op->id, "optimizer.adamw");
    assert_near_ratio(op->bytes, 28.0 * (32 * 78643200.0 + 262144000.0) / 16.0,
                      1e-12);
    lowered_expect_wait(w, "optimizer.adamw", "step0.root.reduce_scatter");
}

/*
 * Forward: layer l's first kernel waits for its AllGather. Layer l + 1's
 * AllGather is issued when layer l starts: after layer l - 1 is done (two live
 * layers).
 */
static void forward_prefetch(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);

    lowered_expect_wait(w, "step0.embed.0.embed", "step0.root.all_gather");
    assert_int_equal(
        w->ops[fixture_op(w, "step0.forward.0.all_gather")].after_count, 0);
    lowered_expect_wait(w, "step0.forward.1.all_gather", "step0.embed.0.embed");
    for (int layer = 0; layer < 32; layer++) {
        lowered_expect_wait(
            w, model_arena_format(*state, "step0.forward.%d.norm1", layer),
            model_arena_format(*state, "step0.forward.%d.all_gather", layer));
        if (layer >= 2) {
            const char *gather = model_arena_format(
                *state, "step0.forward.%d.all_gather", layer);

            lowered_expect_wait(w, gather,
                                model_arena_format(*state,
                                                   "step0.forward.%d.residual",
                                                   layer - 2));
            /* and not for the layer before it: they overlap */
            assert_false(lowered_waits(
                w, fixture_op(w, gather),
                fixture_op(w, model_arena_format(*state,
                                                 "step0.forward.%d.residual",
                                                 layer - 1))));
        }
    }
}

/*
 * Without it the CPU issues layer l's AllGather after layer l - 1's kernels; it
 * still only waits for the layer two before, so that two are gathered.
 */
static void no_forward_prefetch(void **state)
{
    static const char *const sets[] = {"parallel.forward_prefetch=false"};
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", sets, 1);

    lowered_expect_wait(w, "step0.forward.1.all_gather", "step0.embed.0.embed");
    for (int layer = 1; layer < 32; layer++) {
        const char *gather =
            model_arena_format(*state, "step0.forward.%d.all_gather", layer);

        assert_true(
            fixture_op(w, gather) >
            fixture_op(w, model_arena_format(
                              *state, "step0.forward.%d.residual", layer - 1)));
        if (layer > 1) {
            lowered_expect_wait(w, gather,
                                model_arena_format(*state,
                                                   "step0.forward.%d.residual",
                                                   layer - 2));
        }
    }
    assert_int_equal(lowered_count(w, MODEL_OP_ALL_GATHER), 65);
}

/*
 * Backward: layer l - 1's AllGather when layer l starts, before layer l + 1's
 * ReduceScatter on the stream; the ReduceScatter waits for its gradients. The
 * last kernel of a layer's backward is the gradient of its first norm.
 */
static void backward_prefetch(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);

    lowered_expect_wait(w, "step0.backward.31.all_gather", "step0.head.0.loss");
    for (int layer = 31; layer >= 0; layer--) {
        const char *gather =
            model_arena_format(*state, "step0.backward.%d.all_gather", layer);
        const char *scatter = model_arena_format(
            *state, "step0.backward.%d.reduce_scatter", layer);

        lowered_expect_wait(
            w,
            model_arena_format(*state, "step0.backward.%d.residual.grad",
                               layer),
            gather);
        lowered_expect_wait(
            w, scatter,
            model_arena_format(*state, "step0.backward.%d.norm1.grad", layer));
        if (layer <= 29) {
            lowered_expect_wait(
                w, gather,
                model_arena_format(*state, "step0.backward.%d.norm1.grad",
                                   layer + 2));
            assert_true(
                fixture_op(w, gather) <
                fixture_op(w, model_arena_format(
                                  *state, "step0.backward.%d.reduce_scatter",
                                  layer + 2)));
        }
    }
    lowered_expect_wait(w, "step0.root.reduce_scatter",
                        "step0.backward.0.norm1.grad");
}

static void no_backward_prefetch(void **state)
{
    static const char *const sets[] = {"parallel.backward_prefetch=false"};
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", sets, 1);

    lowered_expect_wait(w, "step0.backward.30.all_gather", "step0.head.0.loss");
    for (int layer = 0; layer < 30; layer++) {
        lowered_expect_wait(
            w,
            model_arena_format(*state, "step0.backward.%d.all_gather", layer),
            model_arena_format(*state, "step0.backward.%d.norm1.grad",
                               layer + 2));
    }
    assert_int_equal(lowered_count(w, MODEL_OP_ALL_GATHER), 65);
}

/* Kernels on one stream, collectives, of higher priority, on another. */
static void two_streams(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);

    for (int i = 0; i < w->op_count; i++) {
        bool comm = model_op_is_collective(&w->ops[i]);

        assert_string_equal(w->streams[w->ops[i].stream].name,
                            comm ? "comm" : "compute");
        assert_int_equal(w->streams[w->ops[i].stream].priority, comm ? 1 : 0);
    }
}

/* Dependencies lead back in the list: there can be no circle. */
static void waits_lead_back(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct model_workload *w =
            read_with(*state, shapes[i].name, NULL, 0);

        for (int op = 0; op < w->op_count; op++) {
            for (int j = 0; j < w->ops[op].after_count; j++) {
                assert_in_range(w->ops[op].after[j], 0, op - 1);
            }
        }
    }
}

static void windows_hold_what_overlaps(void **state)
{
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", NULL, 0);

    for (int i = 0; i < w->op_count; i++) {
        const char *id = w->ops[i].id;
        const char *window = strstr(id, ".forward.") != NULL    ? "forward"
                             : strstr(id, ".backward.") != NULL ? "backward"
                                                                : "root";

        assert_string_equal(w->ops[i].window, window);
    }
}

static void bad_models_are_refused(void **state)
{
    static const struct {
        const char *set, *key, *message;
    } rows[] = {
        {"model.kv_heads=5", "model.kv_heads", "do not divide"},
        {"model.hidden=2561", "model.heads", "does not divide"},
        {"model.layers=0", "model.layers", ""},
        {"model.layrs=3", "model.layrs", "unknown key"},
        {"parallel.kind=fdsp", "parallel.kind", ""},
        {"batch.micro=0", "batch.micro", ""},
        {"batch={micro: 2, steps: 100000, sequence: 128, simulate: all}",
         "batch.steps", "operations"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;

        assert_int_equal(model_workload_read(*state, "phi-2-fsdp", &rows[i].set,
                                             1, machine(*state), &w, &errors),
                         MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

static void the_three_parts_are_needed(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_workload w;

    assert_int_equal(
        fixture_workload_read(
            *state, machine(*state),
            "name: w\n"
            "model: {hidden: 64, layers: 2, heads: 2, kv_heads: 2, ffn: 128, "
            "vocabulary: 100}\n",
            &w, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "parallel", "required");
    fixture_expect_error(&errors, "batch", "required");
}

/* One layer has nobody to prefetch: 3 AllGathers, 2 ReduceScatters. */
static void one_layer_works(void **state)
{
    static const char *const sets[] = {"model.layers=1"};
    const struct model_workload *w = read_with(*state, "phi-2-fsdp", sets, 1);

    assert_int_equal(lowered_count(w, MODEL_OP_ALL_GATHER), 3);
    assert_int_equal(lowered_count(w, MODEL_OP_REDUCE_SCATTER), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_layer_and_the_root),
        cmocka_unit_test(counts_and_sums),
        cmocka_unit_test(parameters_follow_the_table),
        cmocka_unit_test(gemms_do_6_flops_a_parameter_and_token),
        cmocka_unit_test(attention_has_the_models_shape),
        cmocka_unit_test(streaming_kernels_have_their_bytes),
        cmocka_unit_test(the_optimizer_has_its_shard),
        cmocka_unit_test(forward_prefetch),
        cmocka_unit_test(no_forward_prefetch),
        cmocka_unit_test(backward_prefetch),
        cmocka_unit_test(no_backward_prefetch),
        cmocka_unit_test(two_streams),
        cmocka_unit_test(waits_lead_back),
        cmocka_unit_test(windows_hold_what_overlaps),
        cmocka_unit_test(bad_models_are_refused),
        cmocka_unit_test(the_three_parts_are_needed),
        cmocka_unit_test(one_layer_works),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
