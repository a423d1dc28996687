/*
 * test_ep.c - the lowering of expert parallelism: tokens of an expert, bytes
 * and counts of collectives, flops, windows, who waits for whom, and the
 * models' known numbers of parameters.
 *
 * A half has T = micro / 2 x sequence tokens. With k experts a token, E experts
 * over n ranks and h hidden: T k copies of h, of which an expert gets T k n /
 * E.
 */
#include "model/transformer.h"

#include "tests/unit/lowered.h"

static const struct model_topology *machine(struct model_arena *arena,
                                            const char *name)
{
    return fixture_topology(arena, name, NULL, 0);
}

static struct model_workload *read_with(struct model_arena *arena,
                                        const char *name,
                                        const char *const *sets,
                                        int set_count)
{
    return lowered_read(arena, machine(arena, "lagom-a-1node"), name, sets,
                        set_count);
}

static const struct model_op *op_of(const struct model_workload *w,
                                    const char *id)
{
    return &w->ops[fixture_op(w, id)];
}

struct shape {
    const char *name;
    int layers, dense;          /* of the model, and of them without experts */
    double rows;                /* T k */
    int local;                  /* experts of a rank */
    double exchange_bytes;      /* T k h x 2 */
    double common;              /* parameters that all ranks have */
    double expert;              /* of an expert */
    double embedding;           /* of the common, those of no GEMM */
    double total, active, each; /* published, and how exactly */
};

static const struct shape shapes[] = {
    /*
     * DeepSeek-MoE-16B. T k = 4096 x 6 = 24,576; x 2048 x 2 bytes = 96 MiB.
     * A layer: attention 4 x 2048^2 = 16,777,216, router 64 x 2048 = 131,072,
     * shared 3 x 2048 x 2816 = 17,301,504: 34,209,792; x 27 = 923,664,384.
     * The dense one: 16,777,216 + 3 x 2048 x 10944 = 84,017,152.
     * Root 2 x 102400 x 2048 = 419,430,400. An expert 3 x 2048 x 1408.
     */
    {"deepseek-moe-16b-ep", 28, 1, 24576, 8, 100663296,
     923664384.0 + 84017152 + 419430400, 8650752, 209715200, 16.4e9, 2.83e9,
     0.002},
    /*
     * OLMoE-1B-7B. T k = 4096 x 8 = 32,768; 128 MiB. A layer 16,777,216 +
     * 131,072; x 16 = 270,532,608. Root 2 x 50304 x 2048 = 206,045,184. An
     * expert 3 x 2048 x 1024.
     */
    {"olmoe-1b-7b-ep", 16, 0, 32768, 8, 134217728, 270532608.0 + 206045184,
     6291456, 103022592, 6.92e9, 1.28e9, 0.002},
    /*
     * Mixtral 8x7B. T k = 4096 x 2 = 8192; x 4096 x 2 bytes = 64 MiB. A layer
     * 4096 (4096 + 2 x 1024 + 4096) = 41,943,040 and 8 x 4096 = 32,768; x 32 =
     * 1,343,225,856. Root 2 x 32000 x 4096 = 262,144,000. An expert 3 x 4096 x
     * 14336. Published: 46.7e9, 12.9e9 active.
     */
    {"mixtral-8x7b-ep", 32, 0, 8192, 1, 67108864, 1343225856.0 + 262144000,
     176160768, 131072000, 46.7e9, 12.9e9, 0.002},
};

static int moe_layers(const struct shape *shape)
{
    return shape->layers - shape->dense;
}

/* Parameters that shapes imply are those that the models are known to have. */
static void parameters_are_the_models(void **state)
{
    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        double layer = shape->local * 8 * shape->expert;
        double top_k = shape->rows / 4096.0;

        assert_near_ratio(shape->common + moe_layers(shape) * layer,
                          shape->total, shape->each);
        assert_near_ratio(shape->common +
                              moe_layers(shape) * top_k * shape->expert,
                          shape->active, shape->each);
    }
}

/*
 * Per layer with experts: two halves, dispatch and combine, forward and
 * backward, 8 all_to_all. Once an iteration the gradients of what all have.
 */
static void counts_and_bytes_of_collectives(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        const struct model_workload *w =
            read_with(*state, shape->name, NULL, 0);
        int exchanges = 8 * moe_layers(shape);
        const struct model_op *gradients = op_of(w, "gradients.common");

        assert_int_equal(lowered_count(w, MODEL_OP_ALL_TO_ALL), exchanges);
        assert_near(lowered_bytes(w, MODEL_OP_ALL_TO_ALL),
                    exchanges * shape->exchange_bytes, 0);
        assert_int_equal(lowered_count(w, MODEL_OP_ALL_REDUCE), 1);
        assert_near(gradients->bytes, 2 * shape->common, 0);
        for (int op = 0; op < w->op_count; op++) {
            if (model_op_is_collective(&w->ops[op])) {
                assert_int_equal(w->groups[w->ops[op].group].count, 8);
            }
        }
        /* AdamW of all of it, 28 bytes each */
        assert_near_ratio(
            op_of(w, "optimizer.adamw")->bytes,
            28 * (shape->common +
                  moe_layers(shape) * shape->local * shape->expert),
            1e-12);
    }
}

/*
 * Balanced: each of a rank's experts has T k / (E / n) rows: 3072, 4096, 8192.
 * A half's experts read and write, in bf16, weights, inputs and outputs. up of
 * DeepSeek: 8 x (2 x 1408 x 2048 + 3072 x (2048 + 2816)) x 2 bytes.
 */
static void experts_share_the_tokens(void **state)
{
    static const double rows_each[] = {3072, 4096, 8192};
    const struct model_op *up;

    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        const struct model_workload *w =
            read_with(*state, shape->name, NULL, 0);
        const struct model_op *down =
            op_of(w, "step0.forward.7.half1.expert.down");
        const struct model_op *wgrad =
            op_of(w, "step0.backward.7.half1.expert.down.wgrad");

        assert_int_equal(down->kind, MODEL_OP_GROUPED_GEMM);
        assert_int_equal(down->row_count, shape->local);
        for (int expert = 0; expert < shape->local; expert++) {
            assert_near(down->rows[expert], rows_each[i], 0);
        }
        assert_int_equal(wgrad->kind, MODEL_OP_GEMM);
        assert_near(wgrad->batch, shape->local, 0);
        assert_near(wgrad->k, rows_each[i], 0);
    }
    up = op_of(read_with(*state, shapes[0].name, NULL, 0),
               "step0.forward.7.half0.expert.up");
    assert_near(up->n, 2816, 0);
    assert_near(up->k, 2048, 0);
    assert_near(up->flops, 2.0 * 24576 * 2816 * 2048, 0);
    assert_near(up->bytes, 8 * (2816.0 * 2048 + 3072 * (2048.0 + 2816)) * 2, 0);
}

static double gemm_flops(const struct model_workload *w, const char *window)
{
    double flops = 0;

    for (int i = 0; i < w->op_count; i++) {
        const struct model_op *op = &w->ops[i];

        if (window == NULL || strcmp(op->window, window) == 0) {
            flops += op->kind == MODEL_OP_GEMM
                         ? 2 * op->m * op->n * op->k * op->batch
                         : 0;
            flops += op->kind == MODEL_OP_GROUPED_GEMM ? op->flops : 0;
        }
    }
    return flops;
}

/*
 * 6 flops a token and parameter that it meets: 2 forward, 4 backward. A rank
 * has 2T = 8192 tokens, each of which meets k experts, and all of the common
 * parameters but the embedding.
 */
static void gemms_do_6_flops_a_parameter_and_token(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        const struct shape *shape = &shapes[i];
        const struct model_workload *w =
            read_with(*state, shape->name, NULL, 0);
        double met = shape->common - shape->embedding +
                     moe_layers(shape) * shape->rows / 4096 * shape->expert;

        assert_near_ratio(gemm_flops(w, NULL), 6.0 * 8192 * met, 1e-12);
        assert_near_ratio(gemm_flops(w, "bwd.expert"),
                          2 * gemm_flops(w, "fwd.expert"), 1e-12);
        assert_near_ratio(gemm_flops(w, "bwd.attn"),
                          2 * gemm_flops(w, "fwd.attn"), 1e-12);
    }
}

/*
 * Streaming kernels of a half of DeepSeek, elements of 2 bytes a token, with h
 * = 2048, k = 6, f = 1408:
 *   permute  reads h, writes k h; backward adds k and the shared one: (k + 2) h
 *   sort     2 k h; unsort is the same
 *   expert.activation   3 k f; backward 5 k f
 *   shared.activation   3 x 2 f
 *   output   k, shared, residual read, 1 written: (k + 3) h; backward reads 2
 *            gradients and k outputs, writes 1 + k: (2 k + 3) h
 */
static void streaming_kernels_have_their_bytes(void **state)
{
    static const struct {
        const char *id;
        double elements;
    } rows[] = {
        {"forward.7.half0.permute", 7 * 2048},
        {"forward.7.half0.route", 2 * 64},
        {"forward.7.half1.sort", 12 * 2048},
        {"forward.7.half1.unsort", 12 * 2048},
        {"forward.7.half0.expert.activation", 18 * 1408},
        {"forward.7.half0.shared.activation", 6 * 1408},
        {"forward.7.half0.output", 9 * 2048},
        {"backward.7.half0.permute.grad", 8 * 2048},
        {"backward.7.half0.expert.activation.grad", 30 * 1408},
        {"backward.7.half0.output.grad", 15 * 2048},
    };
    const struct model_workload *w =
        read_with(*state, "deepseek-moe-16b-ep", NULL, 0);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_op *op =
            op_of(w, model_arena_format(*state, "step0.%s", rows[i].id));

        assert_int_equal(op->kind, MODEL_OP_ELEMENTWISE);
        assert_near_ratio(op->bytes, 4096 * rows[i].elements * 2, 1e-12);
    }
}

/* Half of the sequences; dense layers and the head have all at once. */
static void halves_are_half_of_the_batch(void **state)
{
    const struct model_workload *w =
        read_with(*state, "deepseek-moe-16b-ep", NULL, 0);

    assert_near(op_of(w, "step0.forward.0.attention")->attention.batch, 2, 0);
    assert_near(op_of(w, "step0.forward.0.up")->n, 2 * 10944, 0);
    assert_near(op_of(w, "step0.forward.0.up")->m, 8192, 0);
    assert_near(op_of(w, "step0.forward.1.half0.attention")->attention.batch, 1,
                0);
    assert_near(op_of(w, "step0.forward.1.half0.qkv")->m, 4096, 0);
    assert_near(op_of(w, "step0.forward.1.half0.router")->n, 64, 0);
    assert_near(op_of(w, "step0.head.0.logits")->m, 8192, 0);
}

/* An op of a half of a layer, such as ("forward", 7, 0, "dispatch"). */
static int half_op(struct model_arena *arena,
                   const struct model_workload *w,
                   const char *pass,
                   int layer,
                   int half,
                   const char *name)
{
    return fixture_op(w, model_arena_format(arena, "step0.%s.%d.half%d.%s",
                                            pass, layer, half, name));
}

struct link {
    const char *pass, *name;
    int layer;
    const char *other;
};

/*
 * What a half's all_to_all waits for, and what waits for it, at layer 7. With
 * experts of its own a rank sorts first; shared experts wait for nothing.
 */
static void halves_wait_for_their_own(void **state)
{
    static const struct link links[] = {
        {"forward", "dispatch", 7, "permute"},
        {"forward", "sort", 7, "dispatch"},
        {"forward", "combine", 7, "unsort"},
        {"forward", "output", 7, "combine"},
        {"backward", "combine.grad", 7, "output.grad"},
        {"backward", "unsort.grad", 7, "combine.grad"},
        {"backward", "dispatch.grad", 7, "sort.grad"},
        {"backward", "permute.grad", 7, "dispatch.grad"},
    };
    const struct model_workload *w =
        read_with(*state, "deepseek-moe-16b-ep", NULL, 0);

    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < FIXTURE_COUNT(links); i++) {
            int op = half_op(*state, w, links[i].pass, links[i].layer, half,
                             links[i].name);
            int other = half_op(*state, w, links[i].pass, links[i].layer, half,
                                links[i].other);

            assert_int_equal(w->ops[op].after_count, 1);
            assert_true(lowered_waits(w, op, other));
        }
        assert_int_equal(
            w->ops[half_op(*state, w, "forward", 7, half, "shared.up")]
                .after_count,
            0);
    }
    lowered_expect_wait(w, "gradients.common", "step0.backward.0.norm1.grad");
    lowered_expect_wait(w, "optimizer.adamw", "gradients.common");
}

/*
 * The order of launches, so that each all_to_all is beside the other half:
 * after half 0's attention, half 1's; then the experts; then the shared ones
 * and the next layer's attention. (The lists are in order, forward, layer 7.)
 */
static void halves_take_turns(void **state)
{
    const struct model_workload *w =
        read_with(*state, "deepseek-moe-16b-ep", NULL, 0);
    const int forward[] = {half_op(*state, w, "forward", 7, 0, "norm1"),
                           half_op(*state, w, "forward", 7, 0, "dispatch"),
                           half_op(*state, w, "forward", 6, 1, "shared.up"),
                           half_op(*state, w, "forward", 6, 1, "output"),
                           half_op(*state, w, "forward", 7, 1, "norm1"),
                           half_op(*state, w, "forward", 7, 1, "dispatch"),
                           half_op(*state, w, "forward", 7, 0, "expert.up"),
                           half_op(*state, w, "forward", 7, 0, "combine"),
                           half_op(*state, w, "forward", 7, 1, "expert.up"),
                           half_op(*state, w, "forward", 7, 1, "combine"),
                           half_op(*state, w, "forward", 7, 0, "shared.up"),
                           half_op(*state, w, "forward", 7, 0, "output"),
                           half_op(*state, w, "forward", 8, 0, "norm1")};
    const int backward[] = {
        half_op(*state, w, "backward", 7, 0, "combine.grad"),
        half_op(*state, w, "backward", 8, 1, "norm1.grad"),
        half_op(*state, w, "backward", 7, 1, "combine.grad"),
        half_op(*state, w, "backward", 7, 0, "expert.up.wgrad"),
        half_op(*state, w, "backward", 7, 0, "dispatch.grad"),
        half_op(*state, w, "backward", 7, 1, "expert.up.wgrad"),
        half_op(*state, w, "backward", 7, 1, "dispatch.grad"),
        half_op(*state, w, "backward", 7, 0, "shared.up.wgrad"),
        half_op(*state, w, "backward", 7, 0, "permute.grad"),
        half_op(*state, w, "backward", 7, 0, "norm1.grad"),
        half_op(*state, w, "backward", 6, 0, "combine.grad")};

    for (int i = 1; i < FIXTURE_COUNT(forward); i++) {
        assert_true(forward[i - 1] < forward[i]);
    }
    for (int i = 1; i < FIXTURE_COUNT(backward); i++) {
        assert_true(backward[i - 1] < backward[i]);
    }
}

/* Four windows of halves, each with one size of all_to_all; and the rest. The
   all_reduce is beside nothing, so that no kernel may share its window. */
static void windows_hold_what_overlaps(void **state)
{
    static const struct {
        const char *name;
        int exchanges;
    } windows[] = {
        {"fwd.attn", 54},   {"fwd.expert", 54}, {"bwd.attn", 54},
        {"bwd.expert", 54}, {"root", 0},        {"gradients", 0},
    };
    const struct model_workload *w =
        read_with(*state, "deepseek-moe-16b-ep", NULL, 0);
    int ops = 0;

    for (int i = 0; i < FIXTURE_COUNT(windows); i++) {
        int exchanges = 0;

        for (int op = 0; op < w->op_count; op++) {
            if (strcmp(w->ops[op].window, windows[i].name) == 0) {
                ops++;
                exchanges += w->ops[op].kind == MODEL_OP_ALL_TO_ALL ? 1 : 0;
            }
        }
        assert_int_equal(exchanges, windows[i].exchanges);
    }
    assert_int_equal(ops, w->op_count);
    for (int op = 0; op < w->op_count; op++) {
        bool alone = strcmp(w->ops[op].window, "gradients") == 0;

        assert_int_equal(alone, w->ops[op].kind == MODEL_OP_ALL_REDUCE);
    }
}

/*
 * Two groups of 8 share the experts of 16 ranks: each expert is twice there,
 * and its gradients are added up over ranks r and r + 8: an all_reduce of 27 x
 * 8 experts.
 */
static void experts_may_be_copies(void **state)
{
    static const char *const sets[] = {"parallel.expert_ranks=8"};
    const struct model_workload *w = lowered_read(
        *state, machine(*state, "lagom-a"), "deepseek-moe-16b-ep", sets, 1);
    const struct model_op *gradients = op_of(w, "gradients.experts");
    const struct model_group *copies = &w->groups[gradients->group];
    const struct model_op *dispatch =
        op_of(w, "step0.forward.1.half0.dispatch");

    assert_near(gradients->bytes, 2.0 * 27 * 8 * 8650752, 0);
    assert_int_equal(copies->count, 2);
    assert_int_equal(copies->stride, 8);
    assert_true(copies->family);
    assert_int_equal(w->groups[dispatch->group].count, 8);
    assert_true(w->groups[dispatch->group].family);
    assert_near(dispatch->bytes, 100663296, 0);
    assert_int_equal(w->groups[op_of(w, "gradients.common")->group].count, 16);
}

/* Gradients of several steps are added up at the end, once. */
static void steps_reduce_once(void **state)
{
    static const char *const sets[] = {"batch.steps=3"};
    const struct model_workload *w =
        read_with(*state, "olmoe-1b-7b-ep", sets, 1);

    assert_int_equal(lowered_count(w, MODEL_OP_ALL_TO_ALL), 3 * 128);
    assert_int_equal(lowered_count(w, MODEL_OP_ALL_REDUCE), 1);
    lowered_expect_wait(w, "gradients.common",
                        "step2.backward.0.half1.norm1.grad");
}

/* Layers, dense ones, shared experts and ranks that are few: all is there. */
static void small_models_work(void **state)
{
    static const char *const sets[] = {
        "model.layers=1", "model.shared_experts=1", "batch.sequence=16"};
    const struct model_workload *w =
        read_with(*state, "olmoe-1b-7b-ep", sets, 3);

    assert_int_equal(lowered_count(w, MODEL_OP_ALL_TO_ALL), 8);
    assert_near(op_of(w, "step0.forward.0.half0.shared.down")->k, 1024, 0);
    assert_near(op_of(w, "step0.forward.0.half0.expert.up")->rows[0], 16, 0);
    /* One rank has all experts, and sorts. */
    w = lowered_read(*state, machine(*state, "1x1 gpu:h100"), "olmoe-1b-7b-ep",
                     sets, 3);
    assert_int_equal(op_of(w, "step0.forward.0.half0.expert.up")->row_count,
                     64);
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

static double iteration_us(struct model_arena *arena,
                           const struct model_topology *topology,
                           const struct model_workload *w,
                           bool all_ranks)
{
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(arena, topology, w),
                                  .all_ranks = all_ranks};

    return fixture_simulate(arena, &request).iteration_us;
}

/* One rank for all and each of them agree, over nodes and groups too. */
static void folded_is_as_all_ranks(void **state)
{
    static const struct {
        const char *machine, *ranks;
    } rows[] = {
        {"lagom-a-1node", "parallel.expert_ranks=8"},
        {"lagom-b-1node", "parallel.expert_ranks=4"},
        {"lagom-a", "parallel.expert_ranks=16"},
        {"2x8 gpu:h100 nvswitch nic:8x400Gbit/s", "parallel.expert_ranks=8"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *sets[] = {"model.layers=3", rows[i].ranks};
        const struct model_topology *topology =
            machine(*state, rows[i].machine);
        const struct model_workload *w =
            lowered_read(*state, topology, "deepseek-moe-16b-ep", sets, 2);

        assert_near_ratio(iteration_us(*state, topology, w, true),
                          iteration_us(*state, topology, w, false), 1e-9);
    }
}

/*
 * The halves overlap: where an all_to_all takes less than the kernels beside
 * it, an iteration is that of the kernels and little more. Without a partner
 * are a half's ends alone, 4 of 216: the last output forward, the first
 * gradients, and the last ones.
 */
static void exchanges_hide(void **state)
{
    const struct model_topology *topology = machine(*state, "dgx-h100-1node");
    const struct model_workload *w =
        lowered_read(*state, topology, "deepseek-moe-16b-ep", NULL, 0);
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(*state, topology, w)};
    struct sim_result result = fixture_simulate(*state, &request);
    double exchange_us = 0;
    double kernel_us = 0;

    for (int i = 0; i < w->op_count; i++) {
        double us = result.ops[i].end_us - result.ops[i].start_us;

        exchange_us += w->ops[i].kind == MODEL_OP_ALL_TO_ALL ? us : 0;
        kernel_us += w->ops[i].kind == MODEL_OP_ALL_TO_ALL ? 0 : us;
    }
    assert_true(result.iteration_us < kernel_us + exchange_us * 0.1);
}

struct bad {
    const char *workload, *sets[3], *key, *message;
};

static void bad_models_are_refused(void **state)
{
    static const struct bad rows[] = {
        {"phi-2-fsdp", {"model.experts=8"}, "model.experts", "only ep"},
        {"phi-2-fsdp", {"parallel.kind=ep"}, "model.experts", "ep is for"},
        {"phi-2-fsdp",
         {"parallel.expert_ranks=8"},
         "parallel.expert_ranks",
         "fsdp has no such key"},
        {"phi-2-fsdp", {"model.top_k=2"}, "model.experts", "without experts"},
        {"olmoe-1b-7b-ep", {"model.top_k=0"}, "model.top_k", "not so many"},
        {"olmoe-1b-7b-ep", {"model.top_k=65"}, "model.top_k", "not so many"},
        {"olmoe-1b-7b-ep",
         {"model.dense_layers=16"},
         "model.dense_layers",
         "no layer"},
        {"olmoe-1b-7b-ep", {"model.experts=63"}, "model.experts", "divide"},
        {"olmoe-1b-7b-ep",
         {"parallel.expert_ranks=3"},
         "parallel.expert_ranks",
         "divide"},
        {"olmoe-1b-7b-ep", {"batch.micro=3"}, "batch.micro", "halves"},
        {"olmoe-1b-7b-ep",
         {"batch.sequence=15", "model.top_k=3"},
         "batch.sequence",
         "divide"},
        {"olmoe-1b-7b-ep",
         {"batch={micro: 2, steps: 100000, sequence: 128, simulate: all}"},
         "batch.steps",
         "operations"},
        {"olmoe-1b-7b-ep", {"model.experts=-1"}, "model.experts", ""},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;
        int sets = 0;

        while (sets < 3 && rows[i].sets[sets] != NULL) {
            sets++;
        }
        assert_int_equal(
            model_workload_read(*state, rows[i].workload, rows[i].sets, sets,
                                machine(*state, "lagom-a-1node"), &w, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_models),
        cmocka_unit_test(counts_and_bytes_of_collectives),
        cmocka_unit_test(experts_share_the_tokens),
        cmocka_unit_test(gemms_do_6_flops_a_parameter_and_token),
        cmocka_unit_test(streaming_kernels_have_their_bytes),
        cmocka_unit_test(halves_are_half_of_the_batch),
        cmocka_unit_test(halves_wait_for_their_own),
        cmocka_unit_test(halves_take_turns),
        cmocka_unit_test(windows_hold_what_overlaps),
        cmocka_unit_test(experts_may_be_copies),
        cmocka_unit_test(steps_reduce_once),
        cmocka_unit_test(small_models_work),
        cmocka_unit_test(waits_lead_back),
        cmocka_unit_test(folded_is_as_all_ranks),
        cmocka_unit_test(exchanges_hide),
        cmocka_unit_test(bad_models_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
