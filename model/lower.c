/*
 * lower.c - the model form of a workload: keys, and which lowering takes it.
 */
#include "model/moe.h"

#include <limits.h>

const char *const model_parallel_names[] = {"fsdp", "ep", "tp",
                                            "dp",   "pp", NULL};

/* By parallelism: how it is lowered, and kernels and collectives of a layer
   and step at most. */
static const struct {
    void (*lower)(struct model_builder *builder,
                  const struct model_transformer *transformer,
                  int rank_count);
    double layer_ops;
} lowerings[] = {{model_lower_fsdp, 40.0},
                 {model_lower_ep, 120.0},
                 {model_lower_tp, 60.0},
                 {model_lower_tp, 30.0},
                 {model_lower_pp, 60.0}};

#define AT(member) offsetof(struct model_transformer, member)

#define COUNT(name, member, high, text)                                        \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = 1, .max = (high), .required = true,       \
        .help = (text)                                                         \
    }

/* Left out: 0. */
#define SOME(name, member, high, text)                                         \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = 0, .max = (high), .help = (text)          \
    }

#define FLAG(name, member, fallback, text)                                     \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_BOOL, .offset = AT(member),         \
        .default_text = (fallback), .help = (text)                             \
    }

const struct model_field model_architecture_fields[] = {
    COUNT("hidden", hidden, 1e6, "width of the residual stream"),
    COUNT("layers", layers, 1e4, "decoder layers"),
    COUNT("heads", heads, 1e4, "query heads"),
    COUNT("kv_heads", kv_heads, 1e4, "key and value heads"),
    {.key = "head_width",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(head_width),
     .min = 1,
     .max = 1e5,
     .help = "width of a head; hidden / heads when left out"},
    COUNT("ffn", ffn, 1e6, "width of the feed-forward network"),
    COUNT("vocabulary", vocabulary, 1e7, "tokens known"),
    SOME("experts", experts, 1e5, "of a layer with experts (kind ep only)"),
    SOME("top_k", top_k, 1e5, "experts that a token goes to"),
    SOME("expert_ffn", expert_ffn, 1e6, "width of an expert; ffn if left out"),
    SOME("shared_experts",
         shared_experts,
         1e5,
         "experts of the same width that every token goes to"),
    SOME("dense_layers",
         dense_layers,
         1e4,
         "layers at the start that have no experts, but ffn"),
    SOME("q_rank", q_rank, 1e6, "latent attention (MLA): of the queries"),
    SOME("kv_rank", kv_rank, 1e6, "latent attention: of keys and values"),
    SOME("position_width",
         position_width,
         1e5,
         "latent attention: what queries and keys have beside head_width"),
    FLAG("gated_ffn", gated_ffn, "false", "two up projections (SwiGLU)"),
    FLAG("tied_embedding",
         tied_embedding,
         "false",
         "the head shares the embedding's weights"),
    {.key = "type",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(type),
     .choices = model_type_names,
     .default_text = "bf16",
     .help = "type of weights, activations and gradients"},
    {.key = NULL}};

const struct model_field model_parallel_fields[] = {
    {.key = "kind",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(parallel),
     .choices = model_parallel_names,
     .required = true,
     .help = "fsdp: sharded over all ranks; ep: experts spread over ranks, "
             "two halves of the batch in turns; tp: layers cut over ranks, and "
             "replicas of them; dp: a replica on each rank; pp: tp, and layers "
             "spread over stages"},
    SOME("expert_ranks",
         expert_ranks,
         16777216,
         "ep: ranks that share the experts; all if left out"),
    FLAG("forward_prefetch",
         forward_prefetch,
         "true",
         "fsdp: gather the next layer under this one"),
    FLAG("backward_prefetch",
         backward_prefetch,
         "true",
         "fsdp: gather the next layer before this one's gradients"),
    SOME("size", shards, 16777216, "tp, pp: ranks that share each layer"),
    {.key = "stages",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(stages),
     .min = 1,
     .max = 1e4,
     .default_text = "1",
     .help = "pp: parts of the layers, one behind another (1F1B)"},
    FLAG("overlap_sends",
         overlap_sends,
         "false",
         "pp: activations and gradients are sent beside the next micro-batch"),
    FLAG("domino",
         domino,
         "true",
         "tp, pp: two halves of the batch in turns, so that they overlap"),
    {.key = "bucket",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(bucket_bytes),
     .default_text = "80 MB",
     .help = "tp, pp, dp: gradients that are reduced together, at least"},
    {.key = NULL}};

/* Keys of `parallel` that only some kinds have. */
static const struct {
    const char *key;
    int kinds; /* bits, 1 << enum model_parallel */
} owners[] = {{"expert_ranks", 1 << MODEL_EP},
              {"forward_prefetch", 1 << MODEL_FSDP},
              {"backward_prefetch", 1 << MODEL_FSDP},
              {"size", 1 << MODEL_TP | 1 << MODEL_PP},
              {"domino", 1 << MODEL_TP | 1 << MODEL_PP},
              {"stages", 1 << MODEL_PP},
              {"overlap_sends", 1 << MODEL_PP},
              {"bucket", 1 << MODEL_TP | 1 << MODEL_DP | 1 << MODEL_PP}};

static const char *const simulate_names[] = {"steady", "all", NULL};

const struct model_field model_batch_fields[] = {
    COUNT(
        "micro",
        micro_batch,
        1e6,
        "sequences per rank (tp, pp: per replica) and step; an even number for "
        "ep and domino"),
    {.key = "steps",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(steps),
     .min = 1,
     .max = 1e5,
     .help = "steps per iteration"},
    {.key = "global",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(global),
     .min = 1,
     .max = 1e9,
     .help = "instead of steps: sequences per iteration, of all replicas"},
    COUNT("sequence", sequence, 1e8, "tokens of a sequence"),
    {.key = "simulate",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(simulate),
     .choices = simulate_names,
     .default_text = "steady",
     .help =
         "steady: of many equal steps a few, which stand for all; all: each "
         "(as with jitter)"},
    {.key = NULL}};

/* Bind one of the three mappings. */
static enum model_status bind_part(struct model_builder *builder,
                                   const struct model_node *root,
                                   const char *key,
                                   const struct model_field *fields,
                                   struct model_transformer *transformer,
                                   struct model_errors *errors)
{
    struct model_binding binding = {
        .arena = builder->arena, .errors = errors, .path = key};
    const struct model_node *part = model_node_find(root, key);

    if (part == NULL) {
        return model_errors_add(errors, MODEL_BAD_INPUT, root->place, key,
                                "a workload with model: needs parallel: "
                                "and batch: too",
                                "required key is missing");
    }
    return model_schema_bind(&binding, fields, part, transformer);
}

static enum model_status check(const struct model_node *root,
                               const struct model_transformer *transformer,
                               struct model_errors *errors)
{
    const struct model_node *model = model_node_find(root, "model");

    if (transformer->kv_heads < 1 ||
        transformer->heads % transformer->kv_heads != 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, model->place,
                                "model.kv_heads", "write a divisor of heads",
                                "%d heads do not divide over %d kv_heads",
                                transformer->heads, transformer->kv_heads);
    }
    if ((transformer->kv_rank > 0) != (transformer->q_rank > 0) ||
        (transformer->position_width > 0 && transformer->kv_rank == 0)) {
        return model_errors_add(errors, MODEL_BAD_INPUT, model->place,
                                "model.kv_rank", "write q_rank and kv_rank",
                                "latent attention has both ranks");
    }
    if (transformer->kv_rank > 0 && transformer->parallel != MODEL_EP &&
        transformer->parallel != MODEL_FSDP) {
        return model_errors_add(errors, MODEL_BAD_INPUT, model->place,
                                "model.kv_rank", "write kind: ep or fsdp",
                                "%s cannot cut latent attention",
                                model_parallel_names[transformer->parallel]);
    }
    if (transformer->head_width == 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, model->place,
                                "model.heads", "write head_width",
                                "hidden does not divide over heads");
    }
    return MODEL_OK;
}

static enum model_status check_owners(const struct model_node *root,
                                      const struct model_transformer *t,
                                      struct model_errors *errors)
{
    const struct model_node *parallel = model_node_find(root, "parallel");

    for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
        const struct model_node *node =
            model_node_find(parallel, owners[i].key);

        if (node != NULL && (owners[i].kinds >> t->parallel & 1) == 0) {
            return model_errors_add(
                errors, MODEL_BAD_INPUT, node->key_place,
                model_arena_format(errors->arena, "parallel.%s", node->key),
                "leave it out", "%s has no such key",
                model_parallel_names[t->parallel]);
        }
    }
    return MODEL_OK;
}

/* Ops that the lowering would make, before it makes them. */
static enum model_status check_size(const struct model_node *root,
                                    const struct model_transformer *transformer,
                                    struct model_errors *errors)
{
    double step = lowerings[transformer->parallel].layer_ops *
                  transformer->layers / transformer->stages;
    double ops = step * (model_steps_listed(transformer) + transformer->stages);
    double heads = (double)transformer->micro_batch * transformer->heads *
                   transformer->sequence;

    if (heads > INT_MAX) {
        return model_errors_add(errors, MODEL_BAD_INPUT, root->place,
                                "batch.micro", "write smaller sizes",
                                "sequences times heads times tokens give %.0f "
                                "rows of attention",
                                heads);
    }
    if (ops > 1e7 || step * transformer->steps > 1e9) {
        return model_errors_add(errors, MODEL_BAD_INPUT, root->place,
                                "batch.steps", "write fewer steps or layers",
                                "layers times steps give %.0f operations",
                                step * transformer->steps);
    }
    return MODEL_OK;
}

enum model_status model_lower(struct model_builder *builder,
                              const struct model_node *root,
                              const struct model_topology *topology,
                              struct model_errors *errors)
{
    struct model_transformer transformer = {.hidden = 0};
    int rank_count = model_topology_rank_count(topology);
    int before = errors->count;

    (void)bind_part(builder, root, "model", model_architecture_fields,
                    &transformer, errors);
    (void)bind_part(builder, root, "parallel", model_parallel_fields,
                    &transformer, errors);
    (void)bind_part(builder, root, "batch", model_batch_fields, &transformer,
                    errors);
    if (topology->variation.jitter_ratio > 0.0) {
        transformer.simulate = MODEL_SIMULATE_ALL;
    }
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    if (transformer.head_width == 0 && transformer.heads > 0 &&
        transformer.hidden % transformer.heads == 0) {
        transformer.head_width = transformer.hidden / transformer.heads;
    }
    if (check(root, &transformer, errors) != MODEL_OK ||
        check_owners(root, &transformer, errors) != MODEL_OK ||
        model_moe_check(root, &transformer, rank_count, errors) != MODEL_OK ||
        model_tp_check(root, &transformer, rank_count, errors) != MODEL_OK ||
        model_pp_check(root, &transformer, rank_count, errors) != MODEL_OK ||
        model_steps_check(root, &transformer,
                          rank_count / transformer.shards / transformer.stages,
                          errors) != MODEL_OK ||
        check_size(root, &transformer, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    builder->workload->parallelism = model_parallel_names[transformer.parallel];
    lowerings[transformer.parallel].lower(builder, &transformer, rank_count);
    return MODEL_OK;
}
