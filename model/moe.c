/*
 * moe.c - a mixture-of-experts layer as rows of parts, stage by stage.
 */
#include "model/moe.h"

#include <math.h>

static struct model_part gemm(const char *name, double columns, double inner)
{
    return (struct model_part){name, MODEL_PART_GEMM, .columns = columns,
                               .inner = inner};
}

static struct model_part
activation(const char *name, const struct model_transformer *t, double columns)
{
    double g = t->gated_ffn ? 2.0 : 1.0;

    return (struct model_part){
        name,          MODEL_PART_ELEMENTWISE, .columns = columns, .reads = g,
        .writes = 1.0, .grad_reads = g + 1.0,  .grad_writes = g};
}

static void add(struct model_stage *stage, struct model_part part)
{
    stage->parts[stage->count++] = part;
}

static struct model_stage attention(const struct model_transformer *t)
{
    struct model_stage stage = {.count = 0};
    double k = t->top_k;

    stage.count = model_transformer_rows(t, false, stage.parts);
    add(&stage, gemm("router", t->experts, t->hidden));
    add(&stage,
        (struct model_part){"route", MODEL_PART_ELEMENTWISE,
                            .columns = t->experts, .reads = 1.0, .writes = 1.0,
                            .grad_reads = 2.0, .grad_writes = 1.0});
    add(&stage, (struct model_part){
                    "permute", MODEL_PART_ELEMENTWISE, .columns = t->hidden,
                    .reads = 1.0, .writes = k,
                    .grad_reads = k + (t->shared_experts > 0 ? 1.0 : 0.0),
                    .grad_writes = 1.0});
    return stage;
}

/* A copy of all rows in another order. */
static struct model_part reorder(const char *name,
                                 const struct model_transformer *t)
{
    double k = t->top_k;

    return (struct model_part){
        name,        MODEL_PART_ELEMENTWISE, .columns = t->hidden, .reads = k,
        .writes = k, .grad_reads = k,        .grad_writes = k};
}

/* Copies of a rank's tokens of one micro-batch. */
static double copies(const struct model_transformer *t)
{
    return (double)t->micro_batch * t->sequence * t->top_k;
}

static struct model_stage
experts(struct model_arena *arena, const struct model_transformer *t, int local)
{
    struct model_stage stage = {.count = 0};
    double *rows = model_arena_array(arena, (size_t)local, sizeof(*rows));
    double f = t->expert_ffn;
    struct model_part up = {"expert.up",
                            MODEL_PART_GROUPED,
                            .columns = (t->gated_ffn ? 2.0 : 1.0) * f,
                            .inner = t->hidden,
                            .rows = rows,
                            .groups = local};
    struct model_part down = {"expert.down",        MODEL_PART_GROUPED,
                              .columns = t->hidden, .inner = f,
                              .rows = rows,         .groups = local};

    for (int i = 0; i < local; i++) {
        rows[i] = copies(t) / local;
    }
    if (local > 1) {
        add(&stage, reorder("sort", t));
    }
    add(&stage, up);
    add(&stage, activation("expert.activation", t, t->top_k * f));
    add(&stage, down);
    if (local > 1) {
        add(&stage, reorder("unsort", t));
    }
    return stage;
}

static struct model_stage shared(const struct model_transformer *t)
{
    struct model_stage stage = {.count = 0};
    double f = (double)t->shared_experts * t->expert_ffn;

    if (t->shared_experts > 0) {
        add(&stage,
            gemm("shared.up", (t->gated_ffn ? 2.0 : 1.0) * f, t->hidden));
        add(&stage, activation("shared.activation", t, f));
        add(&stage, gemm("shared.down", t->hidden, f));
    }
    return stage;
}

static struct model_stage output(const struct model_transformer *t)
{
    struct model_stage stage = {.count = 0};
    double k = t->top_k;

    add(&stage,
        (struct model_part){
            "output", MODEL_PART_ELEMENTWISE, .columns = t->hidden,
            .reads = k + (t->shared_experts > 0 ? 2.0 : 1.0), .writes = 1.0,
            .grad_reads = k + 2.0, .grad_writes = k + 1.0});
    return stage;
}

struct model_moe model_moe_layer(struct model_arena *arena,
                                 const struct model_transformer *t,
                                 int local_experts)
{
    return (struct model_moe){.attention = attention(t),
                              .experts = experts(arena, t, local_experts),
                              .shared = shared(t),
                              .output = output(t)};
}

double model_moe_common_parameters(const struct model_moe *moe)
{
    return model_parts_parameters(moe->attention.parts, moe->attention.count) +
           model_parts_parameters(moe->shared.parts, moe->shared.count);
}

double model_moe_expert_parameters(const struct model_moe *moe)
{
    return model_parts_parameters(moe->experts.parts, moe->experts.count);
}

double model_moe_copies_bytes(const struct model_transformer *t)
{
    return copies(t) * t->hidden * model_type_bytes((enum model_type)t->type);
}

/* -- checks -- */

/* A fault of the model form; part: its mapping, key: below that. */
struct fault {
    bool present;
    const char *part, *key, *hint, *message;
};

static struct fault first_of(const struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (faults[i].present) {
            return faults[i];
        }
    }
    return (struct fault){.present = false};
}

/* Keys that do not go together. */
static struct fault keys_fault(const struct model_transformer *t)
{
    bool ep = t->parallel == MODEL_EP;
    bool some = t->experts > 0;
    const struct fault faults[] = {
        {some && !ep, "model", "experts", "write parallel: {kind: ep}",
         "only ep spreads experts over ranks"},
        {ep && !some, "model", "experts", "write experts: 8 and top_k: 2",
         "ep is for models with experts"},
        {!some && (t->top_k > 0 || t->expert_ffn > 0 || t->shared_experts > 0 ||
                   t->dense_layers > 0),
         "model", "experts", "write how many experts there are",
         "keys of experts without experts"},
        {some && (t->top_k < 1 || t->top_k > t->experts), "model", "top_k",
         "write a number from 1 to experts", "not so many of the experts"},
        {some && t->dense_layers >= t->layers, "model", "dense_layers",
         "write less than layers", "no layer has experts"}};

    return first_of(faults, sizeof(faults) / sizeof(faults[0]));
}

/* Ranks and batch that do not divide; t has all keys. */
static struct fault division_fault(const struct model_transformer *t,
                                   int rank_count)
{
    double rows = (double)t->micro_batch / 2.0 * t->sequence * t->top_k;
    int local = t->experts / t->expert_ranks;
    const struct fault faults[] = {
        {rank_count % t->expert_ranks != 0, "parallel", "expert_ranks",
         "write a divisor of the ranks", "ranks do not divide into groups"},
        {t->experts % t->expert_ranks != 0, "model", "experts",
         "write expert_ranks: with a divisor of them",
         "experts do not divide over the ranks"},
        {t->micro_batch % 2 != 0, "batch", "micro", "write an even number",
         "the batch is run in two halves of whole sequences"},
        {local > 0 && fmod(rows, local) > 0.0, "batch", "sequence",
         "write a multiple of a rank's experts",
         "tokens do not divide over the experts"}};

    return first_of(faults, sizeof(faults) / sizeof(faults[0]));
}

static enum model_status report(const struct model_node *root,
                                const struct fault *fault,
                                struct model_errors *errors)
{
    const struct model_node *part = model_node_find(root, fault->part);
    const struct model_node *node = model_node_find(part, fault->key);

    return model_errors_add(
        errors, MODEL_BAD_INPUT, node != NULL ? node->place : part->place,
        model_arena_format(errors->arena, "%s.%s", fault->part, fault->key),
        fault->hint, "%s", fault->message);
}

enum model_status model_moe_check(const struct model_node *root,
                                  struct model_transformer *t,
                                  int rank_count,
                                  struct model_errors *errors)
{
    struct fault fault = keys_fault(t);

    if (fault.present) {
        return report(root, &fault, errors);
    }
    if (t->experts == 0) {
        return MODEL_OK;
    }
    t->expert_ffn = t->expert_ffn > 0 ? t->expert_ffn : t->ffn;
    t->expert_ranks = t->expert_ranks > 0 ? t->expert_ranks : rank_count;
    fault = division_fault(t, rank_count);
    return fault.present ? report(root, &fault, errors) : MODEL_OK;
}
