/*
 * ranks.c - lists of exceptions, looked through in order.
 */
#include "model/ranks.h"

#include "model/topology.h"

#define AT(member) offsetof(struct model_mixed, member)

const struct model_field model_mixed_fields[] = {
    {.key = "nodes",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = AT(nodes),
     .help = "numbers of nodes, from 0"},
    {.key = "ranks",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = AT(ranks),
     .help = "numbers of ranks, from 0, instead of nodes"},
    {.key = "gpu",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(gpu_node),
     .required = true,
     .help = "their GPU: as the topology's gpu"},
    {.key = NULL}};

static const struct model_field slow_fields[] = {
    {.key = "rank",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = offsetof(struct model_slow, rank),
     .required = true,
     .help = "number of the rank, from 0"},
    {.key = "slow",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = offsetof(struct model_slow, ratio),
     .min = 0.01,
     .max = 1000.0,
     .required = true,
     .sourced = true,
     .help = "its kernels take so many times as long"},
    {.key = NULL}};

const struct model_field model_variation_fields[] = {
    {.key = "jitter",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = offsetof(struct model_variation, jitter_ratio),
     .max = 1.0,
     .sourced = true,
     .help = "relative deviation of kernel times (log-normal, mean 1, --seed)"},
    {.key = "ranks",
     .kind = MODEL_FIELD_LIST,
     .offset = offsetof(struct model_variation, ranks),
     .fields = slow_fields,
     .item_bytes = sizeof(struct model_slow),
     .help = "ranks with another speed"},
    {.key = NULL}};

/* -- lookup -- */

static const struct model_mixed *rows(const struct model_topology *topology)
{
    return topology->mixed.items;
}

static const struct model_slow *
slow_ranks(const struct model_topology *topology)
{
    return topology->variation.ranks.items;
}

static bool holds(const struct model_list *list, int number)
{
    const double *items = list->items;

    for (int i = 0; i < list->count; i++) {
        if ((int)items[i] == number) {
            return true;
        }
    }
    return false;
}

static bool is_in(const struct model_topology *topology,
                  const struct model_mixed *row,
                  int rank)
{
    return holds(&row->nodes, rank / topology->gpus_per_node) ||
           holds(&row->ranks, rank);
}

bool model_ranks_differ(const struct model_topology *topology)
{
    return topology->mixed.count > 0 || topology->variation.ranks.count > 0 ||
           topology->variation.jitter_ratio > 0.0;
}

int model_ranks_gpu_count(const struct model_topology *topology)
{
    return 1 + topology->mixed.count;
}

int model_ranks_gpu_index(const struct model_topology *topology, int rank)
{
    for (int i = 0; i < topology->mixed.count; i++) {
        if (is_in(topology, &rows(topology)[i], rank)) {
            return i + 1;
        }
    }
    return 0;
}

const struct model_gpu *
model_ranks_gpu_at(const struct model_topology *topology, int index)
{
    return index == 0 ? &topology->gpu : &rows(topology)[index - 1].gpu;
}

double model_ranks_slow_ratio(const struct model_topology *topology, int rank)
{
    for (int i = 0; i < topology->variation.ranks.count; i++) {
        if (slow_ranks(topology)[i].rank == rank) {
            return slow_ranks(topology)[i].ratio;
        }
    }
    return 1.0;
}

/* -- checks -- */

struct check {
    struct model_arena *arena;
    const struct model_topology *topology;
    struct model_errors *errors;
};

static void fault(const struct check *check,
                  const char *part,
                  const char *key,
                  const char *hint,
                  const char *message)
{
    const struct model_node *node =
        model_node_find(check->topology->tree, part);

    (void)model_errors_add(check->errors, MODEL_BAD_INPUT,
                           node != NULL ? node->place
                                        : check->topology->tree->place,
                           key, hint, "%s", message);
}

/* Numbers of a list that do not exist. */
static void check_numbers(const struct check *check,
                          int row,
                          const char *what,
                          const struct model_list *list,
                          int count)
{
    const double *items = list->items;

    for (int i = 0; i < list->count; i++) {
        if (items[i] >= (double)count) {
            fault(check, "mixed",
                  model_arena_format(check->arena, "mixed[%d].%s[%d]", row,
                                     what, i),
                  model_arena_format(check->arena, "write 0 to %d", count - 1),
                  "there is no such number");
        }
    }
}

static void check_row(const struct check *check, int row)
{
    const struct model_mixed *mixed = &rows(check->topology)[row];
    int ranks = model_topology_rank_count(check->topology);
    const char *key = model_arena_format(check->arena, "mixed[%d]", row);

    if ((mixed->nodes.count > 0) == (mixed->ranks.count > 0)) {
        fault(check, "mixed", key, "write {nodes: [1], gpu: a100}",
              "either nodes or ranks are wanted");
    }
    check_numbers(check, row, "nodes", &mixed->nodes,
                  check->topology->node_count);
    check_numbers(check, row, "ranks", &mixed->ranks, ranks);
    for (int i = 0; i < row; i++) {
        for (int rank = 0; rank < ranks; rank++) {
            if (is_in(check->topology, mixed, rank) &&
                is_in(check->topology, &rows(check->topology)[i], rank)) {
                fault(check, "mixed", key, "name each rank once",
                      model_arena_format(check->arena,
                                         "rank %d has a GPU already", rank));
                return;
            }
        }
    }
}

static void check_slow(const struct check *check, int row)
{
    int ranks = model_topology_rank_count(check->topology);
    int rank = slow_ranks(check->topology)[row].rank;
    const char *key =
        model_arena_format(check->arena, "variation.ranks[%d].rank", row);

    if (rank >= ranks) {
        fault(check, "variation", key,
              model_arena_format(check->arena, "write 0 to %d", ranks - 1),
              "there is no such rank");
    }
    for (int i = 0; i < row; i++) {
        if (slow_ranks(check->topology)[i].rank == rank) {
            fault(check, "variation", key, "name each rank once",
                  model_arena_format(check->arena, "rank %d stands here twice",
                                     rank));
        }
    }
}

enum model_status model_ranks_check(struct model_arena *arena,
                                    const struct model_topology *topology,
                                    struct model_errors *errors)
{
    struct check check = {arena, topology, errors};
    int before = errors->count;

    for (int i = 0; i < topology->mixed.count; i++) {
        check_row(&check, i);
    }
    for (int i = 0; i < topology->variation.ranks.count; i++) {
        check_slow(&check, i);
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
