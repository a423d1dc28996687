/*
 * nccl_rows.c - NCCL's choices for the collectives of a workload, and why.
 */
#include "search/nccl_rows.h"

#include <math.h>

const char *const search_nccl_graph_names[MODEL_NCCL_GRAPHS] = {"ring", "tree",
                                                                "nvls"};

const char *const search_nccl_pattern_names[] = {
    [0] = "none",
    [MODEL_NCCL_BALANCED_TREE] = "balanced tree",
    [MODEL_NCCL_SPLIT_TREE] = "split tree",
    [MODEL_NCCL_PLAIN_TREE] = "tree",
    [MODEL_NCCL_RING_PATTERN] = "ring",
    [MODEL_NCCL_NVLS_PATTERN] = "nvls"};

const char *const search_nccl_cause_names[MODEL_NCCL_CAUSES] = {
    [MODEL_NCCL_AS_SEARCHED] = "as the communicator has",
    [MODEL_NCCL_FEWER_CHANNELS] = "fewer channels for this size",
    [MODEL_NCCL_CHANNELS_OF_PEERS] = "the channels that its peers are on",
    [MODEL_NCCL_FEWER_THREADS] = "then fewer threads",
    [MODEL_NCCL_SMALLER_CHUNK] = "shorter chunks for this size"};

/* The row of a class that differs in its window alone, or NULL. */
static struct search_nccl_row *alike(const struct search_nccl_rows *rows,
                                     const struct search_class *part)
{
    for (int i = 0; i < rows->count; i++) {
        const struct search_class *known = rows->list[i].part;

        if (known->kind == part->kind && known->group == part->group &&
            known->shift == part->shift &&
            model_same(known->bytes, part->bytes) &&
            model_config_equal(&known->fixed, &part->fixed)) {
            return &rows->list[i];
        }
    }
    return NULL;
}

struct search_nccl_rows search_nccl_rows_make(struct model_arena *arena,
                                              const struct model_nccl *nccl)
{
    struct search_problem *problem = model_arena_alloc(arena, sizeof(*problem));
    struct search_nccl_rows rows = {.nccl = nccl};

    search_problem_make(arena, rows.nccl, problem);
    rows.list = model_arena_array(arena, (size_t)problem->class_count + 1,
                                  sizeof(*rows.list));
    for (int i = 0; i < problem->workload->op_count; i++) {
        const struct search_class *part;
        struct search_nccl_row *row;
        int repeats = (int)model_workload_repeats(problem->workload, i);

        if (problem->class_of[i] < 0) {
            continue;
        }
        part = &problem->classes[problem->class_of[i]];
        row = alike(&rows, part);
        if (row != NULL) {
            row->op_count += repeats;
            continue;
        }
        row = &rows.list[rows.count];
        row->part = part;
        row->op_count = repeats;
        row->op = &problem->workload->ops[i];
        row->tuning = rows.nccl->groups[row->part->group].tuning;
        row->config = row->part->baseline;
        (void)model_nccl_choice_of(rows.nccl, row->op, &row->part->fixed,
                                   &row->choice);
        rows.count++;
    }
    return rows;
}

/* -- one candidate -- */

const char *const search_nccl_unasked = "the workload asks for another";

struct search_nccl_candidate search_nccl_candidate_of(
    const struct search_nccl_row *row, int algorithm, int protocol)
{
    const struct model_nccl_choice *choice = &row->choice;

    return (struct search_nccl_candidate){
        .pair = &row->tuning->pairs[choice->function][algorithm][protocol],
        .time_us = choice->time_us[algorithm][protocol],
        .chosen =
            choice->algorithm == algorithm && choice->protocol == protocol};
}

double search_nccl_best_us(const struct search_nccl_row *row)
{
    return search_nccl_row_fails(row)
               ? (double)NAN
               : row->choice
                     .time_us[row->choice.algorithm][row->choice.protocol];
}

/* Why it is not the one, in words. */
const char *search_nccl_verdict(struct model_arena *arena,
                                const struct search_nccl_row *row,
                                const struct search_nccl_candidate *candidate)
{
    double ratio = candidate->time_us / search_nccl_best_us(row);

    if (candidate->chosen) {
        return "chosen";
    }
    if (candidate->time_us < 0.0) {
        return candidate->pair->off != NULL ? candidate->pair->off
                                            : search_nccl_unasked;
    }
    if (ratio >= 2.0) {
        return model_arena_format(arena, "%.3g times as long", ratio);
    }
    return model_arena_format(arena, "%.2g %% longer", (ratio - 1.0) * 100.0);
}

bool search_nccl_row_fails(const struct search_nccl_row *row)
{
    return row->choice.function != MODEL_UNSET &&
           row->choice.algorithm == MODEL_UNSET;
}
