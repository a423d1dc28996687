/*
 * cuda_test.cu - the self-test: results of each kind of work against the
 * host's, and whether events and the hold do what measuring relies on.
 */
#include "validate/replay/cuda_parts.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

extern "C" {
#include "model/config.h"
}

enum { TYPE_BF16, TYPE_FP16, TYPE_FP32, TYPE_FP8 };

struct test {
    struct replay_device *device;
    struct replay_fault *fault;
    int number;
    bool good;
};

/* A line of TAP; only rank 0 speaks. */
static void
tell(struct test *test, bool good, const char *name, const char *text)
{
    test->number++;
    if (test->device->seat->rank == 0) {
        (void)printf("%s %d - %s%s%s\n", good ? "ok" : "not ok", test->number,
                     name, text[0] != '\0' ? ": " : "", text);
    }
    if (!good && test->good) {
        (void)snprintf(test->fault->text, sizeof(test->fault->text),
                       "self-test: %s failed%s%.400s", name,
                       text[0] != '\0' ? ": " : "", text);
    }
    test->good = test->good && good;
}

static struct replay_made *make(struct test *test,
                                const struct replay_work *work,
                                int *number,
                                struct replay_fault *fault)
{
    *number = replay_work_make(test->device, work, fault);
    return *number >= 0 ? &test->device->works[(size_t)*number] : NULL;
}

template <typename T>
static bool fetch(const void *from,
                  std::vector<T> *to,
                  size_t count,
                  struct replay_fault *fault)
{
    to->resize(count);
    return CUDA_GOOD(
        cudaMemcpy(to->data(), from, count * sizeof(T), cudaMemcpyDeviceToHost),
        fault);
}

static bool launch(struct test *test, int number, struct replay_fault *fault)
{
    return replay_work_launch(test->device, number, 0, fault) &&
           CUDA_GOOD(cudaDeviceSynchronize(), fault);
}

/* --- products ------------------------------------------------------------ */

static bool values_of(const void *from,
                      int type,
                      size_t count,
                      std::vector<float> *to,
                      struct replay_fault *fault)
{
    std::vector<unsigned short> halves;

    if (type == TYPE_FP32) {
        return fetch(from, to, count, fault);
    }
    if (!fetch(from, &halves, count, fault)) {
        return false;
    }
    to->resize(count);
    for (size_t i = 0; i < count; i++) {
        __nv_bfloat16_raw bf16;
        __half_raw fp16;

        bf16.x = halves[i];
        fp16.x = halves[i];
        (*to)[i] = type == TYPE_BF16 ? __bfloat162float(__nv_bfloat16(bf16))
                                     : __half2float(__half(fp16));
    }
    return true;
}

enum { TEST_M = 96, TEST_N = 160, TEST_K = 64 };

/* B comes first (cuda_gemm.cu), both row by row. */
static double worst_of(const std::vector<float> &a,
                       const std::vector<float> &b,
                       const std::vector<float> &c)
{
    double worst = 0.0;

    for (int i = 0; i < TEST_M; i++) {
        for (int j = 0; j < TEST_N; j++) {
            double sum = 0.0;

            for (int k = 0; k < TEST_K; k++) {
                sum += (double)a[(size_t)(i * TEST_K + k)] *
                       (double)b[(size_t)(k * TEST_N + j)];
            }
            worst =
                fmax(worst, fabs(sum - (double)c[(size_t)(i * TEST_N + j)]));
        }
    }
    return worst;
}

/* Sums of 64 products below 1; bf16 has 8 bits, so 16 is off by 1/16 at most.
 */
static void test_gemm(struct test *test, int type, const char *name)
{
    struct replay_fault fault = {""};
    struct replay_work work = {};
    std::vector<float> a, b, c;
    struct replay_made *made;
    char text[64] = "";
    double worst = HUGE_VAL;
    int number;

    work.kind = REPLAY_GEMM;
    work.type = type;
    work.m = TEST_M;
    work.n = TEST_N;
    work.k = TEST_K;
    work.batch = 1;
    made = make(test, &work, &number, &fault);
    if (made != NULL && launch(test, number, &fault)) {
        const struct replay_product *product = &made->products[0];

        if (values_of(product->a_data, type, TEST_N * TEST_K, &b, &fault) &&
            values_of(product->b_data, type, TEST_M * TEST_K, &a, &fault) &&
            values_of(product->c_data, type, TEST_M * TEST_N, &c, &fault)) {
            worst = worst_of(a, b, c);
            (void)snprintf(text, sizeof(text), "off by %.3g at most", worst);
        }
    }
    tell(test, worst < 0.1, name, fault.text[0] != '\0' ? fault.text : text);
}

/* --- our own kernels ----------------------------------------------------- */

static void test_copy(struct test *test)
{
    struct replay_fault fault = {""};
    struct replay_work work = {};
    std::vector<unsigned> in, out;
    struct replay_made *made;
    bool good = false;
    int number;

    work.kind = REPLAY_GRID;
    work.bytes = 2.0 * 1000003.0 * 16.0; /* no multiple of anything */
    made = make(test, &work, &number, &fault);
    if (made != NULL && launch(test, number, &fault) &&
        fetch(made->buffers[0], &in, 1000003 * 4, &fault) &&
        fetch(made->buffers[1], &out, 1000003 * 4, &fault)) {
        good = in == out;
    }
    tell(test, good, "a grid writes what it reads", fault.text);
}

/* The same chunks on the host, part by part, in the same order. */
static void expect_step(const std::vector<float> &user,
                        size_t packs,
                        size_t part,
                        size_t chunk,
                        size_t parts,
                        std::vector<float> *fifo)
{
    for (size_t p = 0; p < parts; p++) {
        size_t end = part * (p + 1) < packs ? part * (p + 1) : packs;
        size_t at = part * p;

        for (size_t c = 0; at < end; c++) {
            size_t length = chunk < end - at ? chunk : end - at;
            size_t in = (p * 8 + c % 8) * chunk * 4;
            size_t out = (p * 8 + (c + 1) % 8) * chunk * 4;

            for (size_t i = 0; i < length * 4; i++) {
                (*fifo)[out + i] = user[at * 4 + i] + (*fifo)[in + i];
            }
            at += length;
        }
    }
}

/* 3 channels of 333,334 bytes, in rows of 512: 41 chunks of 8 KiB, so that
   slots are used again and the last chunk of each part is short. */
static void test_step(struct test *test)
{
    enum { BYTES = 1000000, PARTS = 3, CHUNK = 8192 / 16 };
    const size_t packs = BYTES / 16, part = (packs / PARTS / 32 + 1) * 32;
    struct replay_fault fault = {""};
    struct replay_work work = {};
    std::vector<float> user, fifo, expected(PARTS * 8 * CHUNK * 4, 0.0f);
    struct replay_made *made;
    bool good = false;
    int number;

    work.kind = REPLAY_RING_STEP;
    work.size_bytes = BYTES;
    work.channels = PARTS;
    work.threads = 128;
    work.chunk_bytes = CHUNK * 16;
    made = make(test, &work, &number, &fault);
    if (made != NULL && launch(test, number, &fault) &&
        launch(test, number, &fault) &&
        fetch(made->buffers[0], &user, packs * 4, &fault) &&
        fetch(made->buffers[1], &fifo, expected.size(), &fault)) {
        for (int i = 0; i < 2; i++) {
            expect_step(user, packs, part, CHUNK, PARTS, &expected);
        }
        good = fifo == expected;
    }
    tell(test, good, "a ring step adds what passes", fault.text);
}

/* --- what measuring relies on -------------------------------------------- */

/* The first launch of a kernel also loads it, so that one is not timed. */
static void test_events(struct test *test)
{
    struct replay_fault fault = {""};
    cudaEvent_t begin = NULL, end = NULL;
    cudaStream_t stream;
    float ms = 0.0f;
    char text[64] = "";
    bool good = replay_stream(test->device, 0, &stream, &fault) &&
                replay_pause_launch(1.0, stream, &fault) &&
                CUDA_GOOD(cudaDeviceSynchronize(), &fault) &&
                CUDA_GOOD(cudaEventCreate(&begin), &fault) &&
                CUDA_GOOD(cudaEventCreate(&end), &fault) &&
                CUDA_GOOD(cudaEventRecord(begin, stream), &fault) &&
                replay_pause_launch(1000.0, stream, &fault) &&
                CUDA_GOOD(cudaEventRecord(end, stream), &fault) &&
                CUDA_GOOD(cudaDeviceSynchronize(), &fault) &&
                CUDA_GOOD(cudaEventElapsedTime(&ms, begin, end), &fault);

    (void)snprintf(text, sizeof(text), "%.1f us for 1000 us", (double)ms * 1e3);
    tell(test, good && ms > 0.95f && ms < 1.2f, "events tell the time",
         fault.text[0] != '\0' ? fault.text : text);
    (void)(begin == NULL || cudaEventDestroy(begin) == cudaSuccess);
    (void)(end == NULL || cudaEventDestroy(end) == cudaSuccess);
}

/* Nothing behind a hold has run after 20 ms; all has after the release. */
static void test_hold(struct test *test)
{
    const struct timespec wait = {0, 20000000};
    struct replay_device *device = test->device;
    struct replay_fault fault = {""};
    cudaStream_t stream;
    bool good =
        replay_stream(device, 0, &stream, &fault) &&
        replay_gate_launch(device->gate_gpu, ++device->ticket, stream, &fault);

    (void)nanosleep(&wait, NULL);
    good = good && cudaStreamQuery(stream) == cudaErrorNotReady;
    (void)cudaGetLastError(); /* or the next launch is told of it */
    __atomic_store_n(&device->gate[0], device->ticket, __ATOMIC_RELEASE);
    good = CUDA_GOOD(cudaDeviceSynchronize(), &fault) && good &&
           device->gate[1] == 0;
    tell(test, good, "a held stream waits", fault.text);
}

/* Rank r gives r + 1, so that n ranks have n (n + 1) / 2, and n at most. */
static void test_sum(struct test *test)
{
    const struct replay_seat *seat = test->device->seat;
    struct replay_fault fault = {""};
    double value = seat->rank + 1.0, most = value;
    double want = seat->rank_count * (seat->rank_count + 1) / 2.0;
    bool good =
        replay_nccl_combine(test->device, &value, 1, REPLAY_SUM, &fault) &&
        replay_nccl_combine(test->device, &most, 1, REPLAY_MAX, &fault);

    tell(test,
         good && fabs(value - want) < 1e-9 &&
             fabs(most - seat->rank_count) < 1e-9,
         "NCCL sums over all ranks", fault.text);
}

bool replay_self_test(struct replay_device *device, struct replay_fault *fault)
{
    struct test test = {device, fault, 0, true};

    test_gemm(&test, TYPE_BF16, "gemm of bf16");
    test_gemm(&test, TYPE_FP16, "gemm of fp16");
    test_gemm(&test, TYPE_FP32, "gemm of fp32");
    test_copy(&test);
    test_step(&test);
    test_events(&test);
    test_hold(&test);
    if (device->seat->rank_count > 1) {
        test_sum(&test);
    }
    if (device->seat->rank == 0) {
        (void)printf("1..%d\n", test.number);
    }
    return test.good;
}
