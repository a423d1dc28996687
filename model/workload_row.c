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
    COUNT("n", n, 1e9, NULL, "gemm: columns"),
    COUNT("k", k, 1e9, NULL, "gemm: inner dimension"),
    COUNT("batch", batch, 1e6, "1", "gemm: how many"),
    {.key = "tile",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = AT(tile),
     .help = "gemm: [rows, columns] of the output tile"},
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
             "collective: the whole buffer, as nccl-tests count it"),
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
    QUANTITY("start", MODEL_TIME, op.start_us, "not before this time"),
    COUNT("repeat",
          repeat,
          MODEL_REPEAT_MAX,
          "1",
          "how often, one after another"),
    {.key = NULL}};

enum family {
    GEMM = 1,
    KERNEL = 2,
    MEMORY = 4,
    COLLECTIVE = 8, /* of a group */
    SEND_RECV = 16,
    SEND = 32,
    TRANSFER = COLLECTIVE | SEND_RECV | SEND
};

/* Which kinds of op must have a key, and which may. */
static const struct rule {
    const char *key;
    int needed_by, allowed_in;
} rules[] = {{"m", GEMM, GEMM},
             {"n", GEMM, GEMM},
             {"k", GEMM, GEMM},
             {"batch", 0, GEMM},
             {"tile", 0, GEMM},
             {"type", 0, GEMM | KERNEL},
             {"schedule", 0, GEMM | KERNEL},
             {"sm_limit", 0, GEMM | KERNEL | MEMORY},
             {"class", 0, KERNEL},
             {"ctas", KERNEL, KERNEL},
             {"ctas_per_sm", 0, KERNEL},
             {"cta_threads", 0, KERNEL},
             {"cta_registers", 0, KERNEL},
             {"cta_shared", 0, KERNEL},
             {"flops", 0, KERNEL},
             {"hbm", MEMORY, KERNEL | MEMORY},
             {"size", TRANSFER, TRANSFER},
             {"group", 0, COLLECTIVE | SEND_RECV},
             {"shift", 0, SEND_RECV},
             {"from", SEND, SEND},
             {"to", SEND, SEND},
             {"algorithm", 0, TRANSFER},
             {"protocol", 0, TRANSFER},
             {"transport", 0, TRANSFER},
             {"channels", 0, TRANSFER},
             {"threads", 0, TRANSFER},
             {"chunk", 0, TRANSFER}};

static enum family family_of(int kind)
{
    switch ((enum model_op_kind)kind) {
    case MODEL_OP_GEMM:
        return GEMM;
    case MODEL_OP_KERNEL:
        return KERNEL;
    case MODEL_OP_MEMORY:
        return MEMORY;
    case MODEL_OP_SEND_RECV:
        return SEND_RECV;
    case MODEL_OP_SEND:
        return SEND;
    default:
        return COLLECTIVE;
    }
}

bool model_op_row_rule(int index, int kind, struct model_op_rule *rule)
{
    int count = (int)(sizeof(rules) / sizeof(rules[0]));
    int family = (int)family_of(kind);

    if (index >= count) {
        return false;
    }
    *rule = (struct model_op_rule){
        .key = rules[index].key,
        .needed = (rules[index].needed_by & family) != 0,
        .allowed = (rules[index].allowed_in & family) != 0};
    return true;
}
