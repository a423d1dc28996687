/*
 * cuda_parts.h - what the CUDA half of lagom-replay shares (C++, for nvcc).
 *
 * cuda.cu       the device: streams, events, the hold, the table of functions
 * cuda_grid.cu  kernels of our own: grids, random data, the hold
 * cuda_step.cu  the ring step
 * cuda_gemm.cu  matrix products by cuBLASLt
 * cuda_nccl.cu  collectives by NCCL, which is loaded when it is needed; where
 *               its header is not there: cuda_nccl_none.cu
 * cuda_nvml.cu  clocks and the driver, by NVML, which is loaded if it is there
 * cuda_test.cu  the self-test
 */
#ifndef VALIDATE_REPLAY_CUDA_PARTS_H
#define VALIDATE_REPLAY_CUDA_PARTS_H

extern "C" {
#include "validate/replay/device.h"
}

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <vector>

/* Says "FILE:LINE: FUNCTION: TEXT"; false when there is an error. */
bool replay_good(bool good,
                 const char *call,
                 const char *text,
                 const char *file,
                 int line,
                 struct replay_fault *fault);

#define CUDA_GOOD(call, fault)                                                 \
    replay_cuda_good((call), #call, __FILE__, __LINE__, fault)
#define BLAS_GOOD(call, fault)                                                 \
    replay_blas_good((call), #call, __FILE__, __LINE__, fault)

bool replay_cuda_good(cudaError_t error,
                      const char *call,
                      const char *file,
                      int line,
                      struct replay_fault *fault);
bool replay_blas_good(cublasStatus_t status,
                      const char *call,
                      const char *file,
                      int line,
                      struct replay_fault *fault);

/* One product of a GEMM work, made ready. */
struct replay_product {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    const void *a_data, *b_data;
    void *c_data;
};

struct replay_made {
    struct replay_work work;
    std::vector<double> rows;    /* work.rows points here */
    std::vector<void *> buffers; /* freed with the work */
    std::vector<struct replay_product> products;
    int ctas, threads, shared_bytes; /* of kernels of our own */
    void *communicator;
};

struct replay_nccl_state; /* cuda_nccl.cu */
struct replay_nvml_state; /* cuda_nvml.cu */

enum { REPLAY_WORKSPACE_BYTES = 32 << 20 }; /* of cuBLAS, one a stream */

struct replay_device {
    const struct replay_seat *seat;
    int gpu;
    int sm_count, capability;
    size_t sm_shared_bytes, cta_shared_bytes; /* of an SM; of a CTA at most */
    int reserved_bytes;                       /* of shared memory, by CTA */
    std::vector<cudaStream_t> streams;
    std::vector<void *> workspaces; /* by stream */
    std::vector<cudaEvent_t> events;
    std::vector<struct replay_made> works;
    cublasLtHandle_t blas;
    unsigned *gate;     /* in the host's memory: ticket let through, too late */
    unsigned *gate_gpu; /* the same as the GPU sees it */
    unsigned ticket;
    bool broken; /* something failed: communicators are given up */
    struct replay_nccl_state *nccl;
    struct replay_nvml_state *nvml;
};

/* The stream of that number, made when it is first asked for. */
bool replay_stream(struct replay_device *device,
                   int stream,
                   cudaStream_t *found,
                   struct replay_fault *fault);

/* Memory that belongs to the work, filled with random numbers of a type
   (enum model_type), or with bytes of 0 for MODEL_UNSET. */
void *replay_buffer(struct replay_device *device,
                    struct replay_made *made,
                    double bytes,
                    int type,
                    struct replay_fault *fault);

/* The driver's make and launch. */
int replay_work_make(struct replay_device *device,
                     const struct replay_work *work,
                     struct replay_fault *fault);
bool replay_work_launch(struct replay_device *device,
                        int work,
                        int stream,
                        struct replay_fault *fault);

/* By kind: buffers and what else a launch needs; and the launch. */
bool replay_gemm_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault);
bool replay_gemm_launch(struct replay_device *device,
                        struct replay_made *made,
                        int stream,
                        struct replay_fault *fault);
void replay_gemm_free(struct replay_made *made);
bool replay_grid_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault);
bool replay_grid_launch(struct replay_device *device,
                        struct replay_made *made,
                        cudaStream_t stream,
                        struct replay_fault *fault);
bool replay_step_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault);
bool replay_step_launch(struct replay_device *device,
                        struct replay_made *made,
                        int stream,
                        struct replay_fault *fault);

/* As much shared memory as a CTA may have: the launch says how much it takes.
 */
bool replay_allow_shared(const struct replay_device *device,
                         const void *kernel,
                         struct replay_fault *fault);

/* Random data: every value in (-1, 1), of a type. */
bool replay_fill(void *data,
                 double bytes,
                 int type,
                 cudaStream_t stream,
                 struct replay_fault *fault);

/* A kernel that ends when *gate reaches the ticket, or too late. */
bool replay_gate_launch(unsigned *gate,
                        unsigned ticket,
                        cudaStream_t stream,
                        struct replay_fault *fault);

/* A kernel that lasts so long. */
bool replay_pause_launch(double us,
                         cudaStream_t stream,
                         struct replay_fault *fault);

/* NCCL: 0 where there is none. */
int replay_nccl_version(void);
bool replay_nccl_open(struct replay_device *device, struct replay_fault *fault);
void replay_nccl_close(struct replay_device *device);
bool replay_nccl_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault);
bool replay_nccl_launch(struct replay_device *device,
                        struct replay_made *made,
                        cudaStream_t stream,
                        struct replay_fault *fault);
/* A sum over all ranks, so that none goes on before all are here. */
bool replay_nccl_meet(struct replay_device *device,
                      cudaStream_t stream,
                      struct replay_fault *fault);
bool replay_nccl_combine(struct replay_device *device,
                         double *values,
                         int count,
                         enum replay_combine how,
                         struct replay_fault *fault);
/* Has a communicator failed while it worked? */
bool replay_nccl_check(struct replay_device *device,
                       struct replay_fault *fault);

/* NVML; all do nothing where it is not. */
void replay_nvml_open(struct replay_device *device);
void replay_nvml_close(struct replay_device *device);
double replay_nvml_clock_mhz(struct replay_device *device);
void replay_nvml_describe(struct replay_device *device,
                          struct replay_description *description);

bool replay_self_test(struct replay_device *device, struct replay_fault *fault);

#endif
