/*
 * environment.c - settings that NCCL takes from the environment alone.
 *
 * Each item states demands: a variable, for one function or for all, and its
 * value. An environment is a set of demands without contradiction.
 */
#include "validate/replay/environment.h"

#include <math.h>
#include <string.h>

enum { DEMANDS_MAX = 8 }; /* of one item */

struct demand {
    const char *name, *value;
    const char *function; /* NULL: for all */
    double weight_bytes;
    const struct model_op *op;
};

/* The demands of one item, or of many. */
struct demands {
    struct demand *list;
    int count, room;
};

struct maker {
    struct model_arena *arena;
    const struct replay_environment_request *request;
    struct model_errors *errors;
    struct demands demands; /* of all items */
    struct model_list *notes;
    int notes_room;
};

static const char *function_name(const struct replay_work *work)
{
    switch ((enum model_collective_kind)work->collective) {
    case MODEL_ALL_GATHER:
        return "AllGather";
    case MODEL_REDUCE_SCATTER:
        return "ReduceScatter";
    case MODEL_ALL_REDUCE:
        return "AllReduce";
    case MODEL_BROADCAST:
        return "Broadcast";
    case MODEL_REDUCE:
        return "Reduce";
    default:
        return NULL; /* sends and receives have no algorithm */
    }
}

static void add(struct maker *maker,
                struct demands *demands,
                const struct replay_item *item,
                struct demand demand)
{
    const struct replay_schedule *schedule = maker->request->schedule;

    demand.op = &schedule->workload->ops[item->op];
    demand.weight_bytes = item->work.size_bytes;
    demands->list =
        model_arena_grow(maker->arena, demands->list, demands->count,
                         &demands->room, sizeof(demand));
    demands->list[demands->count++] = demand;
}

static void refuse(struct maker *maker,
                   const struct replay_item *item,
                   const char *key,
                   const char *hint,
                   const char *message)
{
    const struct model_op *op =
        &maker->request->schedule->workload->ops[item->op];

    (void)model_errors_add(maker->errors, MODEL_BAD_INPUT, op->place, key, hint,
                           "%s: %s", op->id, message);
}

static void demand_algorithm(struct maker *maker,
                             struct demands *demands,
                             const struct replay_item *item)
{
    static const char *const algorithms[MODEL_ALGORITHMS] = {
        [MODEL_RING] = "Ring",
        [MODEL_TREE] = "Tree",
        [MODEL_NVLS] = "NVLS",
        [MODEL_NVLS_TREE] = "NVLSTree",
        [MODEL_PAT] = "PAT"};
    static const char *const protocols[MODEL_PROTOCOLS] = {
        [MODEL_SIMPLE] = "Simple", [MODEL_LL] = "LL", [MODEL_LL128] = "LL128"};
    const char *function = function_name(&item->work);
    const struct model_config *config = &item->config;

    if (config->algorithm == MODEL_COPY_ENGINE) {
        refuse(maker, item, "algorithm", "leave it out",
               "NCCL takes copy engines only for registered buffers");
        return;
    }
    if (function == NULL) {
        return;
    }
    if (config->algorithm != MODEL_UNSET &&
        algorithms[config->algorithm] != NULL) {
        add(maker, demands, item,
            (struct demand){.name = "NCCL_ALGO",
                            .function = function,
                            .value = algorithms[config->algorithm]});
    }
    if (config->protocol != MODEL_UNSET) {
        add(maker, demands, item,
            (struct demand){.name = "NCCL_PROTO",
                            .function = function,
                            .value = protocols[config->protocol]});
    }
}

static void demand_number(struct maker *maker,
                          struct demands *demands,
                          const struct replay_item *item,
                          const char *name,
                          double value)
{
    add(maker, demands, item,
        (struct demand){.name = name,
                        .value =
                            model_arena_format(maker->arena, "%.0f", value)});
}

static void demand_threads(struct maker *maker,
                           struct demands *demands,
                           const struct replay_item *item)
{
    bool line = item->config.protocol == MODEL_LL128;
    int low = line ? 160 : 64;
    int high = line ? 640 : 512;
    int threads = item->config.threads;

    if (threads == 0 || function_name(&item->work) == NULL ||
        item->config.algorithm == MODEL_NVLS ||
        item->config.algorithm == MODEL_NVLS_TREE) {
        return; /* those kernels have a size of their own */
    }
    if (threads % 32 != 0 || threads < low || threads > high) {
        refuse(maker, item, "threads",
               line ? "write a multiple of 32 from 160 to 640"
                    : "write a multiple of 32 from 64 to 512",
               "NCCL does not take so many");
        return;
    }
    demand_number(maker, demands, item,
                  line ? "NCCL_LL128_NTHREADS" : "NCCL_NTHREADS", threads);
}

/* Buffer bytes per byte of chunk, and the variable. */
static double buffer_ratio(const struct replay_item *item, const char **name)
{
    const struct model_config *config = &item->config;
    bool ring =
        config->algorithm == MODEL_RING || config->algorithm == MODEL_UNSET;
    bool four_slots = item->work.collective == MODEL_ALL_GATHER ||
                      item->work.collective == MODEL_REDUCE_SCATTER ||
                      item->work.collective == MODEL_ALL_REDUCE;

    switch (config->protocol) {
    case MODEL_LL:
        *name = "NCCL_LL_BUFFSIZE";
        return 8.0 * 2.0;
    case MODEL_LL128:
        *name = "NCCL_LL128_BUFFSIZE";
        return 8.0 * 128.0 / 120.0;
    default:
        *name = "NCCL_BUFFSIZE";
        return ring && four_slots ? 2.0 : 8.0;
    }
}

static void demand_chunk(struct maker *maker,
                         struct demands *demands,
                         const struct replay_item *item)
{
    double chunk_bytes = item->config.chunk_bytes;
    const char *name;
    double bytes = chunk_bytes * buffer_ratio(item, &name);
    double slot =
        item->config.protocol == MODEL_LL128 ? 8.0 * 2048.0 : 8.0 * 512.0;

    if (!(chunk_bytes > 0.0)) {
        return;
    }
    if (function_name(&item->work) == NULL) {
        demand_number(maker, demands, item, "NCCL_P2P_NVL_CHUNKSIZE",
                      chunk_bytes);
        demand_number(maker, demands, item, "NCCL_P2P_PCI_CHUNKSIZE",
                      chunk_bytes);
        demand_number(maker, demands, item, "NCCL_P2P_NET_CHUNKSIZE",
                      chunk_bytes);
        return;
    }
    if (item->config.algorithm == MODEL_NVLS ||
        item->config.algorithm == MODEL_NVLS_TREE) {
        demand_number(maker, demands, item, "NCCL_NVLS_CHUNKSIZE", chunk_bytes);
        if (item->config.algorithm == MODEL_NVLS_TREE) {
            /* Else 64 KiB at most, on four nodes and more. */
            demand_number(maker, demands, item, "NCCL_NVLSTREE_MAX_CHUNKSIZE",
                          chunk_bytes);
        }
        return;
    }
    if (fmod(bytes, slot) > 0.0) {
        refuse(maker, item, "chunk",
               "write a multiple of 2 KiB, of 4 KiB for trees, broadcast and "
               "reduce, of 1920 B for LL128",
               "no buffer of NCCL has such chunks");
        return;
    }
    demand_number(maker, demands, item, name, bytes);
}

static void demand_transport(struct maker *maker,
                             struct demands *demands,
                             const struct replay_item *item)
{
    if (item->config.transport == MODEL_SHM) {
        add(maker, demands, item,
            (struct demand){.name = "NCCL_P2P_DISABLE", .value = "1"});
    } else if (item->config.transport == MODEL_P2P) {
        add(maker, demands, item,
            (struct demand){.name = "NCCL_P2P_LEVEL", .value = "SYS"});
    }
}

/* Channels of sends and receives are no communicator's. */
static void demand_channels(struct maker *maker,
                            struct demands *demands,
                            const struct replay_item *item)
{
    int channels = item->config.channels;

    if (channels == 0 || function_name(&item->work) != NULL) {
        return;
    }
    if ((channels & (channels - 1)) != 0) {
        refuse(maker, item, "channels", "write 1, 2, 4, 8, ...",
               "NCCL sends and receives over a power of two of them");
        return;
    }
    demand_number(maker, demands, item, "NCCL_MIN_P2P_NCHANNELS", channels);
    demand_number(maker, demands, item, "NCCL_MAX_P2P_NCHANNELS", channels);
}

static void demand_all(struct maker *maker,
                       struct demands *demands,
                       const struct replay_item *item)
{
    demand_algorithm(maker, demands, item);
    demand_threads(maker, demands, item);
    demand_chunk(maker, demands, item);
    demand_transport(maker, demands, item);
    demand_channels(maker, demands, item);
}

/* The value that moves the most bytes among demands of that variable, and of
   that function where it is not NULL. */
static const struct demand *heaviest(const struct demands *demands,
                                     const struct demand *like,
                                     bool by_function)
{
    const struct demand *best = like;
    double best_bytes = -1.0;

    for (int i = 0; i < demands->count; i++) {
        const struct demand *value = &demands->list[i];
        double bytes = 0.0;

        for (int j = 0; j < demands->count; j++) {
            const struct demand *other = &demands->list[j];

            if (strcmp(other->name, like->name) == 0 &&
                strcmp(value->name, like->name) == 0 &&
                strcmp(other->value, value->value) == 0 &&
                (!by_function ||
                 (model_same_text(other->function, like->function) &&
                  model_same_text(value->function, like->function)))) {
                bytes += other->weight_bytes;
            }
        }
        if (bytes > best_bytes) {
            best = value;
            best_bytes = bytes;
        }
    }
    return best;
}

static void contradict(struct maker *maker,
                       const struct demand *chosen,
                       const struct demand *other)
{
    if (!maker->request->nearest) {
        (void)model_errors_add(
            maker->errors, MODEL_BAD_INPUT, other->op->place, NULL,
            "give them one value, measure alone, or take --nearest",
            "%s wants %s=%s, %s wants %s: one process has one value",
            other->op->id, other->name, other->value, chosen->op->id,
            chosen->value);
        return;
    }
    maker->notes->items =
        model_arena_grow(maker->arena, maker->notes->items, maker->notes->count,
                         &maker->notes_room, sizeof(const char *));
    ((const char **)maker->notes->items)[maker->notes->count++] =
        model_arena_format(maker->arena, "%s runs with %s=%s, not %s",
                           other->op->id, other->name, chosen->value,
                           other->value);
}

/* The value of a variable: one for all, or one for each function. */
static const char *settle(struct maker *maker,
                          const struct demands *demands,
                          const struct demand *first)
{
    bool by_function = first->function != NULL &&
                       maker->request->version >= REPLAY_BY_FUNCTION;
    const char *text = "";

    for (int i = 0; i < demands->count; i++) {
        const struct demand *demand = &demands->list[i];
        const struct demand *chosen;
        bool named = false;

        if (strcmp(demand->name, first->name) != 0) {
            continue;
        }
        chosen = heaviest(demands, demand, by_function);
        if (strcmp(chosen->value, demand->value) != 0) {
            contradict(maker, chosen, demand);
        }
        if (!by_function) {
            text = chosen->value;
            continue;
        }
        for (int j = 0; j < i; j++) {
            named = named || (strcmp(demands->list[j].name, first->name) == 0 &&
                              model_same_text(demands->list[j].function,
                                              demand->function));
        }
        if (!named) {
            text = model_arena_format(maker->arena, "%s%s%s:%s", text,
                                      text[0] != '\0' ? ";" : "",
                                      demand->function, chosen->value);
        }
    }
    return text;
}

static struct replay_environment gather(struct maker *maker,
                                        const struct demands *demands)
{
    struct replay_environment environment = {.count = 0};

    for (int i = 0; i < demands->count; i++) {
        const struct demand *demand = &demands->list[i];
        bool done = false;

        for (int j = 0; j < i; j++) {
            done = done || strcmp(demands->list[j].name, demand->name) == 0;
        }
        if (!done && environment.count < REPLAY_VARIABLES_MAX) {
            environment.variables[environment.count++] =
                model_arena_format(maker->arena, "%s=%s", demand->name,
                                   settle(maker, demands, demand));
        }
    }
    return environment;
}

static bool same_environment(const struct replay_environment *a,
                             const struct replay_environment *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->variables[i], b->variables[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* The number of an environment equal to that one, which is added if new. */
static int place(struct replay_environments *environments,
                 const struct replay_environment *environment)
{
    for (int i = 0; i < environments->count; i++) {
        if (same_environment(&environments->list[i], environment)) {
            return i;
        }
    }
    environments->list[environments->count] = *environment;
    return environments->count++;
}

enum model_status
replay_environments_make(struct model_arena *arena,
                         const struct replay_environment_request *request,
                         struct replay_environments *environments,
                         struct model_list *notes,
                         struct model_errors *errors)
{
    struct replay_schedule *schedule = request->schedule;
    struct maker maker = {
        .arena = arena, .request = request, .errors = errors, .notes = notes};
    int faults = errors->count;
    struct replay_environment none = {.count = 0};

    *environments = (struct replay_environments){
        .list = model_arena_array(arena, (size_t)schedule->item_count + 1,
                                  sizeof(none))};
    *notes = (struct model_list){.count = 0};
    if (request->one) {
        (void)place(environments, &none);
    }
    for (int i = 0; i < schedule->item_count; i++) {
        struct replay_item *item = &schedule->items[i];
        struct demands own = {.count = 0};

        if (request->one) {
            item->environment = 0;
        }
        if (item->work.kind == REPLAY_COLLECTIVE) {
            demand_all(&maker, request->one ? &maker.demands : &own, item);
        }
        if (!request->one) {
            struct replay_environment environment = gather(&maker, &own);

            item->environment = place(environments, &environment);
        }
    }
    if (request->one) {
        environments->list[0] = gather(&maker, &maker.demands);
    }
    return errors->count == faults ? MODEL_OK : MODEL_BAD_INPUT;
}
