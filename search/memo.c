/*
 * memo.c - measurements by the configurations of a plan's rows.
 */
#include "search/memo.h"

#include <stdint.h>
#include <string.h>

enum { SLOTS_FIRST = 256 };

struct search_memo_entry {
    uint64_t hash;
    const struct model_config *configs; /* by row */
    struct search_measure measure;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    value = (value ^ (value >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t hash_plan(const struct model_plan *plan)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < plan->row_count; i++) {
        const struct model_config *config = &plan->rows[i].config;
        uint64_t chunk_bits;

        memcpy(&chunk_bits, &config->chunk_bytes, sizeof(chunk_bits));
        hash = mix(hash, (uint64_t)(uint32_t)config->algorithm << 32 |
                             (uint32_t)config->protocol);
        hash = mix(hash, (uint64_t)(uint32_t)config->channels << 32 |
                             (uint32_t)config->threads);
        hash = mix(hash, (uint32_t)config->transport);
        hash = mix(hash, chunk_bits);
    }
    return hash ^ (hash >> 29);
}

static bool is_of(const struct search_memo_entry *entry,
                  uint64_t hash,
                  const struct model_plan *plan)
{
    if (entry->hash != hash) {
        return false;
    }
    for (int i = 0; i < plan->row_count; i++) {
        if (!model_config_equal(&entry->configs[i], &plan->rows[i].config)) {
            return false;
        }
    }
    return true;
}

/* The slot of a plan: with its entry, or empty. */
static struct search_memo_entry **find_slot(const struct search_memo *memo,
                                            uint64_t hash,
                                            const struct model_plan *plan)
{
    size_t at = (size_t)hash & (memo->slot_count - 1);

    while (memo->slots[at] != NULL && !is_of(memo->slots[at], hash, plan)) {
        at = (at + 1) & (memo->slot_count - 1);
    }
    return &memo->slots[at];
}

/* Twice the slots, at most half of them used. */
static void make_room(struct search_memo *memo)
{
    struct search_memo_entry **old = memo->slots;
    size_t old_count = memo->slot_count;

    if (2 * memo->used < memo->slot_count) {
        return;
    }
    memo->slot_count *= 2;
    memo->slots = model_arena_array(memo->arena, memo->slot_count,
                                    sizeof(struct search_memo_entry *));
    for (size_t i = 0; i < old_count; i++) {
        if (old[i] != NULL) {
            size_t at = (size_t)old[i]->hash & (memo->slot_count - 1);

            while (memo->slots[at] != NULL) {
                at = (at + 1) & (memo->slot_count - 1);
            }
            memo->slots[at] = old[i];
        }
    }
}

static void remember(struct search_memo *memo,
                     uint64_t hash,
                     const struct model_plan *plan,
                     const struct search_measure *measure)
{
    struct search_memo_entry *entry =
        model_arena_alloc(memo->arena, sizeof(*entry));
    struct model_config *configs = model_arena_array(
        memo->arena, (size_t)plan->row_count + 1, sizeof(*configs));

    for (int i = 0; i < plan->row_count; i++) {
        configs[i] = plan->rows[i].config;
    }
    entry->hash = hash;
    entry->configs = configs;
    search_measure_make(memo->arena, memo->problem, &entry->measure);
    search_measure_copy(memo->problem, measure, &entry->measure);
    make_room(memo);
    *find_slot(memo, hash, plan) = entry;
    memo->used++;
}

static enum model_status recall(void *context,
                                const struct model_plan *plan,
                                struct search_measure *measure,
                                struct model_errors *errors)
{
    struct search_memo *memo = context;
    uint64_t hash = hash_plan(plan);
    const struct search_memo_entry *known = *find_slot(memo, hash, plan);
    enum model_status status;

    if (known != NULL) {
        search_measure_copy(memo->problem, &known->measure, measure);
        return MODEL_OK;
    }
    status = search_evaluate(memo->inner, plan, measure, errors);
    if (status == MODEL_OK) {
        remember(memo, hash, plan, measure);
    }
    return status;
}

void search_memo_make(struct model_arena *arena,
                      const struct search_problem *problem,
                      struct search_evaluator *inner,
                      struct search_memo *memo)
{
    *memo = (struct search_memo){
        .arena = arena,
        .problem = problem,
        .inner = inner,
        .slots = model_arena_array(arena, SLOTS_FIRST,
                                   sizeof(struct search_memo_entry *)),
        .slot_count = SLOTS_FIRST};
}

struct search_evaluator search_memo_evaluator(struct search_memo *memo)
{
    return (struct search_evaluator){
        .evaluate = recall, .context = memo, .measures = memo->inner->measures};
}
