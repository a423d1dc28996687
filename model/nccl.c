/*
 * nccl.c - NCCL's choice for the collectives of a workload.
 */
#include "model/nccl.h"

/* Which of NCCL's algorithms is meant, or MODEL_UNSET. */
static int nccl_algorithm(int algorithm)
{
    switch (algorithm) {
    case MODEL_RING:
        return MODEL_NCCL_RING;
    case MODEL_TREE:
        return MODEL_NCCL_TREE;
    case MODEL_NVLS:
        return MODEL_NCCL_NVLS;
    case MODEL_NVLS_TREE:
        return MODEL_NCCL_NVLS_TREE;
    case MODEL_PAT:
        return MODEL_NCCL_PAT;
    default:
        return MODEL_UNSET;
    }
}

static int nccl_protocol(int protocol)
{
    switch (protocol) {
    case MODEL_SIMPLE:
        return MODEL_NCCL_SIMPLE;
    case MODEL_LL:
        return MODEL_NCCL_LL;
    case MODEL_LL128:
        return MODEL_NCCL_LL128;
    default:
        return MODEL_UNSET;
    }
}

/*
 * The function that NCCL tunes, or MODEL_UNSET: sends and receives. ring_step
 * is none of NCCL's: what a lone rank's reduce_scatter would be launched with.
 */
static int nccl_function(enum model_collective_kind kind)
{
    switch (kind) {
    case MODEL_ALL_GATHER:
        return MODEL_NCCL_ALL_GATHER;
    case MODEL_REDUCE_SCATTER:
    case MODEL_RING_STEP:
        return MODEL_NCCL_REDUCE_SCATTER;
    case MODEL_ALL_REDUCE:
        return MODEL_NCCL_ALL_REDUCE;
    case MODEL_BROADCAST:
        return MODEL_NCCL_BROADCAST;
    case MODEL_REDUCE:
        return MODEL_NCCL_REDUCE;
    case MODEL_ALL_TO_ALL:
    case MODEL_SEND_RECV:
    case MODEL_SEND:
    case MODEL_COLLECTIVE_KINDS:
        break;
    }
    return MODEL_UNSET;
}

/* -- what was observed, as if the job had asked for it -- */

static void observe_channels(struct model_nccl_settings *settings, int channels)
{
    int most = settings->max_channels;
    int least = settings->min_channels;

    if (settings->max_ctas != MODEL_UNSET &&
        (most == MODEL_UNSET || settings->max_ctas < most)) {
        most = settings->max_ctas;
    }
    if (settings->min_ctas > least) {
        least = settings->min_ctas;
    }
    /* The job's own limits still bound what was seen without them. */
    if (most != MODEL_UNSET && channels > most) {
        channels = most;
    }
    if (least != MODEL_UNSET && channels < least) {
        channels = least;
    }
    settings->min_channels = channels;
    settings->max_channels = channels;
}

static void observe(struct model_nccl_settings *settings,
                    const struct model_config *seen)
{
    if (seen->channels > 0) {
        observe_channels(settings, seen->channels);
    }
    if (seen->chunk_bytes > 0.0 &&
        settings->buffer_bytes[MODEL_NCCL_SIMPLE] <= 0.0) {
        /* A chunk of rings is half of the buffer. */
        settings->buffer_bytes[MODEL_NCCL_SIMPLE] = 2.0 * seen->chunk_bytes;
    }
    if (seen->transport == MODEL_SHM && settings->p2p_disable == MODEL_UNSET) {
        settings->p2p_disable = 1;
    } else if (seen->transport == MODEL_P2P &&
               settings->p2p_level == MODEL_UNSET) {
        settings->p2p_level = MODEL_PATH_SYS;
    }
}

/* -- communicators -- */

/* The candidates that an algorithm and a protocol leave, any where they are
 * not set; 0: none of NCCL's. */
static int narrow(struct model_nccl_tuning *tuning,
                  enum model_nccl_function function,
                  int algorithm,
                  int protocol,
                  const char *off)
{
    int left = 0;

    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            struct model_nccl_pair *pair = &tuning->pairs[function][a][p];

            if ((algorithm != MODEL_UNSET && a != algorithm) ||
                (protocol != MODEL_UNSET && p != protocol)) {
                *pair = (struct model_nccl_pair){.off = off};
            }
            left += pair->off == NULL ? 1 : 0;
        }
    }
    return left;
}

/*
 * An observed pair goes for all collectives that can have it, and for which the
 * job asks for nothing; of a pair that one cannot have, the protocol alone.
 */
static void observe_pairs(const struct model_config *seen,
                          const struct model_nccl_settings *settings,
                          struct model_nccl_tuning *tuning)
{
    static const char *const off = "not what was observed";

    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        int algorithm = settings->algorithm_set[f]
                            ? MODEL_UNSET
                            : nccl_algorithm(seen->algorithm);
        int protocol = settings->protocol_set[f]
                           ? MODEL_UNSET
                           : nccl_protocol(seen->protocol);
        struct model_nccl_tuning narrowed = *tuning;

        if (narrow(&narrowed, (enum model_nccl_function)f, algorithm, protocol,
                   off) == 0) {
            narrowed = *tuning;
            if (narrow(&narrowed, (enum model_nccl_function)f, MODEL_UNSET,
                       protocol, off) == 0) {
                continue;
            }
        }
        *tuning = narrowed;
    }
}

static void
make_comm(struct model_arena *arena, struct model_nccl *nccl, int group)
{
    const struct model_config *seen = &nccl->topology->observed.config;
    struct model_nccl_group *made = &nccl->groups[group];
    struct model_group first =
        model_group_instance(&nccl->workload->groups[group], 0);

    made->comm = model_arena_alloc(arena, sizeof(*made->comm));
    made->tuning = model_arena_alloc(arena, sizeof(*made->tuning));
    model_nccl_comm_make(arena, nccl->topology, &first, nccl->version,
                         &nccl->settings, made->comm);
    model_nccl_tuning_make(made->comm, made->tuning);
    if (nccl->observed) {
        observe_pairs(seen, &nccl->settings, made->tuning);
    }
    if (nccl->observed && seen->threads > 0 &&
        nccl->settings.threads == MODEL_UNSET) {
        made->tuning->threads[MODEL_NCCL_RING][MODEL_NCCL_SIMPLE] =
            seen->threads;
    }
}

void model_nccl_make(struct model_arena *arena,
                     const struct model_topology *topology,
                     const struct model_workload *workload,
                     const struct model_nccl_version *version,
                     const struct model_nccl_settings *settings,
                     bool as_observed,
                     struct model_nccl *nccl)
{
    size_t groups = (size_t)workload->group_count + 1;

    *nccl = (struct model_nccl){.topology = topology,
                                .workload = workload,
                                .version = version,
                                .settings = *settings,
                                .observed =
                                    as_observed && topology->observed.present};
    nccl->groups = model_arena_array(arena, groups, sizeof(*nccl->groups));
    if (nccl->observed) {
        observe(&nccl->settings, &topology->observed.config);
    }
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        if (model_op_is_collective(op) &&
            nccl->groups[op->group].comm == NULL &&
            !model_config_is_complete(&op->config)) {
            make_comm(arena, nccl, op->group);
        }
    }
}

/* -- choices -- */

static void choose_tuned(const struct model_nccl_tuning *tuning,
                         enum model_nccl_function function,
                         double bytes,
                         const struct model_config *given,
                         struct model_nccl_choice *choice)
{
    struct model_nccl_tuning narrowed = *tuning;
    int algorithm = nccl_algorithm(given->algorithm);
    int protocol = nccl_protocol(given->protocol);

    if (narrow(&narrowed, function, algorithm, protocol, "not asked for") > 0) {
        model_nccl_choose(&narrowed, function, bytes, choice);
        return;
    }
    /* A pair that NCCL itself would not take: how it would run all the same. */
    model_nccl_choose(tuning, function, bytes, choice);
    if (algorithm == MODEL_UNSET && choice->algorithm == MODEL_UNSET) {
        return; /* NCCL fails */
    }
    model_nccl_settle(
        tuning, algorithm != MODEL_UNSET ? algorithm : choice->algorithm,
        protocol != MODEL_UNSET ? protocol : MODEL_NCCL_SIMPLE, choice);
}

/* Bytes between two members, and with how many each talks at once. */
static void choose_pairwise(const struct model_nccl_comm *comm,
                            const struct model_op *op,
                            struct model_nccl_choice *choice)
{
    bool all = op->kind == MODEL_OP_ALL_TO_ALL;
    double n = comm->rank_count;

    model_nccl_choose_p2p(comm, all ? op->bytes / n : op->bytes,
                          all ? comm->rank_count : 1, choice);
}

bool model_nccl_choice_of(const struct model_nccl *nccl,
                          const struct model_op *op,
                          const struct model_config *given,
                          struct model_nccl_choice *choice)
{
    int function = nccl_function(model_op_collective(op));
    const struct model_nccl_tuning *tuning = nccl->groups[op->group].tuning;

    if (tuning == NULL) {
        return false;
    }
    if (function == MODEL_UNSET) {
        choose_pairwise(tuning->comm, op, choice);
    } else {
        choose_tuned(tuning, (enum model_nccl_function)function, op->bytes,
                     given, choice);
    }
    return true;
}

struct model_config model_nccl_complete(const struct model_nccl *nccl,
                                        const struct model_op *op,
                                        const struct model_config *given)
{
    struct model_config config = *given;
    struct model_config chosen;
    struct model_nccl_choice choice;

    if (!model_config_is_complete(&config) &&
        model_nccl_choice_of(nccl, op, given, &choice)) {
        chosen = model_nccl_config(&choice);
        model_config_fill(&config, &chosen);
    }
    return config;
}
