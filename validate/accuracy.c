/*
 * accuracy.c - from predictions to statistics, by GSL.
 */
#include "validate/accuracy.h"

#include "model/units.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

/* -- pairs and their cases -- */

/* All but the settings: what makes two rows comparable. */
static bool same_case(const struct validate_record *a,
                      const struct validate_record *b)
{
    return a->kind == b->kind && a->nodes == b->nodes && a->gpus == b->gpus &&
           model_same(a->size_bytes, b->size_bytes) &&
           strcmp(a->topology, b->topology) == 0 &&
           strcmp(a->version, b->version) == 0 &&
           strcmp(a->computation, b->computation) == 0;
}

static bool same_setting(const struct validate_record *a,
                         const struct validate_record *b)
{
    return model_config_equal(&a->config, &b->config) &&
           model_same(a->buffer_bytes, b->buffer_bytes);
}

/* Number the pair's case and setting by the pairs before it. */
static void number_pair(const struct validate_records *records,
                        struct validate_pairs *pairs,
                        int index)
{
    struct validate_pair *pair = &pairs->list[index];
    const struct validate_record *row = &records->rows[pair->row];

    pair->case_index = index;
    for (int i = 0; i < index; i++) {
        const struct validate_pair *other = &pairs->list[i];

        if (other->computation != pair->computation ||
            !same_case(row, &records->rows[other->row])) {
            continue;
        }
        if (pair->case_index == index) {
            pair->case_index = other->case_index;
            pair->setting_index = 0;
        }
        if (same_setting(row, &records->rows[other->row])) {
            pair->setting_index = other->setting_index;
            return;
        }
        if (other->setting_index >= pair->setting_index) {
            pair->setting_index = other->setting_index + 1;
        }
    }
}

static void add_pair(struct validate_pairs *pairs,
                     int row,
                     bool computation,
                     double measured_us,
                     double predicted_us)
{
    if (measured_us > 0.0 && predicted_us > 0.0) {
        pairs->list[pairs->count++] = (struct validate_pair){
            .row = row,
            .computation = computation,
            .measured_us = measured_us,
            .predicted_us = predicted_us,
            .error_ratio = predicted_us / measured_us - 1.0};
    }
}

struct validate_pairs
validate_pairs_make(struct model_arena *arena,
                    const struct validate_records *records,
                    const struct validate_prediction *predictions,
                    double min_size_bytes)
{
    struct validate_pairs pairs = {
        .list = model_arena_array(arena, 2 * (size_t)records->count,
                                  sizeof(*pairs.list))};

    for (int i = 0; i < records->count; i++) {
        const struct validate_record *row = &records->rows[i];

        if (predictions[i].left_out ||
            (row->kind != MODEL_UNSET && row->size_bytes < min_size_bytes)) {
            continue;
        }
        add_pair(&pairs, i, false, row->time_us, predictions[i].time_us);
        add_pair(&pairs, i, true, row->computation_us,
                 predictions[i].computation_us);
    }
    for (int i = 0; i < pairs.count; i++) {
        number_pair(records, &pairs, i);
    }
    return pairs;
}

/* -- ranks -- */

double validate_kendall(const double *x, const double *y, int n)
{
    double balance = 0.0; /* concordant less discordant */
    double apart_x = 0.0;
    double apart_y = 0.0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double order_x = (x[i] > x[j]) - (x[i] < x[j]);
            double order_y = (y[i] > y[j]) - (y[i] < y[j]);

            balance += order_x * order_y;
            apart_x += order_x * order_x;
            apart_y += order_y * order_y;
        }
    }
    return balance / sqrt(apart_x * apart_y);
}

/* What is needed to rank the pairs of one case. */
struct ranking {
    double *measured, *predicted, *work;
    int *settings;
    int count, settings_seen;
};

static struct ranking ranking_make(struct model_arena *arena, int count)
{
    size_t room = (size_t)count;

    return (struct ranking){
        .measured = model_arena_array(arena, room, sizeof(double)),
        .predicted = model_arena_array(arena, room, sizeof(double)),
        .work = model_arena_array(arena, 2 * room, sizeof(double)),
        .settings = model_arena_array(arena, room, sizeof(int))};
}

static void rank_add(struct ranking *ranking, const struct validate_pair *pair)
{
    bool seen = false;

    for (int i = 0; i < ranking->count && !seen; i++) {
        seen = ranking->settings[i] == pair->setting_index;
    }
    ranking->settings_seen += seen ? 0 : 1;
    ranking->measured[ranking->count] = pair->measured_us;
    ranking->predicted[ranking->count] = pair->predicted_us;
    ranking->settings[ranking->count++] = pair->setting_index;
}

/* Add the case's correlations, weighted by its pairs, to the sums. */
static void rank_case(const struct ranking *ranking,
                      struct validate_accuracy *sums)
{
    size_t count = (size_t)ranking->count;
    double kendall;

    if (ranking->settings_seen < VALIDATE_RANKED_MIN) {
        return;
    }
    kendall =
        validate_kendall(ranking->measured, ranking->predicted, ranking->count);
    if (isnan(kendall)) {
        return;
    }
    sums->kendall += kendall * (double)count;
    sums->spearman +=
        gsl_stats_spearman(ranking->measured, 1, ranking->predicted, 1, count,
                           ranking->work) *
        (double)count;
    sums->ranked += ranking->count;
}

static bool is_chosen(const bool *chosen, int index)
{
    return chosen == NULL || chosen[index];
}

/* Tables have as many lines as files have sets: room for what a line needs. */
static int count_chosen(const struct validate_pairs *pairs, const bool *chosen)
{
    int count = 0;

    for (int i = 0; i < pairs->count; i++) {
        count += is_chosen(chosen, i) ? 1 : 0;
    }
    return count;
}

static void rank_all(struct model_arena *arena,
                     const struct validate_pairs *pairs,
                     const bool *chosen,
                     int chosen_count,
                     struct validate_accuracy *accuracy)
{
    struct ranking ranking = ranking_make(arena, chosen_count);
    bool *done = model_arena_array(arena, (size_t)pairs->count, sizeof(*done));

    for (int i = 0; i < pairs->count; i++) {
        int number = pairs->list[i].case_index;

        if (!is_chosen(chosen, i) || done[number]) {
            continue;
        }
        done[number] = true;
        ranking.count = 0;
        ranking.settings_seen = 0;
        for (int j = i; j < pairs->count; j++) {
            if (is_chosen(chosen, j) && pairs->list[j].case_index == number) {
                rank_add(&ranking, &pairs->list[j]);
            }
        }
        rank_case(&ranking, accuracy);
    }
    accuracy->kendall /= (double)accuracy->ranked;
    accuracy->spearman /= (double)accuracy->ranked;
}

/* -- errors -- */

struct validate_accuracy
validate_accuracy_of(struct model_arena *arena,
                     const struct validate_pairs *pairs,
                     const bool *chosen)
{
    struct validate_accuracy accuracy = {.count = 0};
    int chosen_count = count_chosen(pairs, chosen);
    double *errors =
        model_arena_array(arena, (size_t)chosen_count, sizeof(*errors));
    size_t count = 0;

    rank_all(arena, pairs, chosen, chosen_count, &accuracy);
    for (int i = 0; i < pairs->count; i++) {
        if (is_chosen(chosen, i)) {
            errors[count++] = pairs->list[i].error_ratio;
        }
    }
    if (count == 0) {
        return accuracy;
    }
    accuracy.count = (int)count;
    accuracy.bias_ratio = gsl_stats_mean(errors, 1, count);
    for (size_t i = 0; i < count; i++) {
        errors[i] = fabs(errors[i]);
    }
    gsl_sort(errors, 1, count);
    accuracy.median_ratio = gsl_stats_median_from_sorted_data(errors, 1, count);
    accuracy.p95_ratio =
        gsl_stats_quantile_from_sorted_data(errors, 1, count, 0.95);
    accuracy.worst_ratio = errors[count - 1];
    return accuracy;
}
