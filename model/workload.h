/*
 * workload.h - what one iteration executes: operations on streams.
 *
 * A workload file has one of two forms. The op form lists the operations (see
 * workload_ops.c for the keys). The model form gives architecture, parallelism
 * and batch, and is lowered to the same list (transformer.h, fsdp.c, ep.c).
 * Every rank runs the list; collectives join the ranks of their group.
 */
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#include "model/attention.h"
#include "model/claim.h"
#include "model/collective.h"
#include "model/config.h"
#include "model/gemm.h"
#include "model/streaming.h"

enum model_op_kind {
    MODEL_OP_GEMM,
    MODEL_OP_KERNEL,
    MODEL_OP_MEMORY,
    MODEL_OP_GROUPED_GEMM,
    MODEL_OP_ATTENTION,
    MODEL_OP_ELEMENTWISE,
    MODEL_OP_NORM,
    MODEL_OP_OPTIMIZER,
    MODEL_OP_COPY,
    MODEL_OP_ALL_GATHER,
    MODEL_OP_REDUCE_SCATTER,
    MODEL_OP_ALL_REDUCE,
    MODEL_OP_BROADCAST,
    MODEL_OP_REDUCE,
    MODEL_OP_ALL_TO_ALL,
    MODEL_OP_SEND_RECV,
    MODEL_OP_SEND,
    MODEL_OP_RING_STEP,
    MODEL_OP_KINDS
};

extern const char *const model_op_names[MODEL_OP_KINDS + 1];

/* One operation. Texts and arrays live in the workload's arena. */
struct model_op {
    const char *id;
    const char *window;    /* overlap window it belongs to, or NULL */
    int kind;              /* enum model_op_kind */
    int stream;            /* index */
    int type;              /* enum model_type */
    int schedule;          /* enum model_schedule */
    int kernel_class;      /* enum model_kernel_class */
    double m, n, k, batch; /* gemm; grouped_gemm: n, k */
    const double *rows;    /* grouped_gemm: m of each group */
    int row_count;         /* grouped_gemm */
    int tile_m, tile_n;    /* gemms; 0: by the rule */
    int split_k;           /* gemms; 0: by the rule */
    struct model_attention attention; /* attention */
    int sm_limit;                     /* 0: none */
    int ctas, ctas_per_sm;      /* kernel; ctas_per_sm 0: what fits, or 1 */
    int cta_threads;            /* kernel; 0: CTAs take their SM whole */
    int cta_registers;          /* kernel: per thread */
    double cta_shared_bytes;    /* kernel */
    double flops;               /* of a computation; gemm: not set */
    double bytes;               /* of a computation: HBM, gemm: not set;
                                   collective: size */
    int group;                  /* collective: index */
    int shift;                  /* send_recv, send: see collective.h */
    struct model_config config; /* collective: fixed keys, others unset */
    double start_us;            /* not before this time */
    const int *after;           /* indices of ops that must be done */
    int after_count;
    bool spins;               /* collective: waits for `after` on the device */
    struct model_place place; /* in the file, for messages */
};

struct model_stream {
    const char *name;
    int priority; /* larger first, among kernels that wait for SMs */
};

/*
 * Equal steps of an iteration of which one is listed. Ops from first up to end
 * stand for `repeats` steps in a row, one of them themselves; the step before,
 * of as many ops, is equal too. Without equal steps all is 0.
 */
struct model_cycle {
    int first, end; /* ops */
    int repeats;
    int steps; /* of the iteration; listed: steps + 1 - repeats */
};

struct model_workload {
    const char *name;
    const char *label; /* as the user named it on the command line */
    struct model_op *ops;
    int op_count;
    struct model_stream *streams;
    int stream_count;
    struct model_group *groups;
    int group_count;
    struct model_cycle cycle;
    const char *parallelism;  /* of the model form, such as "fsdp", or NULL */
    struct model_list claims; /* of struct model_claim */
    const struct model_node *tree; /* the YAML as read, with overrides */
};

static inline bool model_op_is_collective(const struct model_op *op)
{
    return op->kind >= MODEL_OP_ALL_GATHER;
}

/* The collective's kind; the op must be one. */
static inline enum model_collective_kind
model_op_collective(const struct model_op *op)
{
    return (enum model_collective_kind)(op->kind - MODEL_OP_ALL_GATHER);
}

/*
 * Read a workload file (a path, or the name of a shipped one) for a topology:
 * the model form needs it for the number of ranks. Faults go to errors.
 */
enum model_status model_workload_read(struct model_arena *arena,
                                      const char *file,
                                      const char *const *overrides,
                                      int override_count,
                                      const struct model_topology *topology,
                                      struct model_workload *workload,
                                      struct model_errors *errors);

/* The same from a tree that was read already. root is changed. */
enum model_status model_workload_bind(struct model_arena *arena,
                                      struct model_node *root,
                                      const char *label,
                                      const char *const *overrides,
                                      int override_count,
                                      const struct model_topology *topology,
                                      struct model_workload *workload,
                                      struct model_errors *errors);

/* How many equal ops of the iteration an op stands for, itself among them: what
   sums over ops weigh it by. */
double model_workload_repeats(const struct model_workload *workload, int op);

/* The kernel of a computation op on a GPU. */
struct model_kernel model_op_kernel(const struct model_op *op,
                                    const struct model_gpu *gpu);

/* Keys of a workload file, for help. */
extern const struct model_field model_workload_fields[];

#endif
