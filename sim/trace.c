/*
 * trace.c - ops to trace events.
 */
#include "sim/trace.h"

#include "sim/alone.h"
#include "sim/output.h"
#include "sim/report.h"

static void add_name(struct sim_json *events,
                     const char *what,
                     int rank,
                     int stream,
                     const char *name)
{
    struct sim_json *event = sim_json_append(events);

    sim_json_text(event, "ph", "M");
    sim_json_text(event, "name", what);
    sim_json_count(event, "pid", rank);
    sim_json_count(event, "tid", stream);
    sim_json_text(sim_json_put_object(event, "args"), "name", name);
}

static void add_names(struct sim_json *events,
                      const struct sim_request *request,
                      const struct sim_result *result)
{
    const struct model_workload *workload = request->workload;

    for (int rank = 0; rank < result->rank_count; rank++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "rank %d", rank);
        add_name(events, "process_name", rank, 0,
                 request->all_ranks ? name : "any rank");
        for (int i = 0; i < workload->stream_count; i++) {
            add_name(events, "thread_name", rank, i, workload->streams[i].name);
        }
    }
}

static void add_losses(struct sim_json *arguments,
                       struct sim_alone *alone,
                       struct sim_op_result result)
{
    double alone_us;

    sim_alone_explain(alone, &result, &alone_us);
    sim_json_number(arguments, "alone_us", alone_us);
    sim_json_number(arguments, "slowdown",
                    (result.end_us - result.start_us) / alone_us);
    sim_report_put_lost(sim_json_put_object(arguments, "lost_us"),
                        &result.lost);
}

static void add_op(struct sim_json *events,
                   const struct model_workload *workload,
                   struct sim_alone *alone,
                   const struct sim_op_result *result)
{
    const struct model_op *op = &workload->ops[result->op];
    struct sim_json *event = sim_json_append(events);
    struct sim_json *arguments;

    sim_json_text(event, "ph", "X");
    sim_json_text(event, "name", op->id);
    sim_json_text(event, "cat", model_op_names[op->kind]);
    sim_json_count(event, "pid", result->rank);
    sim_json_count(event, "tid", op->stream);
    sim_json_number(event, "ts", result->start_us);
    sim_json_number(event, "dur", result->end_us - result->start_us);
    arguments = sim_json_put_object(event, "args");
    if (op->window != NULL) {
        sim_json_text(arguments, "window", op->window);
    }
    if (model_op_is_collective(op)) {
        char text[96];

        sim_json_number(arguments, "size_bytes", op->bytes);
        sim_json_text(arguments, "config",
                      model_config_print(&result->config, text, sizeof(text)));
    }
    add_losses(arguments, alone, *result);
}

/* The whole trace; the caller frees it. */
static struct sim_json *make_trace(struct model_arena *arena,
                                   const struct sim_request *request,
                                   const struct sim_result *result)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *events = sim_json_put_array(root, "traceEvents");
    struct sim_alone *alone = sim_alone_new(arena, request);

    sim_json_text(root, "displayTimeUnit", "ms");
    add_names(events, request, result);
    for (int i = 0; i < result->op_count; i++) {
        if (result->ops[i].takes_part) {
            add_op(events, request->workload, alone, &result->ops[i]);
        }
    }
    return root;
}

enum model_status sim_trace_write(struct model_arena *arena,
                                  const char *file,
                                  const struct sim_request *request,
                                  const struct sim_result *result,
                                  struct model_errors *errors)
{
    struct sim_output output;
    struct sim_json *root;
    enum model_status status = sim_output_open(arena, file, &output, errors);

    if (status != MODEL_OK) {
        return status;
    }
    root = make_trace(arena, request, result);
    status = sim_json_print(root, output.stream);
    sim_json_free(root);
    return sim_output_close(&output, status == MODEL_OK, errors);
}
