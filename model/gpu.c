/*
 * gpu.c - the table of keys of a GPU file.
 *
 * Nothing here knows a number of any GPU: ranges in the table only refuse
 * what no GPU can be.
 */
#include "model/gpu.h"

#include "model/occupancy.h"

const char *const model_type_names[] = {"bf16", "fp16", "fp32", "fp8", NULL};

const char *const model_kernel_class_names[] = {"gemm", "attention", "vector",
                                                NULL};

double model_type_bytes(enum model_type type)
{
    static const double bytes[MODEL_TYPES] = {2.0, 2.0, 4.0, 1.0};

    return bytes[type];
}

#define AT(member) offsetof(struct model_gpu, member)

#define QUANTITY(name, dim, member, text)                                      \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (dim),       \
        .offset = AT(member), .min = (dim) == MODEL_TIME ? 0.0 : 1.0,          \
        .max = (dim) == MODEL_TIME ? 1e12 : 0.0, .required = true,             \
        .sourced = true, .help = (text)                                        \
    }

#define OPTIONAL_RATE(name, member)                                            \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY,                           \
        .dimension = MODEL_FLOP_RATE, .offset = AT(member), .min = 1.0,        \
        .sourced = true, .help = "dense peak; leave out where there is none"   \
    }

#define RATIO(name, member, text)                                              \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_RATIO, \
        .offset = AT(member), .min = 0.01, .max = 1.0, .required = true,       \
        .sourced = true, .help = (text)                                        \
    }

#define COUNT(name, member, low, high, text)                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = (low), .max = (high), .required = true,   \
        .sourced = true, .help = (text)                                        \
    }

#define PART(name, table, text)                                                \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_STRUCT, .fields = (table),          \
        .required = true, .help = (text)                                       \
    }

#define WORK(name, member, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_RATIO, \
        .offset = AT(member), .min = 0.1, .max = 10.0, .required = true,       \
        .sourced = true, .help = "CTA time a byte over recvCopySend's: " text  \
    }

#define OPTIONAL_COUNT(name, member, high, text)                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = 1, .max = (high), .sourced = true,        \
        .help = (text)                                                         \
    }

static const struct model_field sm_fields[] = {
    COUNT("count", sm_count, 1, 4096, "streaming multiprocessors"),
    COUNT("threads", sm_threads, 32, 8192, "threads resident on one SM"),
    COUNT("registers", sm_registers, 1024, 1048576, "32-bit registers"),
    COUNT("ctas", sm_ctas, 1, 256, "CTAs resident on one SM"),
    QUANTITY("shared",
             MODEL_BYTES,
             sm_shared_bytes,
             "shared memory of one SM that kernels may use"),
    OPTIONAL_COUNT("register_granule",
                   sm_register_granule,
                   4096,
                   "registers of a warp are a multiple of it (1)"),
    {.key = "shared_reserved",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(sm_reserved_bytes),
     .max = 65536.0,
     .sourced = true,
     .help = "shared memory each CTA costs beside what it asks for (none)"},
    QUANTITY("rate",
             MODEL_RATE,
             sm_bytes_per_us,
             "most that one SM moves to or from memory"),
    {.key = NULL}};

static const struct model_field peak_fields[] = {
    OPTIONAL_RATE("bf16", peak_flops_per_us[MODEL_BF16]),
    OPTIONAL_RATE("fp16", peak_flops_per_us[MODEL_FP16]),
    OPTIONAL_RATE("fp32", peak_flops_per_us[MODEL_FP32]),
    OPTIONAL_RATE("fp8", peak_flops_per_us[MODEL_FP8]),
    QUANTITY("vector",
             MODEL_FLOP_RATE,
             vector_flops_per_us,
             "fp32 rate outside the tensor cores"),
    {.key = NULL}};

static const struct model_field achieved_fields[] = {
    RATIO("gemm",
          class_ratio[MODEL_CLASS_GEMM],
          "share of the peak that large GEMMs reach while a wave runs"),
    RATIO("attention",
          class_ratio[MODEL_CLASS_ATTENTION],
          "the same for fused attention"),
    RATIO(
        "vector", class_ratio[MODEL_CLASS_VECTOR], "share of the vector peak"),
    {.key = NULL}};

/* A key of a CTA, whose origin is told once for all of them. */
#define CTA_COUNT(name, place, low, high, text)                                \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = (place), .min = (low), .max = (high), .required = true,      \
        .help = (text)                                                         \
    }

#define CTA_FIELDS(place)                                                      \
    CTA_COUNT("threads", (place) + offsetof(struct model_cta, threads), 32,    \
              1024, "threads of one CTA"),                                     \
        CTA_COUNT("registers",                                                 \
                  (place) + offsetof(struct model_cta, registers), 1, 255,     \
                  "per thread"),                                               \
    {                                                                          \
        .key = "shared", .kind = MODEL_FIELD_QUANTITY,                         \
        .dimension = MODEL_BYTES,                                              \
        .offset = (place) + offsetof(struct model_cta, shared_bytes),          \
        .required = true, .help = "shared memory of one CTA"                   \
    }

#define SOURCE(place)                                                          \
    {                                                                          \
        .key = "source", .kind = MODEL_FIELD_TEXT, .offset = (place),          \
        .required = true, .help = "where the CTA's numbers are from"           \
    }

#define TILE(member) offsetof(struct model_gemm_tile, member)

static const struct model_field tile_fields[] = {
    CTA_COUNT("rows", TILE(rows), 1, 1024, "rows of the output tile"),
    CTA_COUNT("columns", TILE(columns), 1, 1024, "columns of it"),
    CTA_FIELDS(TILE(cta)),
    SOURCE(TILE(source)),
    {.key = "ratio",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = TILE(ratio),
     .min = 0.01,
     .max = 1.0,
     .required = true,
     .sourced = true,
     .help = "share of achieved.gemm that the tile sustains"},
    {.key = NULL}};

static const struct model_field gemm_fields[] = {
    {.key = "tiles",
     .kind = MODEL_FIELD_LIST,
     .fields = tile_fields,
     .item_bytes = sizeof(struct model_gemm_tile),
     .offset = AT(gemm_tiles),
     .required = true,
     .help = "tiles that the library has; it takes the fastest"},
    QUANTITY("overhead",
             MODEL_TIME,
             gemm_overhead_us,
             "prologue, pipeline fill and epilogue of a CTA"),
    QUANTITY("narrow_rate",
             MODEL_RATE,
             gemm_narrow_bytes_per_us,
             "most that one SM loads by 2-byte accesses, where rows are not "
             "aligned to 16 bytes"),
    COUNT("split_k", gemm_split_k, 1, 1e9, "least K of a part of split K"),
    {.key = NULL}};

static const struct model_field attention_fields[] = {
    CTA_COUNT("rows",
              AT(attention_rows),
              1,
              1024,
              "rows of queries (backward: of keys) of a CTA"),
    CTA_FIELDS(AT(attention_cta)),
    SOURCE(AT(attention_source)),
    {.key = NULL}};

static const struct model_field streaming_fields[] = {
    CTA_FIELDS(AT(streaming_cta)), SOURCE(AT(streaming_source)), {.key = NULL}};

static const struct model_field hbm_fields[] = {
    QUANTITY("rate", MODEL_RATE, hbm_bytes_per_us, "data-sheet bandwidth"),
    RATIO("achieved", hbm_ratio, "share of it that streaming kernels reach"),
    QUANTITY("latency", MODEL_TIME, hbm_latency_us, "load to use"),
    QUANTITY("capacity", MODEL_BYTES, hbm_bytes, "memory size"),
    {.key = NULL}};

static const struct model_field ll_fields[] = {
    QUANTITY("warp_in_flight",
             MODEL_BYTES,
             ll_warp_bytes,
             "payload one warp keeps in flight"),
    QUANTITY("sync", MODEL_TIME, ll_sync_us, "of one step, without the path"),
    QUANTITY(
        "start", MODEL_TIME, ll_start_us, "of a kernel, outside its steps"),
    {.key = NULL}};

static const struct model_field ll128_fields[] = {
    QUANTITY("warp_in_flight",
             MODEL_BYTES,
             ll128_warp_bytes,
             "payload one warp keeps in flight"),
    QUANTITY(
        "sync", MODEL_TIME, ll128_sync_us, "of one step, without the path"),
    QUANTITY(
        "start", MODEL_TIME, ll128_start_us, "of a kernel, outside its steps"),
    {.key = "link",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(ll128_link_ratio),
     .min = 0.01,
     .max = 1.0,
     .sourced = true,
     .help = "share of NVLink's rate that its lines reach, flags included (1)"},
    {.key = NULL}};

static const struct model_field nvls_fields[] = {
    RATIO(
        "link", nvls_ratio, "share of NVLink's rate that its traffic reaches"),
    QUANTITY(
        "start", MODEL_TIME, nvls_start_us, "of a kernel, outside its steps"),
    {.key = NULL}};

static const struct model_field copy_fields[] = {
    QUANTITY("rate",
             MODEL_RATE,
             copy_bytes_per_us,
             "of all engines together, one direction"),
    QUANTITY("launch", MODEL_TIME, copy_launch_us, "until one copy moves"),
    {.key = NULL}};

static const struct model_field channel_fields[] = {
    QUANTITY("warp_in_flight",
             MODEL_BYTES,
             warp_bytes,
             "bytes one warp of a Simple kernel keeps in flight"),
    QUANTITY("issue_rate",
             MODEL_RATE,
             channel_issue_bytes_per_us,
             "rate of one CTA when the path has no latency"),
    QUANTITY("rate", MODEL_RATE, channel_bytes_per_us, "cap of one channel"),
    QUANTITY("sync",
             MODEL_TIME,
             sync_us,
             "fence, flag and barrier of one slice, without the path"),
    WORK("reduce", reduce_ratio, "recvReduceSend"),
    WORK("exchange", exchange_ratio, "a send and a recv"),
    QUANTITY("start",
             MODEL_TIME,
             start_us,
             "what a NCCL kernel takes before its first step and after its "
             "last"),
    PART("ll", ll_fields, "protocol LL: a flag beside each 8 bytes"),
    PART("ll128", ll128_fields, "protocol LL128: a flag in each 128 bytes"),
    {.key = "nvls",
     .kind = MODEL_FIELD_STRUCT,
     .fields = nvls_fields,
     .help =
         "reduction and multicast in the NVSwitch; leave out where there is "
         "none"},
    COUNT("registers", nccl_registers, 1, 255, "per thread of NCCL kernels"),
    QUANTITY("shared",
             MODEL_BYTES,
             nccl_shared_bytes,
             "shared memory of one CTA of NCCL kernels"),
    {.key = NULL}};

static const struct model_field launch_fields[] = {
    QUANTITY("latency",
             MODEL_TIME,
             launch_us,
             "from ready to running, kernels queued on a stream"),
    QUANTITY("interval",
             MODEL_TIME,
             issue_us,
             "CPU time between two launches of one rank"),
    {.key = NULL}};

const struct model_field model_gpu_fields[] = {
    {.key = "name",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(name),
     .required = true,
     .help = "name for reports"},
    {.key = "compute_capability",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(compute_capability),
     .min = 60,
     .max = 200,
     .required = true,
     .help = "86 for sm_86"},
    {.key = "device_ids",
     .kind = MODEL_FIELD_TEXTS,
     .offset = AT(device_ids),
     .help = "as lspci -nn and pci.ids have them: [\"10de:2235\", ...]; by "
             "them an import knows the GPU"},
    {.key = "sources",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(sources),
     .help = "mapping from short names to where numbers come from"},
    PART("sm", sm_fields, "one streaming multiprocessor"),
    PART("peak", peak_fields, "arithmetic rates of the whole GPU"),
    PART("achieved", achieved_fields, "shares of the peak by kernel class"),
    PART("gemm", gemm_fields, "how GEMMs are tiled"),
    PART("attention", attention_fields, "how fused attention is tiled"),
    PART("streaming", streaming_fields, "CTAs of element-wise kernels"),
    PART("hbm", hbm_fields, "device memory"),
    {.key = "l2",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(l2_bytes),
     .min = 1.0,

     .required = true,
     .sourced = true,
     .help = "second-level cache"},
    {.key = "l2_latency",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_TIME,
     .offset = AT(l2_latency_us),
     .max = 1e12,
     .sourced = true,
     .help = "load to use of what is in it (as memory)"},
    PART("channel", channel_fields, "how a NCCL CTA moves data"),
    {.key = "copy_engine",
     .kind = MODEL_FIELD_STRUCT,
     .fields = copy_fields,
     .help = "DMA engines, for collectives that take no SM"},
    PART("launch", launch_fields, "kernel launches"),
    {.key = "pcie",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(pcie),
     .help = "default PCIe generation for topologies (see there)"},
    {.key = "nvlink",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(nvlink),
     .help = "default NVLink rate and latency for topologies (see there)"},
    {.key = NULL}};

/* Keep the tiles whose CTA fits into an SM. */
static void fit_tiles(struct model_gpu *gpu)
{
    struct model_gemm_tile *tiles = gpu->gemm_tiles.items;
    int count = 0;

    for (int i = 0; i < gpu->gemm_tiles.count; i++) {
        tiles[i].ctas_per_sm = model_occupancy(gpu, &tiles[i].cta);
        if (tiles[i].ctas_per_sm > 0) {
            tiles[count++] = tiles[i];
        }
    }
    gpu->gemm_tiles.count = count;
}

enum model_status model_gpu_bind(const struct model_binding *binding,
                                 const struct model_node *root,
                                 struct model_gpu *gpu)
{
    const struct model_node *tiles =
        model_node_find(model_node_find(root, "gemm"), "tiles");
    enum model_status status =
        model_schema_bind(binding, model_gpu_fields, root, gpu);

    if (status == MODEL_OK) {
        fit_tiles(gpu);
    }
    if (status == MODEL_OK && gpu->gemm_tiles.count == 0) {
        return model_errors_add(
            binding->errors, MODEL_BAD_INPUT, tiles->place, "gpu.gemm.tiles",
            "write one whose CTA fits into an SM",
            tiles->count > 0 ? "no tile fits into an SM" : "the list is empty");
    }
    return status;
}
