/*
 * bench.c - points measured one after another, each a row of records.
 */
#include "validate/replay/bench.h"

#include <math.h>

/* Sizes that are found are whole MiB, at most 4 GiB. */
#define UNIT_BYTES 1048576.0
#define MOST_BYTES 4294967296.0

/* Give buffers back; all items lose their handles. */
static enum model_status drop(struct replay_bench *bench)
{
    struct replay_fault fault = {""};

    for (int i = 0; i < bench->schedule->item_count; i++) {
        bench->schedule->items[i].handle = -1;
    }
    return bench->run->driver->drop(bench->run->device, &fault)
               ? MODEL_OK
               : replay_measure_fault(bench->run, &fault);
}

static enum model_status measure_alone(struct replay_bench *bench,
                                       struct replay_item *item,
                                       struct replay_summary *alone)
{
    enum model_status status = MODEL_OK;

    if (alone->repeats == 0) {
        status = replay_measure_make(bench->run, item);
    }
    if (alone->repeats == 0 && status == MODEL_OK) {
        status = replay_measure_alone(bench->run, item, alone);
    }
    return status;
}

/* The collective and the computation, launched together. */
static enum model_status measure_pair(struct replay_bench *bench,
                                      const struct replay_item *collective,
                                      const struct replay_item *computation,
                                      struct replay_row *row)
{
    struct replay_item items[] = {*collective, *computation};
    struct replay_launch launches[] = {{.item = 0, .stream = bench->stream},
                                       {.item = 1,
                                        .stream = bench->stream + 1,
                                        .pause_us = REPLAY_HEAD_START_US}};
    struct replay_schedule schedule = {.items = items,
                                       .item_count = 2,
                                       .launches = launches,
                                       .launch_count = 2,
                                       .stream_count = bench->stream + 2};
    struct replay_together together;
    enum model_status status = MODEL_OK;

    for (int i = 0; i < 2 && status == MODEL_OK; i++) {
        status = replay_measure_make(bench->run, &items[i]);
    }
    if (status == MODEL_OK) {
        status = replay_measure_together(bench->run, &schedule, &together);
    }
    if (status == MODEL_OK) {
        row->together = together.launches[0].lasts;
        row->together.sm_clock_mhz = together.iteration.sm_clock_mhz;
        row->computation_together = together.launches[1].lasts;
    }
    return status;
}

/* Bytes that would last as long as the computation, at the rate seen. */
static double matching_bytes(double size_bytes, double alone_us, double want_us)
{
    double units = ceil(size_bytes * want_us / alone_us / UNIT_BYTES);

    return fmin(fmax(units, 1.0) * UNIT_BYTES, MOST_BYTES);
}

static enum model_status match(struct replay_bench *bench,
                               struct replay_item *collective,
                               struct replay_row *row)
{
    collective->work.size_bytes =
        matching_bytes(collective->work.size_bytes, row->alone.median_us,
                       row->computation_alone.median_us);
    collective->handle = -1;
    row->alone.repeats = 0;
    return measure_alone(bench, collective, &row->alone);
}

static enum model_status curve(struct replay_bench *bench,
                               const struct replay_pair *pair)
{
    struct replay_item item = bench->schedule->items[pair->computation];
    struct replay_summary alone = {.repeats = 0};
    enum model_status status;

    item.work.working_set_bytes = pair->working_set_bytes;
    status = measure_alone(bench, &item, &alone);
    if (status == MODEL_OK) {
        replay_output_curve(bench->stamp, &item.work, &alone, bench->output);
    }
    return status;
}

static enum model_status measure(struct replay_bench *bench,
                                 const struct replay_pair *pair)
{
    struct replay_item *items = bench->schedule->items;
    struct replay_row row = {.collective = NULL};
    struct replay_item collective = {.handle = -1};
    enum model_status status = MODEL_OK;

    if (pair->computation >= 0) {
        row.computation = &items[pair->computation];
        status = measure_alone(bench, &items[pair->computation],
                               &bench->alone[pair->computation]);
        row.computation_alone = bench->alone[pair->computation];
    }
    if (pair->collective >= 0 && status == MODEL_OK) {
        status = measure_alone(bench, &items[pair->collective],
                               &bench->alone[pair->collective]);
        row.alone = bench->alone[pair->collective];
        collective = items[pair->collective];
        row.collective = &collective;
    }
    if (pair->match && row.collective != NULL && status == MODEL_OK) {
        status = match(bench, &collective, &row);
    }
    if (row.collective != NULL && row.computation != NULL &&
        status == MODEL_OK) {
        status = measure_pair(bench, &collective, row.computation, &row);
    }
    if (status == MODEL_OK) {
        replay_output_record(bench->run->arena, bench->stamp, &row,
                             bench->output);
    }
    return status;
}

enum model_status replay_bench_pair(struct replay_bench *bench,
                                    const struct replay_pair *pair)
{
    enum model_status status = pair->working_set_bytes > 0.0
                                   ? curve(bench, pair)
                                   : measure(bench, pair);
    enum model_status dropped = drop(bench);

    return status == MODEL_OK ? dropped : status;
}

int replay_bench_seen(const struct replay_schedule *schedule,
                      const struct replay_together *together,
                      struct replay_pair *pairs)
{
    const struct model_op *ops = schedule->workload->ops;
    int count = 0;

    for (int i = 0; i < schedule->launch_count; i++) {
        const struct replay_interval *a = &together->launches[i];

        for (int j = 0; j < schedule->launch_count; j++) {
            const struct replay_interval *b = &together->launches[j];
            struct replay_pair pair = {.collective = schedule->launches[i].item,
                                       .computation =
                                           schedule->launches[j].item};
            bool known = !model_op_is_collective(&ops[i]) ||
                         model_op_is_collective(&ops[j]) ||
                         a->start_us >= b->end_us || b->start_us >= a->end_us;

            for (int k = 0; k < count && !known; k++) {
                known = pairs[k].collective == pair.collective &&
                        pairs[k].computation == pair.computation;
            }
            if (!known) {
                pairs[count++] = pair;
            }
        }
    }
    return count;
}
