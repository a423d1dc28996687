/*
 * output.c - what lagom-replay writes: records, times of ops, curves.
 */
#include "validate/replay/output.h"

#include "sim/csv.h"

/* NAME=VALUE words beside those that the writer adds by itself. */
static const char *notes(struct model_arena *arena,
                         const struct replay_stamp *stamp,
                         const struct replay_row *row)
{
    const struct replay_item *items[] = {row->collective, row->computation};
    const char *text =
        model_arena_format(arena, "cuda=%s driver=%s", stamp->description->cuda,
                           stamp->description->driver);

    for (int i = 0; i < 2; i++) {
        if (items[i] != NULL && items[i]->replaced != NULL) {
            text = model_arena_format(arena, "%s stands_for=%s", text,
                                      items[i]->replaced);
        }
    }
    return stamp->note != NULL
               ? model_arena_format(arena, "%s; %s", text, stamp->note)
               : text;
}

static void fill_collective(struct validate_record *record,
                            const struct replay_row *row)
{
    const struct replay_work *work = &row->collective->work;
    bool pair = row->computation != NULL;

    record->kind = MODEL_OP_ALL_GATHER + work->collective;
    record->size_bytes = work->size_bytes;
    record->config = row->collective->config;
    record->time_us = pair ? row->together.median_us : row->alone.median_us;
    record->alone_us = pair ? row->alone.median_us : 0.0;
}

/* Ranks ascend, those of a node together. */
static void fill_group(struct validate_record *record,
                       const struct replay_stamp *stamp,
                       const struct replay_work *work)
{
    const struct replay_group *group = &stamp->groups[work->group];
    int per_node = model_topology_rank_count(stamp->topology) /
                   stamp->topology->node_count;

    record->gpus = group->count;
    for (int i = 1; i < group->count; i++) {
        if (group->ranks[i] / per_node != group->ranks[i - 1] / per_node) {
            record->nodes++;
        }
    }
}

static void fill_computation(struct model_arena *arena,
                             struct validate_record *record,
                             const struct replay_row *row)
{
    bool pair = row->collective != NULL;

    record->computation = replay_work_text(arena, &row->computation->work);
    record->computation_us = pair ? row->computation_together.median_us
                                  : row->computation_alone.median_us;
    record->computation_alone_us =
        pair ? row->computation_alone.median_us : 0.0;
}

void replay_output_record(struct model_arena *arena,
                          const struct replay_stamp *stamp,
                          const struct replay_row *row,
                          FILE *stream)
{
    const struct replay_description *description = stamp->description;
    bool nccl = row->collective != NULL &&
                row->collective->work.kind == REPLAY_COLLECTIVE;
    bool pair = row->collective != NULL && row->computation != NULL;
    const struct replay_summary *main_time = pair ? &row->together
                                             : row->collective != NULL
                                                 ? &row->alone
                                                 : &row->computation_alone;
    struct validate_record record = {.source = "lagom-replay",
                                     .hardware = description->name,
                                     .version = nccl ? description->nccl : "",
                                     .notes = notes(arena, stamp, row),
                                     .topology = stamp->topology->label,
                                     .computation = "",
                                     .kind = MODEL_UNSET,
                                     .nodes = 1,
                                     .gpus = 1,
                                     .config = model_config_none(),
                                     .spread_us = main_time->spread_us,
                                     .repeats = main_time->repeats,
                                     .sm_clock_mhz = main_time->sm_clock_mhz};

    if (row->collective != NULL) {
        fill_collective(&record, row);
    }
    if (nccl) {
        fill_group(&record, stamp, &row->collective->work);
    }
    if (row->computation != NULL) {
        fill_computation(arena, &record, row);
    }
    validate_records_row(&record, stream);
    (void)fflush(stream);
}

void replay_output_ops(const struct replay_schedule *schedule,
                       const struct replay_together *together,
                       FILE *stream)
{
    const struct model_workload *workload = schedule->workload;

    (void)fputs("op,stream,start_us,end_us,spread_us\n", stream);
    for (int i = 0; i < schedule->launch_count; i++) {
        const struct replay_interval *interval = &together->launches[i];
        const struct model_op *op = &workload->ops[i];

        sim_csv_text(stream, op->id);
        sim_csv_text(stream, workload->streams[op->stream].name);
        (void)fprintf(stream, "%.3f,%.3f,%.3f\n", interval->start_us,
                      interval->end_us, interval->lasts.spread_us);
    }
    (void)fprintf(stream, "iteration,,0,%.3f,%.3f\n",
                  together->iteration.median_us, together->iteration.spread_us);
    (void)fflush(stream);
}

void replay_output_curve_header(FILE *stream)
{
    (void)fputs("hardware,ctas,working_set_bytes,bytes,time_us,spread_us,GBps,"
                "repeats,sm_clock_mhz\n",
                stream);
}

void replay_output_curve(const struct replay_stamp *stamp,
                         const struct replay_work *work,
                         const struct replay_summary *summary,
                         FILE *stream)
{
    sim_csv_text(stream, stamp->description->name);
    (void)fprintf(stream, "%d,%.0f,%.0f,%.3f,%.3f,%.1f,%d,%.0f\n", work->ctas,
                  work->working_set_bytes, work->bytes, summary->median_us,
                  summary->spread_us, work->bytes / summary->median_us / 1e3,
                  summary->repeats, summary->sm_clock_mhz);
    (void)fflush(stream);
}
