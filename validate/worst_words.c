/*
 * worst_words.c - a missed row in sentences. Each is computed: it is left out
 * when the numbers do not bear it.
 */
#include "validate/worst.h"

#include "model/workload.h"
#include "search/explain_words.h"

#include <math.h>
#include <string.h>

struct worded {
    struct model_arena *arena;
    const struct validate_verdict *verdict;
    const struct validate_worst *worst;
    const struct validate_pair *pair;
    const struct validate_record *row;
    const struct validate_prediction *prediction;
};

static const char *words_of_row(const struct worded *it)
{
    const struct validate_record *row = it->row;
    struct validate_place place =
        validate_predictor_place(it->verdict->predictor, it->pair->row);
    const char *what =
        row->kind == MODEL_UNSET
            ? row->computation
            : model_arena_format(
                  it->arena, "%s of %s%s", model_op_names[row->kind],
                  search_words_bytes(it->arena, row->size_bytes),
                  row->computation[0] == '\0' ? ""
                  : it->pair->computation     ? ", the kernels beside it"
                                              : " beside kernels");

    return model_arena_format(
        it->arena,
        "%s:%d: %s on %dx%d of %s: %s measured, %s predicted (%+.0f %%).",
        row->place.file, row->place.line, what, row->nodes,
        row->gpus / row->nodes, place.topology,
        search_words_time(it->arena, it->pair->measured_us),
        search_words_time(it->arena, it->pair->predicted_us),
        100.0 * it->pair->error_ratio);
}

/* Who chose the settings: the row, NCCL, or both. */
static const char *words_of_chooser(const struct worded *it)
{
    const struct model_config *stated = &it->row->config;
    struct model_config none = model_config_none();

    if (model_config_is_complete(stated)) {
        return "as the row states";
    }
    return model_config_equal(stated, &none)
               ? "as NCCL chooses"
               : "what the row states and NCCL's choice for the rest";
}

static const char *words_of_settings(const struct worded *it)
{
    char config[96];

    return model_arena_format(
        it->arena, " It ran with %s, %s.",
        model_config_print(&it->prediction->config, config, sizeof(config)),
        words_of_chooser(it));
}

static const char *words_of_pace(const struct worded *it)
{
    const char *pace = it->prediction->limited_by;

    return !(it->prediction->moving_us > 0.0) ? "nothing"
           : strcmp(pace, "channels") == 0    ? "its own channels"
                                              : pace;
}

static const char *share(const struct worded *it, double time_us)
{
    return search_words_share(it->arena, time_us / it->prediction->time_us);
}

/* Of what its time is made. */
static const char *words_of_parts(const struct worded *it)
{
    const struct validate_prediction *prediction = it->prediction;
    double fill_us = fmax(0.0, prediction->time_us - prediction->launch_us -
                                   prediction->moving_us - it->worst->start_us);
    const char *text = model_arena_format(
        it->arena,
        " Paced by %s: launch is %s of its time, start %s, fill %s, moving %s",
        words_of_pace(it), share(it, prediction->launch_us),
        share(it, it->worst->start_us), share(it, fill_us),
        share(it, prediction->moving_us));

    return it->worst->steps_us > search_worth_ratio * prediction->time_us
               ? model_arena_format(
                     it->arena,
                     "%s; without what its steps wait it would take %s less.",
                     text, share(it, it->worst->steps_us))
               : model_arena_format(it->arena, "%s.", text);
}

static const char *words_of_other(const struct worded *it,
                                  const struct validate_other *other)
{
    char config[96];

    return model_arena_format(
        it->arena, "%s, %s (%+.0f %%)",
        model_config_print(&other->config, config, sizeof(config)),
        search_words_time(it->arena, other->time_us),
        100.0 * (other->time_us / it->pair->measured_us - 1.0));
}

/* What NCCL could have chosen else, and whether that is nearer. */
static const char *words_of_others(const struct worded *it)
{
    const struct validate_other *fastest = &it->worst->fastest;
    const struct validate_other *nearest = &it->worst->nearest;
    double error = fabs(log(it->pair->predicted_us / it->pair->measured_us));
    const char *text;

    if (!(fastest->time_us > 0.0)) {
        return "";
    }
    text = model_arena_format(it->arena, " %s: %s",
                              fastest->time_us < it->prediction->time_us
                                  ? "Faster by the model"
                                  : "The next best",
                              words_of_other(it, fastest));
    if (model_config_equal(&fastest->config, &nearest->config)) {
        return model_arena_format(it->arena, "%s.", text);
    }
    return fabs(log(nearest->time_us / it->pair->measured_us)) < error
               ? model_arena_format(it->arena,
                                    "%s; nearest to what was measured: %s.",
                                    text, words_of_other(it, nearest))
               : model_arena_format(it->arena, "%s.", text);
}

const char *validate_worst_words(struct model_arena *arena,
                                 const struct validate_verdict *verdict,
                                 const struct validate_worst *worst)
{
    const struct validate_pair *pair = &verdict->pairs.list[worst->pair];
    struct worded it = {.arena = arena,
                        .verdict = verdict,
                        .worst = worst,
                        .pair = pair,
                        .row = &verdict->records->rows[pair->row],
                        .prediction = &verdict->predictions[pair->row]};

    if (it.row->kind == MODEL_UNSET) {
        return words_of_row(&it);
    }
    return model_arena_format(
        arena, "%s%s%s%s", words_of_row(&it), words_of_settings(&it),
        it.row->computation[0] == '\0' ? words_of_parts(&it) : "",
        words_of_others(&it));
}
