/*
 * verdict.c - lines of the table: which pairs are whose.
 */
#include "validate/verdict.h"

#include "model/workload.h"
#include "search/explain_words.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <string.h>

const char *validate_operation(const struct validate_records *records,
                               const struct validate_pair *pair)
{
    return pair->computation ? "computation"
                             : model_op_names[records->rows[pair->row].kind];
}

/* What a line asks of its pairs. */
struct filter {
    const char *set, *operation, *gpu; /* "": any */
    int fit;                           /* 0, 1, or MODEL_UNSET: any */
};

static bool is_fit(const struct validate_verdict *verdict,
                   const struct validate_pair *pair)
{
    return validate_is_fit(verdict->fits, &verdict->records->rows[pair->row]);
}

static const char *gpu_of(const struct validate_verdict *verdict,
                          const struct validate_pair *pair)
{
    return validate_predictor_place(verdict->predictor, pair->row).gpu;
}

static bool passes(const struct validate_verdict *verdict,
                   const struct filter *filter,
                   const struct validate_pair *pair)
{
    const struct validate_record *row = &verdict->records->rows[pair->row];

    return (filter->set[0] == '\0' || strcmp(filter->set, row->set) == 0) &&
           (filter->operation[0] == '\0' ||
            strcmp(filter->operation,
                   validate_operation(verdict->records, pair)) == 0) &&
           (filter->gpu[0] == '\0' ||
            strcmp(filter->gpu, gpu_of(verdict, pair)) == 0) &&
           (filter->fit == MODEL_UNSET ||
            filter->fit == (is_fit(verdict, pair) ? 1 : 0));
}

/* The list with a word that it lacks. */
static const char *with_word(struct model_arena *arena,
                             const char *list,
                             const char *word,
                             const char *between)
{
    size_t length = strlen(word);

    for (const char *at = strstr(list, word); at != NULL;
         at = strstr(at + 1, word)) {
        bool begins = at == list || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == between[0];

        if (begins && ends) {
            return list;
        }
    }
    return model_arena_format(arena, "%s%s%s", list,
                              list[0] != '\0' ? between : "", word);
}

static struct validate_line make_line(struct model_arena *arena,
                                      const struct validate_verdict *verdict,
                                      const struct filter *filter)
{
    const struct validate_pairs *pairs = &verdict->pairs;
    struct validate_line line = {.set = filter->set,
                                 .operation = filter->operation,
                                 .gpu = filter->gpu,
                                 .topologies = "",
                                 .shapes = "",
                                 .fit = true};
    bool *chosen =
        model_arena_array(arena, (size_t)pairs->count, sizeof(*chosen));

    for (int i = 0; i < pairs->count; i++) {
        const struct validate_pair *pair = &pairs->list[i];
        const struct validate_record *row = &verdict->records->rows[pair->row];

        chosen[i] = passes(verdict, filter, pair);
        if (!chosen[i]) {
            continue;
        }
        line.fit = line.fit && is_fit(verdict, pair);
        line.topologies = with_word(
            arena, line.topologies,
            validate_predictor_place(verdict->predictor, pair->row).topology,
            ", ");
        line.shapes = with_word(arena, line.shapes,
                                model_arena_format(arena, "%dx%d", row->nodes,
                                                   row->gpus / row->nodes),
                                " ");
    }
    line.accuracy = validate_accuracy_of(arena, pairs, chosen);
    return line;
}

/* Add the line of a filter, unless there is one with the same names. */
static void add_line(struct model_arena *arena,
                     const struct validate_verdict *verdict,
                     const struct filter *filter,
                     struct validate_lines *lines,
                     int *room)
{
    for (int i = 0; i < lines->count; i++) {
        if (strcmp(lines->list[i].set, filter->set) == 0 &&
            strcmp(lines->list[i].operation, filter->operation) == 0 &&
            strcmp(lines->list[i].gpu, filter->gpu) == 0) {
            return;
        }
    }
    lines->list = model_arena_grow(arena, lines->list, lines->count, room,
                                   sizeof(*lines->list));
    lines->list[lines->count++] = make_line(arena, verdict, filter);
}

static void find_lines(struct model_arena *arena,
                       struct validate_verdict *verdict)
{
    int rooms[3] = {0, 0, 0};

    for (int i = 0; i < verdict->pairs.count; i++) {
        const struct validate_pair *pair = &verdict->pairs.list[i];
        const char *set = verdict->records->rows[pair->row].set;
        struct filter filters[] = {
            {set, "", "", MODEL_UNSET},
            {set, validate_operation(verdict->records, pair), "", MODEL_UNSET},
            {"", "", gpu_of(verdict, pair), 0}};

        add_line(arena, verdict, &filters[0], &verdict->sets, &rooms[0]);
        add_line(arena, verdict, &filters[1], &verdict->parts, &rooms[1]);
        if (!is_fit(verdict, pair)) {
            add_line(arena, verdict, &filters[2], &verdict->gpus, &rooms[2]);
        }
    }
}

static void find_medians(struct model_arena *arena,
                         struct validate_verdict *verdict)
{
    double *medians = model_arena_array(arena, (size_t)verdict->parts.count,
                                        sizeof(*medians));
    int count = 0;

    for (int i = 0; i < verdict->parts.count; i++) {
        if (!verdict->parts.list[i].fit) {
            medians[count++] = verdict->parts.list[i].accuracy.median_ratio;
        }
    }
    verdict->median_count = count;
    if (count > 0) {
        gsl_sort(medians, 1, (size_t)count);
        verdict->median_of_medians =
            gsl_stats_median_from_sorted_data(medians, 1, (size_t)count);
    }
}

static void leave_out(struct validate_verdict *verdict, const char *reason)
{
    int i = 0;

    while (i < verdict->left_out_count &&
           strcmp(verdict->left_out[i].reason, reason) != 0) {
        i++;
    }
    if (i == verdict->left_out_count) {
        verdict->left_out[verdict->left_out_count++].reason = reason;
    }
    verdict->left_out[i].rows++;
}

static void find_left_out(struct model_arena *arena,
                          struct validate_verdict *verdict)
{
    const struct validate_records *records = verdict->records;
    const char *small =
        model_arena_format(arena, "smaller than %s (--min-size)",
                           search_words_bytes(arena, verdict->min_size_bytes));

    verdict->left_out = model_arena_array(arena, (size_t)records->count,
                                          sizeof(*verdict->left_out));
    for (int i = 0; i < records->count; i++) {
        if (records->rows[i].kind != MODEL_UNSET &&
            records->rows[i].size_bytes < verdict->min_size_bytes) {
            leave_out(verdict, small);
        } else if (verdict->predictions[i].left_out) {
            leave_out(verdict, verdict->predictions[i].reason);
        }
    }
}

void validate_judge(struct model_arena *arena, struct validate_verdict *verdict)
{
    struct filter fits = {"", "", "", 1};
    struct filter others = {"", "", "", 0};
    struct filter all = {"", "", "", MODEL_UNSET};

    verdict->pairs = validate_pairs_make(
        arena, verdict->records, verdict->predictions, verdict->min_size_bytes);
    find_lines(arena, verdict);
    verdict->fitted = make_line(arena, verdict, &fits);
    verdict->others = make_line(arena, verdict, &others);
    verdict->all = make_line(arena, verdict, &all);
    find_medians(arena, verdict);
    find_left_out(arena, verdict);
}
