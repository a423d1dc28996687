/*
 * workload.c - one reader for both forms of a workload file.
 */
#include "model/workload_row.h"

#include "model/files.h"
#include "model/occupancy.h"
#include "model/transformer.h"

#include <string.h>

const char *const model_op_names[] = {"gemm",
                                      "kernel",
                                      "memory",
                                      "grouped_gemm",
                                      "attention",
                                      "elementwise",
                                      "norm",
                                      "optimizer",
                                      "copy",
                                      "all_gather",
                                      "reduce_scatter",
                                      "all_reduce",
                                      "broadcast",
                                      "reduce",
                                      "all_to_all",
                                      "send_recv",
                                      "send",
                                      "ring_step",
                                      NULL};

/* The file's top level; the parts are bound by their own readers. */
struct top {
    const char *name;
    const struct model_node *ops, *streams, *groups;
    const struct model_node *model, *parallel, *batch;
    const struct model_node *published;
};

#define AT(member) offsetof(struct top, member)

/* Bound by their own readers; the table is for help. */
#define PART(name, member, table, text)                                        \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_NODE, .offset = AT(member),         \
        .fields = (table), .help = (text)                                      \
    }

const struct model_field model_workload_fields[] = {
    {.key = "name",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(name),
     .required = true,
     .help = "name for reports"},
    PART("ops", ops, model_op_row_fields, "op form: the list of operations"),
    PART("streams", streams, NULL, "op form: stream names to priorities"),
    PART("groups",
         groups,
         NULL,
         "names to lists of ranks, or {size, stride} for a pattern"),
    PART("model",
         model,
         model_architecture_fields,
         "model form: the architecture"),
    PART("parallel",
         parallel,
         model_parallel_fields,
         "model form: how it is spread over ranks"),
    PART("batch",
         batch,
         model_batch_fields,
         "model form: samples per step, and steps"),
    PART("published",
         published,
         model_claim_fields,
         "speedups that a paper reports: a claim, or a list of them"),
    {.key = NULL}};

static enum model_status check_forms(const struct top *top,
                                     const struct model_node *root,
                                     struct model_errors *errors)
{
    if ((top->ops != NULL) == (top->model != NULL)) {
        return model_errors_add(errors, MODEL_BAD_INPUT, root->place, NULL,
                                "write ops: [...], or model: {...}, "
                                "parallel: {...} and batch: {...}",
                                top->ops != NULL
                                    ? "both ops and model are given"
                                    : "neither ops nor model is given");
    }
    if (top->groups != NULL && top->groups->kind != MODEL_MAPPING) {
        return model_errors_add(errors, MODEL_BAD_INPUT, top->groups->place,
                                "groups", "write groups: {name: [0, 1]}",
                                "not a mapping");
    }
    return MODEL_OK;
}

/* Files of other kinds that are taken for workloads; NULL: it is none. */
static const char *other_kind(const struct model_node *root)
{
    if (model_node_find(root, "sets") != NULL) {
        return "write lagom-replay --mode sweep, which measures such points";
    }
    return model_node_find(root, "parameters") != NULL
               ? "write --params FILE, beside a workload"
               : NULL;
}

/* Bind all parts, however faulty the others are, so that all faults show. */
static enum model_status bind(struct model_arena *arena,
                              const struct model_node *root,
                              const struct model_topology *topology,
                              struct model_workload *workload,
                              struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    struct top top = {.name = NULL};
    struct model_builder builder;

    (void)model_schema_bind(&binding, model_workload_fields, root, &top);
    if (check_forms(&top, root, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    workload->name = top.name;
    (void)model_claims_read(arena, root, &workload->claims, errors);
    workload->tree = root;
    model_builder_start(&builder, arena, workload);
    (void)model_read_groups(&builder, top.groups, topology, errors);
    return top.ops != NULL
               ? model_read_ops(&builder, top.ops, top.streams, errors)
               : model_lower(&builder, root, topology, errors);
}

enum model_status model_workload_bind(struct model_arena *arena,
                                      struct model_node *root,
                                      const char *label,
                                      const char *const *overrides,
                                      int override_count,
                                      const struct model_topology *topology,
                                      struct model_workload *workload,
                                      struct model_errors *errors)
{
    int before = errors->count;

    memset(workload, 0, sizeof(*workload));
    workload->label = label;
    if (root->kind != MODEL_MAPPING) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, root->place, NULL,
            "write name: and ops: or model:", "not a mapping");
    }
    if (other_kind(root) != NULL) {
        return model_errors_add(errors, MODEL_BAD_INPUT, root->place, NULL,
                                other_kind(root), "is no workload");
    }
    for (int i = 0; i < override_count; i++) {
        (void)model_node_set(arena, root, overrides[i], errors);
    }
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    (void)bind(arena, root, topology, workload, errors);
    return errors->count > before ? MODEL_BAD_INPUT : MODEL_OK;
}

enum model_status model_workload_read(struct model_arena *arena,
                                      const char *file,
                                      const char *const *overrides,
                                      int override_count,
                                      const struct model_topology *topology,
                                      struct model_workload *workload,
                                      struct model_errors *errors)
{
    struct model_place nowhere = {"lagom", 0, 0};
    int before = errors->count;
    const char *path =
        model_file_find(arena, "workloads", file, nowhere, NULL, errors);
    struct model_node *root =
        path != NULL ? model_yaml_read_file(arena, path, errors) : NULL;

    if (root == NULL) {
        return MODEL_BAD_INPUT;
    }
    (void)model_workload_bind(arena, root, file, overrides, override_count,
                              topology, workload, errors);
    return errors->count > before ? MODEL_BAD_INPUT : MODEL_OK;
}

/* CTAs of a kernel that an SM runs at once. */
static int ctas_per_sm(const struct model_op *op, const struct model_gpu *gpu)
{
    struct model_cta cta = {.threads = op->cta_threads,
                            .registers = op->cta_registers,
                            .shared_bytes = op->cta_shared_bytes};
    int spread = (op->ctas + gpu->sm_count - 1) / gpu->sm_count;
    int count;

    if (op->cta_threads == 0) {
        return op->ctas_per_sm > 0 ? op->ctas_per_sm : 1;
    }
    /* A small grid is spread over all SMs before any gets a second CTA. */
    count = model_occupancy(gpu, &cta);
    count = count < spread ? count : spread;
    count = op->ctas_per_sm > 0 && op->ctas_per_sm < count ? op->ctas_per_sm
                                                           : count;
    return count > 1 ? count : 1;
}

static struct model_kernel gemm_kernel(const struct model_op *op,
                                       const struct model_gpu *gpu)
{
    struct model_gemm gemm = {.type = (enum model_type)op->type,
                              .m = op->m,
                              .n = op->n,
                              .k = op->k,
                              .batch = op->batch,
                              .groups = op->rows,
                              .group_count = op->row_count,
                              .rows = op->tile_m,
                              .columns = op->tile_n,
                              .split_k = op->split_k,
                              .schedule = (enum model_schedule)op->schedule,
                              .sm_limit = op->sm_limit};

    return model_gemm_kernel(gpu, &gemm);
}

static struct model_kernel grid_kernel(const struct model_op *op,
                                       const struct model_gpu *gpu)
{
    struct model_cta cta = {.threads = op->cta_threads,
                            .registers = op->cta_registers,
                            .shared_bytes = op->cta_shared_bytes};
    int each = ctas_per_sm(op, gpu);
    struct model_kernel kernel =
        model_kernel_grid(gpu, (enum model_type)op->type,
                          (enum model_kernel_class)op->kernel_class, op->ctas,
                          each, op->flops, op->bytes, MODEL_WAVES);

    model_kernel_set_cta(&kernel, &cta, each);
    model_kernel_schedule(&kernel, (enum model_schedule)op->schedule,
                          model_gpu_slots(gpu, op->sm_limit));
    kernel.sm_limit = op->sm_limit;
    return kernel;
}

double model_workload_repeats(const struct model_workload *workload, int op)
{
    const struct model_cycle *cycle = &workload->cycle;

    return op >= cycle->first && op < cycle->end ? cycle->repeats : 1.0;
}

struct model_kernel model_op_kernel(const struct model_op *op,
                                    const struct model_gpu *gpu)
{
    struct model_streaming streaming = {.bytes = op->bytes, .flops = op->flops};

    switch ((enum model_op_kind)op->kind) {
    case MODEL_OP_GEMM:
    case MODEL_OP_GROUPED_GEMM:
        return gemm_kernel(op, gpu);
    case MODEL_OP_KERNEL:
        return grid_kernel(op, gpu);
    case MODEL_OP_ATTENTION:
        return model_attention_kernel(
            gpu, (enum model_type)op->type, &op->attention,
            (enum model_schedule)op->schedule, op->sm_limit);
    default:
        return model_streaming_kernel(gpu, &streaming, op->sm_limit);
    }
}
