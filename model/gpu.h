/*
 * gpu.h - what one GPU can do: the content of topologies/gpu/NAME.yaml.
 *
 * Only numbers that a data sheet or a measurement of one GPU gives, each with
 * its source in the file. The formulas that use them are in kernel.h, gemm.h,
 * attention.h, streaming.h and channel.h.
 */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "model/schema.h"

/* Element types of operands. */
enum model_type { MODEL_BF16, MODEL_FP16, MODEL_FP32, MODEL_FP8, MODEL_TYPES };

extern const char *const model_type_names[MODEL_TYPES + 1];

/* Bytes of one element. */
double model_type_bytes(enum model_type type);

/* What a kernel does most; decides which fraction of the peak it reaches. */
enum model_kernel_class {
    MODEL_CLASS_GEMM,
    MODEL_CLASS_ATTENTION,
    MODEL_CLASS_VECTOR,
    MODEL_KERNEL_CLASSES
};

extern const char *const model_kernel_class_names[MODEL_KERNEL_CLASSES + 1];

/* What one CTA asks of an SM. */
struct model_cta {
    int threads;
    int registers; /* per thread */
    double shared_bytes;
};

/* An output tile that the GEMM library has kernels for. */
struct model_gemm_tile {
    int rows, columns;
    struct model_cta cta;
    double ratio;       /* share of the large tile's arithmetic rate */
    int ctas_per_sm;    /* that one SM holds; from the limits, at least 1 */
    const char *source; /* of the tile and its CTA */
};

struct model_gpu {
    const char *name;
    int compute_capability;       /* 86 for sm_86 */
    struct model_list device_ids; /* of const char *: "10de:2235" */
    int sm_count;

    /* Limits of one SM. */
    int sm_threads;
    int sm_registers;
    int sm_ctas;
    double sm_shared_bytes;
    int sm_register_granule;  /* a warp's registers are a multiple; 0: as 1 */
    double sm_reserved_bytes; /* shared memory that each CTA costs besides */
    double sm_bytes_per_us;   /* most one SM moves to or from memory */

    /* Dense peak by element type; 0: the GPU has no such unit. */
    double peak_flops_per_us[MODEL_TYPES];
    double vector_flops_per_us; /* fp32 outside the tensor cores */
    double class_ratio[MODEL_KERNEL_CLASSES]; /* achieved share of the peak */

    /* How GEMMs are tiled (gemm.h). */
    struct model_list gemm_tiles;    /* of struct model_gemm_tile, at least one;
                                        those whose CTA fits into an SM */
    double gemm_overhead_us;         /* of a CTA: fill, prologue, epilogue */
    double gemm_narrow_bytes_per_us; /* of an SM by 2-byte accesses */
    int gemm_split_k; /* K of one split at least; 0: never splits */

    /* Fused attention: rows of a CTA's tile, and the CTA (attention.h). */
    int attention_rows;
    struct model_cta attention_cta;
    const char *attention_source;
    struct model_cta streaming_cta; /* element-wise kernels (streaming.h) */
    const char *streaming_source;

    double hbm_bytes_per_us; /* data-sheet rate */
    double hbm_ratio;        /* achieved share of it */
    double hbm_latency_us;   /* load to use */
    double hbm_bytes;        /* capacity */
    double l2_bytes;
    double l2_latency_us; /* load to use of what is in L2; 0: not known */

    /* How a NCCL CTA moves data (channel.h). */
    double warp_bytes;                 /* in flight of one warp, Simple */
    double channel_issue_bytes_per_us; /* SM issue limit of one CTA */
    double channel_bytes_per_us;       /* cap of one channel */
    double sync_us; /* fence, flag and barrier of a slice, Simple */
    /* CTA time per byte of recvReduceSend, and of a send with a recv, relative
     * to recvCopySend */
    double reduce_ratio, exchange_ratio;
    double ll_warp_bytes, ll_sync_us; /* the same two with protocol LL */
    double ll128_warp_bytes, ll128_sync_us;
    double
        ll128_link_ratio; /* share of NVLink's rate that it reaches; 0: all */
    /* What a NCCL kernel takes outside its steps, by protocol, and with NVLS.
     */
    double start_us, ll_start_us, ll128_start_us, nvls_start_us;
    double nvls_ratio;  /* share of NVLink's rate that NVLS reaches; 0: none */
    int nccl_registers; /* per thread of a NCCL kernel */
    double nccl_shared_bytes; /* per CTA of a NCCL kernel */

    /* DMA engines; rate 0: the file does not say. */
    double copy_bytes_per_us; /* all engines together, one direction */
    double copy_launch_us;    /* until one copy moves */

    double launch_us; /* from ready to running on the device */
    double issue_us;  /* CPU time between two launches of one rank */

    const struct model_node *sources; /* names to texts */
    const struct model_node *nvlink;  /* defaults for topologies, or NULL */
    const struct model_node *pcie;
};

/*
 * Bind the root mapping of a GPU file. Reports all faults; the result is
 * valid only on MODEL_OK. Texts are borrowed from the tree.
 */
enum model_status model_gpu_bind(const struct model_binding *binding,
                                 const struct model_node *root,
                                 struct model_gpu *gpu);

/* The table of keys, for help. */
extern const struct model_field model_gpu_fields[];

#endif
