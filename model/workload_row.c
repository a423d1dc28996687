/*
 * workload_row.c - the tables of keys and rules of an operation.
 */
#include "model/workload_row.h"

#define AT(member) offsetof(struct model_op_row, member)

#define COUNT(name, member, high, fallback, text)                              \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = 1, .max = (high),                         \
        .default_text = (fallback), .help = (text)                             \
    }

#define QUANTITY(name, dim, member, text)                                      \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (dim),       \
        .offset = AT(member), .max = 1e18, .help = (text)                      \
    }

#define RANK(name, member, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .max = 16777216, .help = (text)                  \
    }

/* A whole number that an int may not hold. */
#define NUMBER(name, member, text)                                             \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_COUNT, \
        .offset = AT(member), .min = 1.0, .max = 1e15, .help = (text)          \
    }

#define FLAG(name, member, fallback, text)                                     \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_BOOL, .offset = AT(member),         \
        .default_text = (fallback), .help = (text)                             \
    }

#define CHOICE(name, member, names, fallback, text)                            \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_CHOICE, .offset = AT(member),       \
        .choices = (names), .default_text = (fallback), .help = (text)         \
    }

#define TEXT(name, member, fallback, text)                                     \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_TEXT, .offset = AT(member),         \
        .default_text = (fallback), .help = (text)                             \
    }

const struct model_field model_op_row_fields[] = {
    {.key = "id",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(op.id),
     .required = true,
     .help = "unique name"},
    {.key = "kind",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(op.kind),
     .choices = model_op_names,
     .required = true,
     .help = "what it does"},
    TEXT("stream", stream, NULL, "runs in order with others of its stream"),
    TEXT("window", op.window, NULL, "overlap window, for tuning"),
    CHOICE("type", op.type, model_type_names, "bf16", "element type"),
    CHOICE("schedule",
           op.schedule,
           model_schedule_names,
           "waves",
           "how CTAs are placed"),
    CHOICE("class",
           op.kernel_class,
           model_kernel_class_names,
           "gemm",
           "which share of the peak a kernel reaches"),
    COUNT("m", m, 1e9, NULL, "gemm: rows"),
    COUNT("n", n, 1e9, NULL, "gemms: columns"),
    COUNT("k", k, 1e9, NULL, "gemms: inner dimension"),
    COUNT("batch", batch, 1e6, "1", "gemm, attention: how many"),
    {.key = "rows",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .one_or_more = true,
     .offset = AT(rows),
     .max = 1e9,
     .help = "norm: rows; grouped_gemm: those of each group, [256, 512]"},
    {.key = "tile",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = AT(tile),
     .help = "gemms: [rows, columns] of the output tile; else the fastest"},
    COUNT("split_k",
          op.split_k,
          1024,
          NULL,
          "gemms: CTAs that share the K of a tile; else the fastest"),
    COUNT("heads", heads, 1e5, NULL, "attention: of queries"),
    COUNT("kv_heads", kv_heads, 1e5, NULL, "attention: of keys; else heads"),
    COUNT("sequence", sequence, 1e9, NULL, "attention: queries"),
    COUNT("keys", keys, 1e9, NULL, "attention: else as many as queries"),
    COUNT("head_width", head_width, 65536, NULL, "attention: of one head"),
    FLAG("causal", causal, "true", "attention: none sees later keys"),
    FLAG("backward", backward, "false", "attention, norm: the gradients"),
    FLAG("residual", residual, "false", "norm: of a sum that is written too"),
    NUMBER("elements", elements, "elementwise: elements of the type"),
    COUNT("reads", reads, 64, "1", "elementwise: operands read"),
    COUNT("writes", writes, 64, "1", "elementwise: results written"),
    COUNT("columns", columns, 1e9, NULL, "norm: elements of a row"),
    NUMBER("parameters", parameters, "optimizer: weights it updates"),
    {.key = "sm_limit",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(op.sm_limit),
     .min = 1,
     .max = 4096,
     .help = "SMs it may use"},
    COUNT("ctas", op.ctas, 1e9, NULL, "kernel: size of the grid"),
    COUNT("ctas_per_sm",
          op.ctas_per_sm,
          32,
          NULL,
          "kernel: at most so many on an SM (what fits, or 1)"),
    COUNT("cta_threads",
          op.cta_threads,
          1024,
          NULL,
          "kernel: of one CTA; left out, a load has its SM to itself"),
    COUNT("cta_registers", op.cta_registers, 255, NULL, "kernel: per thread"),
    QUANTITY("cta_shared",
             MODEL_BYTES,
             op.cta_shared_bytes,
             "kernel: shared memory of one CTA"),
    QUANTITY("flops", MODEL_FLOPS, op.flops, "kernel: of the whole grid"),
    QUANTITY("hbm", MODEL_BYTES, hbm, "kernel, memory: HBM bytes of all"),
    QUANTITY("size",
             MODEL_BYTES,
             size,
             "copy: bytes; collective: the whole buffer, as nccl-tests count "
             "it; ring_step: the buffer of its GPU"),
    TEXT("group", group, NULL, "collective: world, node or one of groups"),
    CHOICE("algorithm",
           op.config.algorithm,
           model_algorithm_names,
           NULL,
           "collective: fixed choice"),
    CHOICE("protocol",
           op.config.protocol,
           model_protocol_names,
           NULL,
           "collective: fixed choice"),
    CHOICE("transport",
           op.config.transport,
           model_transport_names,
           NULL,
           "collective: fixed choice"),
    COUNT("channels", op.config.channels, 1024, NULL, "collective: CTAs"),
    {.key = "threads",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(op.config.threads),
     .min = 32,
     .max = 1024,
     .help = "collective: worker threads of a CTA"},
    {.key = "chunk",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(op.config.chunk_bytes),
     .min = 16.0,
     .max = 1073741824.0,
     .help = "collective: moved per ring step and channel"},
    COUNT("shift",
          op.shift,
          16777216,
          "1",
          "send_recv: to the member so many further in the group"),
    RANK("from", from, "send: the rank that sends"),
    RANK("to", to, "send: the rank that receives"),
    {.key = "after",
     .kind = MODEL_FIELD_TEXTS,
     .offset = AT(after),
     .help = "ids of ops that must be done before"},
    {.key = "spins",
     .kind = MODEL_FIELD_BOOL,
     .offset = AT(op.spins),
     .help = "collective: true: it is launched before `after` is done and "
             "waits on the device, with its SMs held, as fused kernels do"},
    QUANTITY("start", MODEL_TIME, op.start_us, "not before this time"),
    COUNT("repeat",
          repeat,
          MODEL_REPEAT_MAX,
          "1",
          "how often, one after another"),
    {.key = NULL}};

/* Sets of kinds of op. */
enum {
    GEMM = 1 << MODEL_OP_GEMM,
    KERNEL = 1 << MODEL_OP_KERNEL,
    MEMORY = 1 << MODEL_OP_MEMORY,
    GROUPED = 1 << MODEL_OP_GROUPED_GEMM,
    ATTENTION = 1 << MODEL_OP_ATTENTION,
    ELEMENTWISE = 1 << MODEL_OP_ELEMENTWISE,
    NORM = 1 << MODEL_OP_NORM,
    OPTIMIZER = 1 << MODEL_OP_OPTIMIZER,
    COPY = 1 << MODEL_OP_COPY,
    COMPUTE = (1 << MODEL_OP_ALL_GATHER) - 1,
    TRANSFER = (1 << MODEL_OP_KINDS) - 1 - COMPUTE,
    SEND_RECV = 1 << MODEL_OP_SEND_RECV,
    SEND = 1 << MODEL_OP_SEND,
    RING_STEP = 1 << MODEL_OP_RING_STEP,
    PEERS = TRANSFER & ~RING_STEP,
    COLLECTIVE = PEERS & ~(SEND_RECV | SEND), /* of a group */
    GEMMS = GEMM | GROUPED,
    TILED = GEMMS | KERNEL | ATTENTION,
    TYPED = COMPUTE & ~(MEMORY | COPY)
};

/* Which kinds of op must have a key, and which may. */
static const struct rule {
    const char *key;
    int needed_by, allowed_in;
} rules[] = {{"m", GEMM, GEMM},
             {"n", GEMMS, GEMMS},
             {"k", GEMMS, GEMMS},
             {"batch", 0, GEMM | ATTENTION},
             {"rows", GROUPED | NORM, GROUPED | NORM},
             {"tile", 0, GEMMS},
             {"split_k", 0, GEMMS},
             {"heads", ATTENTION, ATTENTION},
             {"kv_heads", 0, ATTENTION},
             {"sequence", ATTENTION, ATTENTION},
             {"keys", 0, ATTENTION},
             {"head_width", ATTENTION, ATTENTION},
             {"causal", 0, ATTENTION},
             {"backward", 0, ATTENTION | NORM},
             {"residual", 0, NORM},
             {"elements", ELEMENTWISE, ELEMENTWISE},
             {"reads", 0, ELEMENTWISE},
             {"writes", 0, ELEMENTWISE},
             {"columns", NORM, NORM},
             {"parameters", OPTIMIZER, OPTIMIZER},
             {"type", 0, TYPED},
             {"schedule", 0, TILED},
             {"sm_limit", 0, COMPUTE},
             {"class", 0, KERNEL},
             {"ctas", KERNEL, KERNEL},
             {"ctas_per_sm", 0, KERNEL},
             {"cta_threads", 0, KERNEL},
             {"cta_registers", 0, KERNEL},
             {"cta_shared", 0, KERNEL},
             {"flops", 0, KERNEL},
             {"hbm", MEMORY, KERNEL | MEMORY},
             {"size", COPY | TRANSFER, COPY | TRANSFER},
             {"group", 0, COLLECTIVE | SEND_RECV},
             {"shift", 0, SEND_RECV},
             {"from", SEND, SEND},
             {"to", SEND, SEND},
             {"algorithm", 0, PEERS},
             {"protocol", 0, PEERS},
             {"transport", 0, PEERS},
             {"channels", 0, TRANSFER},
             {"threads", 0, TRANSFER},
             {"chunk", 0, TRANSFER},
             {"spins", 0, TRANSFER}};

bool model_op_row_rule(int index, int kind, struct model_op_rule *rule)
{
    int count = (int)(sizeof(rules) / sizeof(rules[0]));
    int set = 1 << kind;

    if (index >= count) {
        return false;
    }
    *rule =
        (struct model_op_rule){.key = rules[index].key,
                               .needed = (rules[index].needed_by & set) != 0,
                               .allowed = (rules[index].allowed_in & set) != 0};
    return true;
}
