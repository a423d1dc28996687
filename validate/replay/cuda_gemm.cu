/*
 * cuda_gemm.cu - matrix products by cuBLASLt.
 *
 * C[m x n] = A[m x k] B[k x n] row by row is C' = B' A' column by column, so
 * B comes first. FP8 is taken with K running along both operands, the one form
 * that Hopper has, and gives bf16. The first algorithm that the heuristics
 * name is used, as frameworks do.
 */
#include "validate/replay/cuda_parts.h"

enum { TYPE_BF16, TYPE_FP16, TYPE_FP32, TYPE_FP8 };

struct types {
    cudaDataType_t in, out;
    cublasComputeType_t compute;
    double in_bytes, out_bytes;
};

static struct types types_of(int type)
{
    switch (type) {
    case TYPE_FP16:
        return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2.0, 2.0};
    case TYPE_FP32:
        return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4.0, 4.0};
    case TYPE_FP8:
        return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1.0, 2.0};
    default:
        return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2.0, 2.0};
    }
}

/* One product of m x n x k, `batch` of them side by side. */
struct shape {
    long long m, n, k;
    int batch;
};

static bool set_batch(cublasLtMatrixLayout_t layout,
                      int batch,
                      long long stride,
                      struct replay_fault *fault)
{
    return BLAS_GOOD(cublasLtMatrixLayoutSetAttribute(
                         layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                         sizeof(batch)),
                     fault) &&
           BLAS_GOOD(cublasLtMatrixLayoutSetAttribute(
                         layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                         &stride, sizeof(stride)),
                     fault);
}

static bool make_layout(cublasLtMatrixLayout_t *layout,
                        cudaDataType_t type,
                        long long rows,
                        long long columns,
                        int batch,
                        struct replay_fault *fault)
{
    return BLAS_GOOD(cublasLtMatrixLayoutCreate(layout, type, (uint64_t)rows,
                                                (uint64_t)columns, rows),
                     fault) &&
           set_batch(*layout, batch, rows * columns, fault);
}

static bool describe(struct replay_product *product,
                     const struct shape *shape,
                     int type,
                     int sm_limit,
                     struct replay_fault *fault)
{
    struct types types = types_of(type);
    cublasOperation_t turned = CUBLAS_OP_T;
    bool k_first = type == TYPE_FP8;
    bool good =
        BLAS_GOOD(cublasLtMatmulDescCreate(&product->operation, types.compute,
                                           CUDA_R_32F),
                  fault) &&
        make_layout(&product->a, types.in, k_first ? shape->k : shape->n,
                    k_first ? shape->n : shape->k, shape->batch, fault) &&
        make_layout(&product->b, types.in, shape->k, shape->m, shape->batch,
                    fault) &&
        make_layout(&product->c, types.out, shape->n, shape->m, shape->batch,
                    fault);

    if (good && k_first) {
        good = BLAS_GOOD(cublasLtMatmulDescSetAttribute(
                             product->operation, CUBLASLT_MATMUL_DESC_TRANSA,
                             &turned, sizeof(turned)),
                         fault);
    }
    if (good && sm_limit > 0) {
        good = BLAS_GOOD(
            cublasLtMatmulDescSetAttribute(product->operation,
                                           CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
                                           &sm_limit, sizeof(sm_limit)),
            fault);
    }
    return good;
}

static bool choose(struct replay_device *device,
                   struct replay_product *product,
                   struct replay_fault *fault)
{
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found = {};
    size_t workspace = REPLAY_WORKSPACE_BYTES;
    int count = 0;
    bool good =
        BLAS_GOOD(cublasLtMatmulPreferenceCreate(&preference), fault) &&
        BLAS_GOOD(cublasLtMatmulPreferenceSetAttribute(
                      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                      &workspace, sizeof(workspace)),
                  fault) &&
        BLAS_GOOD(cublasLtMatmulAlgoGetHeuristic(
                      device->blas, product->operation, product->a, product->b,
                      product->c, product->c, preference, 1, &found, &count),
                  fault) &&
        replay_good(count > 0, "cublasLtMatmulAlgoGetHeuristic",
                    "no kernel for this product", __FILE__, __LINE__, fault);

    if (preference != NULL) {
        (void)cublasLtMatmulPreferenceDestroy(preference);
    }
    product->algorithm = found.algo;
    return good;
}

static bool add_product(struct replay_device *device,
                        struct replay_made *made,
                        const struct shape *shape,
                        struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    struct types types = types_of(work->type);
    double batch = shape->batch;
    struct replay_product *product;

    made->products.emplace_back();
    product = &made->products.back();
    *product = {};
    if (!describe(product, shape, work->type, work->sm_limit, fault) ||
        !choose(device, product, fault)) {
        return false;
    }
    product->a_data = replay_buffer(device, made,
                                    batch * (double)shape->n *
                                        (double)shape->k * types.in_bytes,
                                    work->type, fault);
    product->b_data = product->a_data == NULL
                          ? NULL
                          : replay_buffer(device, made,
                                          batch * (double)shape->m *
                                              (double)shape->k * types.in_bytes,
                                          work->type, fault);
    product->c_data =
        product->b_data == NULL
            ? NULL
            : replay_buffer(device, made,
                            batch * (double)shape->m * (double)shape->n *
                                types.out_bytes,
                            -1, fault);
    return product->c_data != NULL;
}

bool replay_gemm_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    struct shape shape = {(long long)work->m, (long long)work->n,
                          (long long)work->k, (int)work->batch};

    if (made->rows.empty()) {
        return add_product(device, made, &shape, fault);
    }
    shape.batch = 1;
    for (double rows : made->rows) {
        shape.m = (long long)rows;
        if (shape.m > 0 && !add_product(device, made, &shape, fault)) {
            return false;
        }
    }
    return true;
}

static bool workspace_of(struct replay_device *device,
                         int stream,
                         void **workspace,
                         struct replay_fault *fault)
{
    void **kept = &device->workspaces[(size_t)stream];
    bool good = *kept != NULL ||
                CUDA_GOOD(cudaMalloc(kept, REPLAY_WORKSPACE_BYTES), fault);

    *workspace = *kept;
    return good;
}

bool replay_gemm_launch(struct replay_device *device,
                        struct replay_made *made,
                        int stream,
                        struct replay_fault *fault)
{
    const float one = 1.0f, zero = 0.0f;
    void *workspace = NULL;
    cudaStream_t on;

    if (!replay_stream(device, stream, &on, fault) ||
        !workspace_of(device, stream, &workspace, fault)) {
        return false;
    }
    for (const struct replay_product &product : made->products) {
        if (!BLAS_GOOD(cublasLtMatmul(device->blas, product.operation, &one,
                                      product.a_data, product.a, product.b_data,
                                      product.b, &zero, product.c_data,
                                      product.c, product.c_data, product.c,
                                      &product.algorithm, workspace,
                                      REPLAY_WORKSPACE_BYTES, on),
                       fault)) {
            return false;
        }
    }
    return true;
}

void replay_gemm_free(struct replay_made *made)
{
    for (struct replay_product &product : made->products) {
        if (product.operation != NULL) {
            (void)cublasLtMatmulDescDestroy(product.operation);
        }
        for (cublasLtMatrixLayout_t layout :
             {product.a, product.b, product.c}) {
            if (layout != NULL) {
                (void)cublasLtMatrixLayoutDestroy(layout);
            }
        }
    }
    made->products.clear();
}
