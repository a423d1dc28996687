/*
 * cuda_step.cu - the ring step: what a NCCL CTA does in a ring with protocol
 * Simple, with itself as both neighbours.
 *
 * A warp of the CTA waits for the slice before and posts behind a fence, the
 * others move 4 KiB a warp at a time, 8 accesses of 16 bytes a thread in
 * flight: a chunk of the user's buffer and one of a slot of the FIFO are added
 * into the next slot. Registers and shared memory are held as by NCCL, whose
 * kernels are bounded to 96 registers a thread.
 */
#include "validate/replay/cuda_parts.h"

#include <algorithm>
#include <math.h>

extern "C" {
#include "model/config.h"
}

enum { TYPE_FP32 = 2 }; /* of enum model_type */

enum {
    IN_FLIGHT = 8,      /* accesses of a thread */
    PACK_BYTES = 16,    /* of one access */
    STEP_THREADS = 640, /* at most, for 96 registers a thread */
    SLOTS = 8,          /* of a FIFO */
    SLICES = 2          /* of a chunk */
};

struct step {
    const float4 *user;
    float4 *fifo;              /* SLOTS chunks for each CTA */
    volatile unsigned *posted; /* by CTA: slices done; one a cache line. A
                                  stream has its own: on two of them the same
                                  work may run at once */
    unsigned long long packs;  /* of all CTAs */
    unsigned long long part;   /* packs of one, of the last what is left */
    unsigned long long chunk, slice; /* packs */
};

enum { LINE_WORDS = 32 }; /* of a cache line of 128 bytes */

__device__ static float4 sum(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* One warp's IN_FLIGHT x 32 packs, of which, unless all are, `left` are there.
 */
template <bool whole>
__device__ static void
move(const float4 *user, const float4 *in, float4 *out, unsigned long long left)
{
    unsigned lane = threadIdx.x % 32;
    float4 a[IN_FLIGHT], b[IN_FLIGHT];

#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++) {
        if (whole || lane + 32 * i < left) {
            a[i] = __ldcg(&user[lane + 32 * i]);
            b[i] = __ldcg(&in[lane + 32 * i]);
        }
    }
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; i++) {
        if (whole || lane + 32 * i < left) {
            __stcg(&out[lane + 32 * i], sum(a[i], b[i]));
        }
    }
}

/* The workers' part of a slice: warps take turns. */
__device__ static void move_slice(const float4 *user,
                                  const float4 *in,
                                  float4 *out,
                                  unsigned long long packs)
{
    const unsigned long long hunk = 32 * IN_FLIGHT;
    unsigned long long workers = blockDim.x / 32 - 1;

    for (unsigned long long at = threadIdx.x / 32 * hunk; at < packs;
         at += workers * hunk) {
        if (at + hunk <= packs) {
            move<true>(user + at, in + at, out + at, packs - at);
        } else {
            move<false>(user + at, in + at, out + at, packs - at);
        }
    }
}

/*
 * Each CTA has a part of the packs. Its last warp waits until the slice before
 * is posted, lets the workers go, and posts when they are done.
 */
__global__ static void __launch_bounds__(STEP_THREADS)
    step_kernel(struct step step)
{
    unsigned long long at = step.part * blockIdx.x;
    unsigned long long end =
        at + step.part < step.packs ? at + step.part : step.packs;
    float4 *fifo = step.fifo + blockIdx.x * SLOTS * step.chunk;
    volatile unsigned *posted = step.posted + blockIdx.x * LINE_WORDS;
    bool waits = threadIdx.x == blockDim.x - 32;
    bool works = threadIdx.x < blockDim.x - 32;
    unsigned slices = 0;

    for (unsigned chunk = 0; at < end; chunk++) {
        const float4 *in = fifo + chunk % SLOTS * step.chunk;
        float4 *out = fifo + (chunk + 1) % SLOTS * step.chunk;

        for (unsigned long long done = 0; done < step.chunk && at < end;
             slices++) {
            unsigned long long packs = step.slice;

            packs = packs < step.chunk - done ? packs : step.chunk - done;
            packs = packs < end - at ? packs : end - at;
            while (waits && *posted != slices) {
            }
            __syncthreads();
            if (works) {
                move_slice(step.user + at, in + done, out + done, packs);
            }
            __syncthreads();
            if (waits) {
                __threadfence_system();
                *posted = slices + 1;
            }
            at += packs;
            done += packs;
        }
    }
    if (waits) {
        __threadfence_system();
        *posted = 0; /* as the next launch finds it */
    }
}

/* Packs, in whole rows of a warp's accesses, as NCCL cuts: 512 bytes. */
static unsigned long long rows_of(double packs)
{
    return std::max((unsigned long long)ceil(packs / 32.0), 1ull) * 32;
}

static struct step step_of(const struct replay_work *work)
{
    double packs = ceil(work->size_bytes / PACK_BYTES);
    struct step step = {};

    step.packs = (unsigned long long)packs;
    step.part = rows_of(packs / work->channels);
    step.chunk = std::min(rows_of(work->chunk_bytes / PACK_BYTES), step.part);
    step.slice = rows_of((double)step.chunk / SLICES);
    return step;
}

/* Lines of one stream. */
static size_t posted_words(const struct replay_work *work)
{
    return (size_t)work->channels * LINE_WORDS;
}

bool replay_step_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    struct step step = step_of(work);
    int streams = std::max(device->seat->stream_count, 1);

    made->ctas = work->channels;
    made->threads = (work->threads + 31) / 32 * 32 + 32;
    made->shared_bytes =
        (int)std::min((size_t)work->shared_bytes, device->cta_shared_bytes);
    if (!replay_good(made->threads <= STEP_THREADS, "ring_step",
                     "more than 608 threads", __FILE__, __LINE__, fault) ||
        !replay_good(made->ctas <= device->sm_count, "ring_step",
                     "more channels than SMs", __FILE__, __LINE__, fault) ||
        !replay_allow_shared(device, (const void *)step_kernel, fault)) {
        return false;
    }
    return replay_buffer(device, made, (double)step.packs * PACK_BYTES,
                         TYPE_FP32, fault) != NULL &&
           replay_buffer(device, made,
                         (double)step.chunk * PACK_BYTES * SLOTS *
                             work->channels,
                         MODEL_UNSET, fault) != NULL &&
           replay_buffer(device, made,
                         (double)posted_words(work) * sizeof(unsigned) *
                             streams,
                         MODEL_UNSET, fault) != NULL;
}

bool replay_step_launch(struct replay_device *device,
                        struct replay_made *made,
                        int stream,
                        struct replay_fault *fault)
{
    struct step step = step_of(&made->work);
    cudaStream_t on;

    if (!replay_stream(device, stream, &on, fault)) {
        return false;
    }
    step.user = (const float4 *)made->buffers[0];
    step.fifo = (float4 *)made->buffers[1];
    step.posted = (volatile unsigned *)made->buffers[2] +
                  (size_t)stream * posted_words(&made->work);
    step_kernel<<<(unsigned)made->ctas, (unsigned)made->threads,
                  (size_t)made->shared_bytes, on>>>(step);
    return CUDA_GOOD(cudaGetLastError(), fault);
}
