/*
 * worst.c - the rows with the largest errors, simulated under other
 * circumstances: without what a kernel takes to start, without what its steps
 * wait, and with every other algorithm and protocol that can run there.
 */
#include "validate/worst.h"

#include "model/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Variants of a row: as it ran, and other choices. */
enum { VARIANTS_MAX = 1 + MODEL_ALGORITHMS * MODEL_PROTOCOLS };

struct study {
    struct model_arena *arena, *scratch;
    const struct validate_verdict *verdict;
    const char *const *sets;
    int set_count;
    struct validate_worsts *worsts;
    struct validate_records variants;
    int *first; /* variant of each worst; [count]: all of them */
    struct validate_predictor *predictor;
    struct validate_prediction *usual; /* of the variants */
    struct validate_prediction *changed;
};

static const struct validate_record *row_of(const struct study *study,
                                            int worst)
{
    const struct validate_verdict *verdict = study->verdict;
    int pair = study->worsts->list[worst].pair;

    return &verdict->records->rows[verdict->pairs.list[pair].row];
}

static const struct validate_prediction *
prediction_of(const struct study *study, int worst)
{
    const struct validate_verdict *verdict = study->verdict;
    int pair = study->worsts->list[worst].pair;

    return &verdict->predictions[verdict->pairs.list[pair].row];
}

static const char *topology_of(const struct study *study, int worst)
{
    const struct validate_verdict *verdict = study->verdict;
    int pair = study->worsts->list[worst].pair;

    return validate_predictor_place(verdict->predictor,
                                    verdict->pairs.list[pair].row)
        .topology;
}

/* -- which -- */

struct ranked {
    double distance; /* logarithm of predicted over measured, without sign */
    int pair;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;

    return a->distance > b->distance   ? -1
           : a->distance < b->distance ? 1
                                       : a->pair - b->pair;
}

static void find_worst(struct study *study, int most)
{
    const struct validate_pairs *pairs = &study->verdict->pairs;
    struct ranked *all =
        model_arena_array(study->arena, (size_t)pairs->count, sizeof(*all));
    struct validate_worsts *worsts = study->worsts;

    for (int i = 0; i < pairs->count; i++) {
        all[i] =
            (struct ranked){fabs(log(pairs->list[i].error_ratio + 1.0)), i};
    }
    qsort(all, (size_t)pairs->count, sizeof(*all), compare_ranked);
    worsts->count = pairs->count < most ? pairs->count : most;
    worsts->list = model_arena_array(study->arena, (size_t)worsts->count,
                                     sizeof(*worsts->list));
    for (int i = 0; i < worsts->count; i++) {
        worsts->list[i].pair = all[i].pair;
    }
}

/* -- variants -- */

static void add_variant(struct study *study,
                        const struct validate_record *row,
                        const char *topology,
                        const struct model_config *config)
{
    struct validate_record *variant =
        &study->variants.rows[study->variants.count++];

    *variant = *row;
    variant->config = *config;
    variant->topology = topology;
}

/* Another algorithm or protocol; the rest as the row states, or NCCL's. */
static void add_choices(struct study *study,
                        const struct validate_record *row,
                        const char *topology,
                        const struct model_config *chosen)
{
    for (int i = 0; i < MODEL_ALGORITHMS * MODEL_PROTOCOLS; i++) {
        struct model_config config = row->config;

        config.algorithm = i / MODEL_PROTOCOLS;
        config.protocol = i % MODEL_PROTOCOLS;
        if (config.algorithm != MODEL_COPY_ENGINE &&
            model_collective_runs(
                (enum model_collective_kind)(row->kind - MODEL_OP_ALL_GATHER),
                (enum model_algorithm)config.algorithm) &&
            (config.algorithm != chosen->algorithm ||
             config.protocol != chosen->protocol)) {
            add_variant(study, row, topology, &config);
        }
    }
}

static void make_variants(struct study *study)
{
    size_t count = (size_t)study->worsts->count;

    study->first = model_arena_array(study->arena, count + 1, sizeof(int));
    study->variants.rows = model_arena_array(study->arena, count * VARIANTS_MAX,
                                             sizeof(*study->variants.rows));
    for (int i = 0; i < study->worsts->count; i++) {
        const struct validate_record *row = row_of(study, i);
        const struct model_config *config = &prediction_of(study, i)->config;
        const char *topology = topology_of(study, i);

        study->first[i] = study->variants.count;
        if (row->kind != MODEL_UNSET && row->computation[0] == '\0') {
            add_variant(study, row, topology, config);
            add_choices(study, row, topology, config);
        }
        study->first[i + 1] = study->variants.count;
    }
}

/* -- other circumstances -- */

static bool predict(struct study *study,
                    const char *more,
                    const bool *wanted,
                    struct validate_prediction *predictions)
{
    struct model_errors ignored = {.arena = study->arena};
    const char **all = model_arena_array(
        study->arena, (size_t)study->set_count + 1, sizeof(*all));
    int count = 0;

    for (; count < study->set_count; count++) {
        all[count] = study->sets[count];
    }
    if (more != NULL) {
        all[count++] = more;
    }
    return validate_predict(study->predictor, all, count, wanted,
                            study->scratch, predictions, &ignored) == MODEL_OK;
}

/* The key of a number of the channel: LL and LL128 have their own. */
static const char *channel_key(const struct study *study,
                               const struct model_config *config,
                               const char *name)
{
    const char *section =
        config->algorithm == MODEL_NVLS && strcmp(name, "start") == 0 ? "nvls."
        : config->protocol == MODEL_LL                                ? "ll."
        : config->protocol == MODEL_LL128                             ? "ll128."
                                                                      : "";

    return model_arena_format(study->arena, "gpu.channel.%s%s=0 us", section,
                              name);
}

/* How much shorter the row is when that is nothing, us. */
static double
without(struct study *study, int worst, const char *name, bool *wanted)
{
    int variant = study->first[worst];
    const struct validate_prediction *usual = &study->usual[variant];
    bool known;

    wanted[variant] = true;
    known = predict(study, channel_key(study, &usual->config, name), wanted,
                    study->changed);
    wanted[variant] = false;
    return known && !study->changed[variant].left_out
               ? fmax(0.0, usual->time_us - study->changed[variant].time_us)
               : 0.0;
}

/* The best of the other choices: of the least time, or nearest to one. */
static struct validate_other
best_other(const struct study *study, int worst, double near_us)
{
    struct validate_other best = {.time_us = 0.0};

    for (int i = study->first[worst] + 1; i < study->first[worst + 1]; i++) {
        const struct validate_prediction *other = &study->usual[i];
        double distance = fabs(log(other->time_us / near_us));

        if (!other->left_out &&
            !(best.time_us > 0.0 &&
              distance >= fabs(log(best.time_us / near_us)))) {
            best = (struct validate_other){other->config, other->time_us};
        }
    }
    return best;
}

static void study_worst(struct study *study, int worst, bool *wanted)
{
    struct validate_worst *it = &study->worsts->list[worst];
    double measured_us = study->verdict->pairs.list[it->pair].measured_us;

    if (study->first[worst] == study->first[worst + 1]) {
        return;
    }
    it->start_us = without(study, worst, "start", wanted);
    it->steps_us = without(study, worst, "sync", wanted);
    /* No time is as short as this: the fastest is the nearest to it. */
    it->fastest = best_other(study, worst, 1e-6);
    it->nearest = best_other(study, worst, measured_us);
}

static void study_all(struct study *study, int most)
{
    struct model_errors ignored = {.arena = study->arena};
    size_t count;
    bool *wanted;

    find_worst(study, most);
    make_variants(study);
    count = (size_t)study->variants.count;
    wanted = model_arena_array(study->arena, count, sizeof(*wanted));
    study->usual =
        model_arena_array(study->arena, count, sizeof(*study->usual));
    study->changed =
        model_arena_array(study->arena, count, sizeof(*study->changed));
    if (validate_predictor_make(study->arena, &study->variants, NULL,
                                &study->predictor, &ignored) != MODEL_OK ||
        !predict(study, NULL, NULL, study->usual)) {
        return;
    }
    for (int i = 0; i < study->worsts->count; i++) {
        study_worst(study, i, wanted);
    }
}

/* Apart from its caller, so that no local lives across the jump. */
static enum model_status guarded(struct study *study, int most)
{
    jmp_buf out_of_memory;

    if (study->scratch == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(study->scratch, &out_of_memory);
    study_all(study, most);
    return MODEL_OK;
}

enum model_status validate_worst(struct model_arena *arena,
                                 const struct validate_verdict *verdict,
                                 const char *const *sets,
                                 int set_count,
                                 int most,
                                 struct validate_worsts *worsts)
{
    struct study study = {.arena = arena,
                          .scratch = model_arena_new(),
                          .verdict = verdict,
                          .sets = sets,
                          .set_count = set_count,
                          .worsts = worsts};
    enum model_status status = guarded(&study, most);

    model_arena_free(study.scratch);
    return status;
}
