/*
 * replay_fake.h - a GPU of known times, for the tests of lagom-replay.
 *
 * A stream is the time up to which it is busy. A launch takes the time that
 * replay_fake_us gives its work, plus `late_us` in the r-th run, which makes
 * repeats differ. What happens in one run can be read as text.
 */
#ifndef TESTS_REPLAY_FAKE_H
#define TESTS_REPLAY_FAKE_H

#include "tests/unit/fixture.h"

#include "validate/replay/device.h"

enum { FAKE_STREAMS = 16, FAKE_EVENTS = 65536, FAKE_WORKS = 512 };

struct replay_device {
    struct replay_work works[FAKE_WORKS];
    int work_count;
    double stream_us[FAKE_STREAMS];
    double event_us[FAKE_EVENTS];
    const double *late_us; /* by held run, cyclic; NULL: none */
    int late_count;
    int runs;       /* held so far */
    int launched;   /* since the last finish */
    int at_release; /* launches before the last release */
    bool held;
    int ranks;       /* combine adds so many equal ranks */
    int fail_launch; /* that launch fails, counted from 1; 0: none */
    int launches;
    char log[4096];
    bool logging;
    bool open;
};

/* The one fake GPU of a test. */
static struct replay_device fake;

static inline void fake_note(const char *format, int a, int b)
{
    size_t used = strlen(fake.log);

    if (fake.logging) {
        (void)snprintf(fake.log + used, sizeof(fake.log) - used, format, a, b);
    }
}

/* GEMM: 1 us per 1e9 flops; others: 1 us per 1e6 bytes. */
static inline double replay_fake_us(const struct replay_work *work)
{
    switch (work->kind) {
    case REPLAY_GEMM:
        return 2.0 * work->m * work->n * work->k / 1e9;
    case REPLAY_GRID:
        return work->bytes / 1e6;
    default:
        return work->size_bytes / 1e6;
    }
}

static inline int fake_count(struct replay_fault *fault)
{
    (void)fault;
    return 1;
}

static inline struct replay_device *fake_open(const struct replay_seat *seat,
                                              struct replay_fault *fault)
{
    (void)seat;
    (void)fault;
    fake.open = true;
    return &fake;
}

static inline void fake_close(struct replay_device *device)
{
    if (device != NULL) {
        device->open = false;
    }
}

static inline void fake_describe(struct replay_device *device,
                                 struct replay_description *description)
{
    (void)device;
    *description = (struct replay_description){.name = "Fake H200",
                                               .device_id = "10de:2335",
                                               .cuda = "13.0",
                                               .driver = "580.1",
                                               .nccl = "2.28.9",
                                               .compute_capability = 90,
                                               .sm_count = 132};
}

static inline int fake_make(struct replay_device *device,
                            const struct replay_work *work,
                            struct replay_fault *fault)
{
    (void)fault;
    assert_in_range(device->work_count, 0, FAKE_WORKS - 1);
    device->works[device->work_count] = *work;
    return device->work_count++;
}

static inline bool fake_drop(struct replay_device *device,
                             struct replay_fault *fault)
{
    (void)fault;
    device->work_count = 0;
    return true;
}

static inline bool fake_launch(struct replay_device *device,
                               int work,
                               int stream,
                               struct replay_fault *fault)
{
    double late_us =
        device->late_us != NULL && device->runs > 0
            ? device->late_us[(device->runs - 1) % device->late_count]
            : 0.0;

    assert_in_range(work, 0, device->work_count - 1);
    assert_in_range(stream, 0, FAKE_STREAMS - 1);
    fake_note("%d on %d; ", work, stream);
    device->stream_us[stream] += replay_fake_us(&device->works[work]) + late_us;
    device->launched++;
    device->launches++;
    if (device->launches == device->fail_launch) {
        (void)snprintf(fault->text, sizeof(fault->text), "fake: launch failed");
        return false;
    }
    return true;
}

static inline bool fake_mark(struct replay_device *device,
                             int event,
                             int stream,
                             struct replay_fault *fault)
{
    (void)fault;
    assert_in_range(event, 0, FAKE_EVENTS - 1);
    fake_note("mark %d on %d; ", event, stream);
    device->event_us[event] = device->stream_us[stream];
    return true;
}

static inline bool fake_await(struct replay_device *device,
                              int event,
                              int stream,
                              struct replay_fault *fault)
{
    (void)fault;
    fake_note("await %d on %d; ", event, stream);
    if (device->stream_us[stream] < device->event_us[event]) {
        device->stream_us[stream] = device->event_us[event];
    }
    return true;
}

static inline bool fake_pause(struct replay_device *device,
                              int stream,
                              double us,
                              struct replay_fault *fault)
{
    (void)fault;
    device->stream_us[stream] += us;
    return true;
}

static inline int fake_nccl_version(void)
{
    return 22809;
}

static inline bool fake_hold(struct replay_device *device,
                             struct replay_fault *fault)
{
    (void)fault;
    assert_false(device->held);
    assert_int_equal(device->launched, 0);
    device->held = true;
    device->runs++;
    return true;
}

static inline bool fake_release(struct replay_device *device,
                                struct replay_fault *fault)
{
    (void)fault;
    assert_true(device->held);
    device->held = false;
    device->at_release = device->launched;
    return true;
}

static inline bool fake_finish(struct replay_device *device,
                               struct replay_fault *fault)
{
    (void)fault;
    assert_false(device->held); /* it would wait for ever */
    device->launched = 0;
    return true;
}

static inline bool fake_elapsed(struct replay_device *device,
                                int from,
                                int to,
                                double *us,
                                struct replay_fault *fault)
{
    (void)fault;
    *us = device->event_us[to] - device->event_us[from];
    return true;
}

static inline double fake_clock_mhz(struct replay_device *device)
{
    (void)device;
    return 1980.0;
}

static inline bool fake_combine(struct replay_device *device,
                                double *values,
                                int count,
                                enum replay_combine how,
                                struct replay_fault *fault)
{
    (void)fault;
    for (int i = 0; i < count && how == REPLAY_SUM && device->ranks > 1; i++) {
        values[i] *= device->ranks;
    }
    return true;
}

static inline bool fake_self_test(struct replay_device *device,
                                  struct replay_fault *fault)
{
    (void)device;
    (void)fault;
    return true;
}

static const struct replay_driver fake_driver = {.count = fake_count,
                                                 .open = fake_open,
                                                 .close = fake_close,
                                                 .describe = fake_describe,
                                                 .make = fake_make,
                                                 .drop = fake_drop,
                                                 .launch = fake_launch,
                                                 .mark = fake_mark,
                                                 .await = fake_await,
                                                 .pause = fake_pause,
                                                 .nccl_version =
                                                     fake_nccl_version,
                                                 .hold = fake_hold,
                                                 .release = fake_release,
                                                 .finish = fake_finish,
                                                 .elapsed = fake_elapsed,
                                                 .clock_mhz = fake_clock_mhz,
                                                 .combine = fake_combine,
                                                 .self_test = fake_self_test};

#endif
