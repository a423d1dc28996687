/*
 * cuda_grid.cu - kernels of our own.
 *
 * grid       each CTA streams its share of the bytes (half in, half out) and
 *            does its share of the flops between the loads and the stores of
 *            each step, so that both overlap as in a real kernel
 * working    each CTA reads slices of a working set, another one each time
 *
 * Memory is read and written past L1, as NCCL's FIFOs are.
 */
#include "validate/replay/cuda_parts.h"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

extern "C" {
#include "model/config.h"
}

/* As enum model_type of model/gpu.h, which is not for C++. */
enum { TYPE_BF16, TYPE_FP16, TYPE_FP32, TYPE_FP8 };

enum {
    IN_FLIGHT = 8,       /* accesses of a thread */
    PACK_BYTES = 16,     /* of one access */
    USUAL_THREADS = 512, /* of a CTA, where nobody says */
    LOADS_PER_SM = 8     /* CTAs an SM of a grid that fills the GPU */
};

/* --- random data --------------------------------------------------------- */

/* A number of 32 bits that looks random: two rounds of multiply and shift. */
__device__ static unsigned scramble(unsigned long long index)
{
    unsigned x = (unsigned)(index ^ (index >> 32)) * 0x9e3779b9u + 0x7f4a7c15u;

    x = (x ^ (x >> 16)) * 0x21f0aaadu;
    x = (x ^ (x >> 15)) * 0x735a2d97u;
    return x ^ (x >> 15);
}

/* Element i, in (-1, 1): multiples of 1/128, which all types but fp8 hold. */
__device__ static float number(unsigned long long index)
{
    return ((int)(scramble(index) & 255u) - 128) / 128.0f;
}

__global__ static void
fill_kernel(void *data, unsigned long long count, int type)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;

    for (unsigned long long i =
             (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += step) {
        switch (type) {
        case TYPE_BF16:
            ((__nv_bfloat16 *)data)[i] = __float2bfloat16(number(i));
            break;
        case TYPE_FP16:
            ((__half *)data)[i] = __float2half(number(i));
            break;
        case TYPE_FP32:
            ((float *)data)[i] = number(i);
            break;
        default:
            /* e4m3: any sign and mantissa, exponents of 2^-7 to 2^0 */
            ((unsigned char *)data)[i] = (unsigned char)(scramble(i) & 0xbf);
            break;
        }
    }
}

bool replay_fill(void *data,
                 double bytes,
                 int type,
                 cudaStream_t stream,
                 struct replay_fault *fault)
{
    double size = type == TYPE_FP32 ? 4.0 : type == TYPE_FP8 ? 1.0 : 2.0;

    fill_kernel<<<1024, 256, 0, stream>>>(
        data, (unsigned long long)(bytes / size), type);
    return CUDA_GOOD(cudaGetLastError(), fault);
}

/* --- the hold ------------------------------------------------------------ */

/* A held stream lets go by itself after so long: a host that has died or hung
   must not hang the GPU. */
#define HOLD_NS 10000000000ull

__device__ static unsigned long long now_ns()
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ static void gate_kernel(volatile unsigned *gate, unsigned ticket)
{
    unsigned long long start = now_ns();

    while ((int)(gate[0] - ticket) < 0) {
        if (now_ns() - start > HOLD_NS) {
            gate[1] = 1;
            return;
        }
    }
}

bool replay_gate_launch(unsigned *gate,
                        unsigned ticket,
                        cudaStream_t stream,
                        struct replay_fault *fault)
{
    gate_kernel<<<1, 1, 0, stream>>>(gate, ticket);
    return CUDA_GOOD(cudaGetLastError(), fault);
}

__global__ static void pause_kernel(unsigned long long ns)
{
    unsigned long long start = now_ns();

    while (now_ns() - start < ns) {
    }
}

bool replay_pause_launch(double us,
                         cudaStream_t stream,
                         struct replay_fault *fault)
{
    pause_kernel<<<1, 1, 0, stream>>>((unsigned long long)(us * 1e3));
    return CUDA_GOOD(cudaGetLastError(), fault);
}

/* --- grids --------------------------------------------------------------- */

/* What a CTA has to do. */
struct share {
    unsigned long long packs; /* to read, and as many to write */
    unsigned long long units; /* of arithmetic, by warp */
};

/* Products of 16 x 8 x 16 on the tensor cores: four independent chains. */
enum { TENSOR_CHAINS = 4, TENSOR_FLOPS = 2 * 16 * 8 * 16 };

struct tensor_state {
    float sums[TENSOR_CHAINS][4];
    unsigned a[4], b[2];
};

__device__ static void tensor_unit(struct tensor_state *state)
{
#pragma unroll
    for (int i = 0; i < TENSOR_CHAINS; i++) {
        float *sums = state->sums[i];

        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]),
                       "+f"(sums[3])
                     : "r"(state->a[0]), "r"(state->a[1]), "r"(state->a[2]),
                       "r"(state->a[3]), "r"(state->b[0]), "r"(state->b[1]));
    }
}

/* Multiply-adds in fp32: sixteen independent chains. */
enum { VECTOR_CHAINS = 16, VECTOR_FLOPS = 2 * VECTOR_CHAINS * 32 };

struct vector_state {
    float sums[VECTOR_CHAINS];
    float factor;
};

__device__ static void vector_unit(struct vector_state *state)
{
#pragma unroll
    for (int i = 0; i < VECTOR_CHAINS; i++) {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;"
                     : "+f"(state->sums[i])
                     : "f"(state->factor));
    }
}

/* The arithmetic of one step. */
template <bool tensor>
__device__ static void calculate(struct tensor_state *products,
                                 struct vector_state *sums,
                                 unsigned long long units)
{
    for (unsigned long long i = 0; i < units; i++) {
        if (tensor) {
            tensor_unit(products);
        } else {
            vector_unit(sums);
        }
    }
}

/* A thread's packs of one step: those at `at` and each blockDim.x further, of
   which, unless the step is whole, some are at or past the end. */
template <bool whole>
__device__ static void load(const uint4 *from,
                            unsigned long long at,
                            unsigned long long end,
                            uint4 *packs)
{
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        if (whole || at + j * blockDim.x < end) {
            packs[j] = __ldcg(&from[at + j * blockDim.x]);
        }
    }
}

template <bool whole>
__device__ static void store(uint4 *to,
                             unsigned long long at,
                             unsigned long long end,
                             const uint4 *packs)
{
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        if (whole || at + j * blockDim.x < end) {
            __stcg(&to[at + j * blockDim.x], packs[j]);
        }
    }
}

/*
 * Step i of n does units / n of the arithmetic, one more in the first units % n
 * steps. The state is written where no thread ever comes, so that the compiler
 * keeps it.
 */
template <bool tensor>
__global__ static void __launch_bounds__(1024)
    grid_kernel(const uint4 *in, uint4 *out, struct share share)
{
    unsigned long long step = (unsigned long long)blockDim.x * IN_FLIGHT;
    unsigned long long steps = (share.packs + step - 1) / step;
    unsigned long long base = steps > 0 ? share.units / steps : 0;
    unsigned long long more = steps > 0 ? share.units % steps : 0;
    struct tensor_state products = {};
    struct vector_state sums = {};
    float kept = 0.0f;

    in += blockIdx.x * share.packs;
    out += blockIdx.x * share.packs;
    for (int i = 0; i < 4; i++) { /* pairs of bf16 from 1 to 2 */
        products.a[i] = (scramble(threadIdx.x + i) & 0x007f007f) | 0x3f803f80;
        products.b[i % 2] = products.a[i];
    }
    sums.factor = 0.5f;
    for (unsigned long long i = 0; i < steps; i++) {
        unsigned long long at = i * step + threadIdx.x;
        unsigned long long units = base + (i < more ? 1 : 0);
        uint4 packs[IN_FLIGHT];

        if ((i + 1) * step <= share.packs) {
            load<true>(in, at, share.packs, packs);
            calculate<tensor>(&products, &sums, units);
            store<true>(out, at, share.packs, packs);
        } else {
            load<false>(in, at, share.packs, packs);
            calculate<tensor>(&products, &sums, units);
            store<false>(out, at, share.packs, packs);
        }
    }
    if (steps == 0) {
        calculate<tensor>(&products, &sums, share.units);
    }
    for (int i = 0; i < TENSOR_CHAINS; i++) {
        kept += products.sums[i][0];
    }
    for (int i = 0; i < VECTOR_CHAINS; i++) {
        kept += sums.sums[i];
    }
    if (blockDim.x == 0) { /* never */
        out[0].x = __float_as_uint(kept);
    }
}

/* Loads of a step, and something that needs them. */
template <bool whole>
__device__ static void read_step(const uint4 *slice,
                                 unsigned long long at,
                                 unsigned long long packs,
                                 uint4 *kept)
{
    uint4 read[IN_FLIGHT] = {};

    load<whole>(slice, at, packs, read);
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        kept->x ^= read[j].x;
        kept->y ^= read[j].y;
        kept->z ^= read[j].z;
        kept->w ^= read[j].w;
    }
}

/* `rounds` slices of `packs` packs each; CTA c begins with slice c. Without the
   1 the compiler takes so few registers that half the accesses wait. */
__global__ static void __launch_bounds__(1024, 1)
    working_kernel(const uint4 *set,
                   uint4 *out,
                   unsigned long long packs,
                   unsigned long long rounds)
{
    unsigned long long step = (unsigned long long)blockDim.x * IN_FLIGHT;
    uint4 kept = make_uint4(0, 0, 0, 0);

    for (unsigned long long round = 0; round < rounds; round++) {
        const uint4 *slice = set + (blockIdx.x + round) % gridDim.x * packs;

        for (unsigned long long at = threadIdx.x; at < packs; at += step) {
            if (at - threadIdx.x + step <= packs) {
                read_step<true>(slice, at, packs, &kept);
            } else {
                read_step<false>(slice, at, packs, &kept);
            }
        }
    }
    out[(unsigned long long)blockIdx.x * blockDim.x + threadIdx.x] = kept;
}

/*
 * Shared memory that lets so many CTAs onto an SM and no more; what the work
 * itself asks for if that is more.
 */
static int shared_for(const struct replay_device *device,
                      const struct replay_work *work)
{
    int per_sm = work->ctas_per_sm > 0 ? work->ctas_per_sm
                 : work->threads > 0   ? 0 /* as many as fit */
                                       : 1;  /* an SM to itself */
    size_t limit = device->cta_shared_bytes;
    size_t bytes = (size_t)work->shared_bytes;

    if (per_sm > 0 && work->ctas > 0) {
        /* It is given in units of 128 bytes. */
        size_t part = device->sm_shared_bytes / (size_t)per_sm / 128 * 128;
        size_t reserved = (size_t)device->reserved_bytes;

        bytes = std::max(bytes, part > reserved ? part - reserved : 0);
    }
    return (int)std::min(bytes, limit);
}

/* As much shared memory as a CTA may have: the launch says how much it takes.
 */
bool replay_allow_shared(const struct replay_device *device,
                         const void *kernel,
                         struct replay_fault *fault)
{
    return CUDA_GOOD(cudaFuncSetAttribute(
                         kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)device->cta_shared_bytes),
                     fault);
}

static struct share share_of(const struct replay_made *made)
{
    const struct replay_work *work = &made->work;
    double warps = made->ctas * ((made->threads + 31) / 32);
    double unit = work->tensor ? TENSOR_CHAINS * TENSOR_FLOPS : VECTOR_FLOPS;
    struct share share;

    share.packs =
        (unsigned long long)ceil(work->bytes / 2.0 / PACK_BYTES / made->ctas);
    share.units = (unsigned long long)ceil(work->flops / unit / warps);
    return share;
}

bool replay_grid_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    double bytes;

    made->ctas = work->ctas > 0 ? work->ctas : LOADS_PER_SM * device->sm_count;
    made->threads = work->threads > 0 ? work->threads
                    : work->ctas > 0  ? USUAL_THREADS
                                      : 256;
    made->shared_bytes = shared_for(device, work);
    made->threads = (made->threads + 31) / 32 * 32;
    if (!replay_allow_shared(device, (const void *)grid_kernel<true>, fault) ||
        !replay_allow_shared(device, (const void *)grid_kernel<false>, fault) ||
        !replay_allow_shared(device, (const void *)working_kernel, fault) ||
        !replay_good(!work->tensor || work->type != TYPE_FP8 ||
                         !(work->flops > 0.0),
                     "kernel", "no arithmetic in fp8 here: write type: bf16",
                     __FILE__, __LINE__, fault)) {
        return false;
    }
    if (work->working_set_bytes > 0.0) {
        /* Of at least one pack a CTA. */
        return replay_buffer(device, made,
                             std::max(work->working_set_bytes,
                                      (double)made->ctas * PACK_BYTES),
                             TYPE_BF16, fault) != NULL &&
               replay_buffer(device, made,
                             (double)made->ctas * made->threads * PACK_BYTES,
                             MODEL_UNSET, fault) != NULL;
    }
    bytes = (double)share_of(made).packs * PACK_BYTES * made->ctas;
    return replay_buffer(device, made, bytes, TYPE_BF16, fault) != NULL &&
           replay_buffer(device, made, bytes, MODEL_UNSET, fault) != NULL;
}

bool replay_grid_launch(struct replay_device *device,
                        struct replay_made *made,
                        cudaStream_t stream,
                        struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    const uint4 *in = (const uint4 *)made->buffers[0];
    uint4 *out = (uint4 *)made->buffers[1];
    unsigned ctas = (unsigned)made->ctas;
    unsigned threads = (unsigned)made->threads;
    size_t shared = (size_t)made->shared_bytes;

    (void)device;
    if (work->working_set_bytes > 0.0) {
        unsigned long long packs = std::max(
            (unsigned long long)(work->working_set_bytes / PACK_BYTES) / ctas,
            1ull);
        double slices = work->bytes / PACK_BYTES / (double)packs / ctas;

        working_kernel<<<ctas, threads, shared, stream>>>(
            in, out, packs, (unsigned long long)ceil(slices));
    } else if (work->tensor) {
        grid_kernel<true>
            <<<ctas, threads, shared, stream>>>(in, out, share_of(made));
    } else {
        grid_kernel<false>
            <<<ctas, threads, shared, stream>>>(in, out, share_of(made));
    }
    return CUDA_GOOD(cudaGetLastError(), fault);
}
