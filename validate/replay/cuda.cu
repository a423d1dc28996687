/*
 * cuda.cu - the device: streams, events, the hold, the table of functions.
 *
 * Works own their buffers. All is queued on streams of our own, which do not
 * wait for the default stream; a timing event is recorded where a mark stands.
 */
#include "validate/replay/cuda_parts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

extern "C" {
#include "validate/replay/cuda.h"
}

bool replay_good(bool good,
                 const char *call,
                 const char *text,
                 const char *file,
                 int line,
                 struct replay_fault *fault)
{
    const char *name = strrchr(file, '/');

    if (!good) {
        (void)snprintf(fault->text, sizeof(fault->text), "%s:%d: %.*s: %s",
                       name != NULL ? name + 1 : file, line,
                       (int)strcspn(call, "("), call, text);
    }
    return good;
}

bool replay_cuda_good(cudaError_t error,
                      const char *call,
                      const char *file,
                      int line,
                      struct replay_fault *fault)
{
    return replay_good(error == cudaSuccess, call, cudaGetErrorString(error),
                       file, line, fault);
}

bool replay_blas_good(cublasStatus_t status,
                      const char *call,
                      const char *file,
                      int line,
                      struct replay_fault *fault)
{
    return replay_good(status == CUBLAS_STATUS_SUCCESS, call,
                       cublasLtGetStatusString(status), file, line, fault);
}

/* --- opening ------------------------------------------------------------- */

static int count_gpus(struct replay_fault *fault)
{
    int count = 0;

    if (!CUDA_GOOD(cudaGetDeviceCount(&count), fault)) {
        return 0;
    }
    (void)replay_good(count > 0, "cudaGetDeviceCount", "no CUDA device",
                      __FILE__, __LINE__, fault);
    return count;
}

static bool attribute(int gpu,
                      enum cudaDeviceAttr which,
                      int *value,
                      struct replay_fault *fault)
{
    return CUDA_GOOD(cudaDeviceGetAttribute(value, which, gpu), fault);
}

static bool read_limits(struct replay_device *device,
                        struct replay_fault *fault)
{
    int major = 0, minor = 0, of_sm = 0, of_cta = 0;
    bool good =
        attribute(device->gpu, cudaDevAttrMultiProcessorCount,
                  &device->sm_count, fault) &&
        attribute(device->gpu, cudaDevAttrComputeCapabilityMajor, &major,
                  fault) &&
        attribute(device->gpu, cudaDevAttrComputeCapabilityMinor, &minor,
                  fault) &&
        attribute(device->gpu, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                  &of_sm, fault) &&
        attribute(device->gpu, cudaDevAttrMaxSharedMemoryPerBlockOptin, &of_cta,
                  fault) &&
        attribute(device->gpu, cudaDevAttrReservedSharedMemoryPerBlock,
                  &device->reserved_bytes, fault);

    device->capability = 10 * major + minor;
    device->sm_shared_bytes = (size_t)of_sm;
    device->cta_shared_bytes = (size_t)of_cta;
    return good && replay_good(device->capability >= 80, "open",
                               "the GPU is older than sm_80", __FILE__,
                               __LINE__, fault);
}

static bool make_gate(struct replay_device *device, struct replay_fault *fault)
{
    void *host = NULL, *gpu = NULL;

    if (!CUDA_GOOD(
            cudaHostAlloc(&host, 2 * sizeof(unsigned), cudaHostAllocMapped),
            fault)) {
        return false;
    }
    device->gate = (unsigned *)host;
    device->gate[0] = 0;
    device->gate[1] = 0;
    if (!CUDA_GOOD(cudaHostGetDevicePointer(&gpu, host, 0), fault)) {
        return false;
    }
    device->gate_gpu = (unsigned *)gpu;
    return true;
}

static bool drop_works(struct replay_device *device, struct replay_fault *fault)
{
    bool good = CUDA_GOOD(cudaDeviceSynchronize(), fault);

    for (struct replay_made &made : device->works) {
        replay_gemm_free(&made);
        for (void *buffer : made.buffers) {
            good = CUDA_GOOD(cudaFree(buffer), fault) && good;
        }
    }
    device->works.clear();
    return good;
}

static void close_gpu(struct replay_device *device)
{
    struct replay_fault ignored;

    if (device == NULL) {
        return;
    }
    if (device->gate != NULL) {
        device->gate[0] = device->ticket; /* nothing may be held any more */
    }
    if (device->broken) {
        /* What waits for other ranks must not be waited for. */
        replay_nccl_close(device);
    }
    (void)drop_works(device, &ignored);
    replay_nccl_close(device);
    replay_nvml_close(device);
    for (cudaEvent_t event : device->events) {
        (void)(event == NULL || cudaEventDestroy(event) == cudaSuccess);
    }
    for (void *workspace : device->workspaces) {
        (void)cudaFree(workspace);
    }
    for (cudaStream_t stream : device->streams) {
        (void)(stream == NULL || cudaStreamDestroy(stream) == cudaSuccess);
    }
    if (device->blas != NULL) {
        (void)cublasLtDestroy(device->blas);
    }
    (void)cudaFreeHost(device->gate);
    delete device;
}

static struct replay_device *open_gpu(const struct replay_seat *seat,
                                      struct replay_fault *fault)
{
    struct replay_device *device = new replay_device();

    device->seat = seat;
    device->gpu = seat->gpu;
    if (!CUDA_GOOD(cudaSetDevice(seat->gpu), fault) ||
        !read_limits(device, fault) || !make_gate(device, fault) ||
        !BLAS_GOOD(cublasLtCreate(&device->blas), fault) ||
        (seat->rank_count > 1 && !replay_nccl_open(device, fault))) {
        device->broken = true;
        close_gpu(device);
        return NULL;
    }
    replay_nvml_open(device);
    return device;
}

/* --- what it is ---------------------------------------------------------- */

/* 13000 is 13.0, 22809 is 2.28.9 */
static void version_text(char *text, size_t bytes, int version)
{
    (void)snprintf(text, bytes, "%d.%d", version / 1000, version % 1000 / 10);
}

static void describe(struct replay_device *device,
                     struct replay_description *description)
{
    struct cudaDeviceProp properties;
    int version = 0, khz = 0;
    size_t blas = cublasLtGetVersion();

    memset(description, 0, sizeof(*description));
    if (cudaGetDeviceProperties(&properties, device->gpu) == cudaSuccess) {
        (void)snprintf(description->name, sizeof(description->name), "%.95s",
                       properties.name);
        description->l2_bytes = properties.l2CacheSize;
        description->memory_bytes = (double)properties.totalGlobalMem;
    }
    description->compute_capability = device->capability;
    description->sm_count = device->sm_count;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device->gpu) ==
        cudaSuccess) {
        description->sm_clock_mhz = khz / 1e3;
    }
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device->gpu) ==
        cudaSuccess) {
        description->memory_clock_mhz = khz / 1e3;
    }
    if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
        version_text(description->cuda, sizeof(description->cuda), version);
    }
    if (cudaDriverGetVersion(&version) == cudaSuccess) {
        version_text(description->driver, sizeof(description->driver), version);
    }
    (void)snprintf(description->blas, sizeof(description->blas), "%zu.%zu.%zu",
                   blas / 10000, blas % 10000 / 100, blas % 100);
    version = replay_nccl_version();
    if (version > 0) {
        (void)snprintf(description->nccl, sizeof(description->nccl), "%d.%d.%d",
                       version / 10000, version % 10000 / 100, version % 100);
    }
    replay_nvml_describe(device, description);
    (void)cudaGetLastError(); /* a thing not known is no failure */
}

/* --- works --------------------------------------------------------------- */

void *replay_buffer(struct replay_device *device,
                    struct replay_made *made,
                    double bytes,
                    int type,
                    struct replay_fault *fault)
{
    /* Whole packs of 16 bytes, and never nothing. */
    size_t size = ((size_t)bytes + 255) / 256 * 256 + 256;
    void *data = NULL;
    cudaStream_t stream;

    if (!replay_stream(device, 0, &stream, fault) ||
        !CUDA_GOOD(cudaMalloc(&data, size), fault)) {
        return NULL;
    }
    made->buffers.push_back(data);
    if (!(type < 0 ? CUDA_GOOD(cudaMemsetAsync(data, 0, size, stream), fault)
                   : replay_fill(data, (double)size, type, stream, fault)) ||
        !CUDA_GOOD(cudaStreamSynchronize(stream), fault)) {
        return NULL;
    }
    return data;
}

static bool make_kind(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    switch (made->work.kind) {
    case REPLAY_GEMM:
        return replay_gemm_make(device, made, fault);
    case REPLAY_GRID:
        return replay_grid_make(device, made, fault);
    case REPLAY_RING_STEP:
        return replay_step_make(device, made, fault);
    case REPLAY_COLLECTIVE:
        return replay_nccl_make(device, made, fault);
    }
    return false;
}

int replay_work_make(struct replay_device *device,
                     const struct replay_work *work,
                     struct replay_fault *fault)
{
    device->works.emplace_back();

    struct replay_made *made = &device->works.back();

    made->work = *work;
    if (work->row_count > 0) {
        made->rows.assign(work->rows, work->rows + work->row_count);
    }
    /* What a failure leaves is freed with all works. */
    device->broken = !make_kind(device, made, fault) || device->broken;
    return device->broken ? -1 : (int)device->works.size() - 1;
}

bool replay_work_launch(struct replay_device *device,
                        int work,
                        int stream,
                        struct replay_fault *fault)
{
    struct replay_made *made = &device->works[(size_t)work];
    cudaStream_t on;

    if (!replay_stream(device, stream, &on, fault)) {
        return false;
    }
    switch (made->work.kind) {
    case REPLAY_GEMM:
        return replay_gemm_launch(device, made, stream, fault);
    case REPLAY_GRID:
        return replay_grid_launch(device, made, on, fault);
    case REPLAY_RING_STEP:
        return replay_step_launch(device, made, stream, fault);
    case REPLAY_COLLECTIVE:
        return replay_nccl_launch(device, made, on, fault);
    }
    return false;
}

/* --- streams and events -------------------------------------------------- */

/* CUDA counts priorities down from 0, to the greatest there is. */
static int priority_of(const struct replay_device *device, int stream)
{
    const struct replay_seat *seat = device->seat;
    int least = 0, greatest = 0, priority;

    if (stream >= seat->stream_count || seat->priorities == NULL ||
        cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess) {
        return 0;
    }
    priority = -seat->priorities[stream];
    return priority < greatest ? greatest : priority > least ? least : priority;
}

bool replay_stream(struct replay_device *device,
                   int stream,
                   cudaStream_t *found,
                   struct replay_fault *fault)
{
    size_t index = (size_t)stream;

    if (device->streams.size() <= index) {
        device->streams.resize(index + 1, NULL);
        device->workspaces.resize(index + 1, NULL);
    }
    if (device->streams[index] == NULL &&
        !CUDA_GOOD(cudaStreamCreateWithPriority(&device->streams[index],
                                                cudaStreamNonBlocking,
                                                priority_of(device, stream)),
                   fault)) {
        return false;
    }
    *found = device->streams[index];
    return true;
}

static bool mark(struct replay_device *device,
                 int event,
                 int stream,
                 struct replay_fault *fault)
{
    size_t index = (size_t)event;
    cudaStream_t on;

    if (device->events.size() <= index) {
        device->events.resize(index + 1, NULL);
    }
    return replay_stream(device, stream, &on, fault) &&
           (device->events[index] != NULL ||
            CUDA_GOOD(cudaEventCreate(&device->events[index]), fault)) &&
           CUDA_GOOD(cudaEventRecord(device->events[index], on), fault);
}

static bool await(struct replay_device *device,
                  int event,
                  int stream,
                  struct replay_fault *fault)
{
    cudaStream_t on;

    return replay_stream(device, stream, &on, fault) &&
           CUDA_GOOD(cudaStreamWaitEvent(on, device->events[(size_t)event], 0),
                     fault);
}

static bool pause_stream(struct replay_device *device,
                         int stream,
                         double us,
                         struct replay_fault *fault)
{
    cudaStream_t on;

    return replay_stream(device, stream, &on, fault) &&
           replay_pause_launch(us, on, fault);
}

static bool hold(struct replay_device *device, struct replay_fault *fault)
{
    cudaStream_t stream;

    return replay_stream(device, 0, &stream, fault) &&
           replay_gate_launch(device->gate_gpu, ++device->ticket, stream,
                              fault) &&
           (device->seat->rank_count == 1 ||
            replay_nccl_meet(device, stream, fault));
}

static bool release(struct replay_device *device, struct replay_fault *fault)
{
    (void)fault;
    __atomic_store_n(&device->gate[0], device->ticket, __ATOMIC_RELEASE);
    return true;
}

/* A collective whose network has failed never ends by itself: look after it. */
static bool watch_ranks(struct replay_device *device,
                        struct replay_fault *fault)
{
    const struct timespec pause = {0, 50000};

    for (cudaStream_t stream : device->streams) {
        while (stream != NULL && cudaStreamQuery(stream) == cudaErrorNotReady) {
            if (!replay_nccl_check(device, fault)) {
                return false;
            }
            (void)nanosleep(&pause, NULL);
        }
    }
    (void)cudaGetLastError(); /* it was: not ready */
    return replay_nccl_check(device, fault);
}

static bool finish(struct replay_device *device, struct replay_fault *fault)
{
    bool good =
        (device->seat->rank_count == 1 || watch_ranks(device, fault)) &&
        CUDA_GOOD(cudaDeviceSynchronize(), fault) &&
        replay_good(__atomic_load_n(&device->gate[1], __ATOMIC_ACQUIRE) == 0,
                    "hold",
                    "launching took longer than the stream is held: is "
                    "CUDA_LAUNCH_BLOCKING set, or a profiler there?",
                    __FILE__, __LINE__, fault);

    device->broken = device->broken || !good;
    return good;
}

static bool elapsed(struct replay_device *device,
                    int from,
                    int to,
                    double *us,
                    struct replay_fault *fault)
{
    float ms = 0.0f;
    bool good =
        CUDA_GOOD(cudaEventElapsedTime(&ms, device->events[(size_t)from],
                                       device->events[(size_t)to]),
                  fault);

    *us = (double)ms * 1e3;
    return good;
}

static bool combine(struct replay_device *device,
                    double *values,
                    int count,
                    enum replay_combine how,
                    struct replay_fault *fault)
{
    return device->seat->rank_count == 1 ||
           replay_nccl_combine(device, values, count, how, fault);
}

static struct replay_driver make_driver()
{
    struct replay_driver driver = {};

    driver.count = count_gpus;
    driver.nccl_version = replay_nccl_version;
    driver.open = open_gpu;
    driver.close = close_gpu;
    driver.describe = describe;
    driver.make = replay_work_make;
    driver.drop = drop_works;
    driver.launch = replay_work_launch;
    driver.mark = mark;
    driver.await = await;
    driver.pause = pause_stream;
    driver.hold = hold;
    driver.release = release;
    driver.finish = finish;
    driver.elapsed = elapsed;
    driver.clock_mhz = replay_nvml_clock_mhz;
    driver.combine = combine;
    driver.self_test = replay_self_test;
    return driver;
}

const struct replay_driver replay_cuda_driver = make_driver();
