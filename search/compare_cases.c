/*
 * compare_cases.c - which topologies with which workloads, read and put into
 * order.
 *
 * Each with each; or, with --published, those that a claim in the workload's
 * file names. What the command line leaves out is then taken from the shipped
 * workloads and from the claims.
 */
#include "search/compare.h"

#include "model/files.h"
#include "model/transformer.h"

#include <string.h>

/* What may be combined. Texts are as the user writes them. */
struct listing {
    const char **topologies;
    const char **names; /* of the topologies; known with --published */
    int topology_count;
    const char **workloads;
    struct model_list *claims; /* by workload, with --published */
    int workload_count;
};

enum { LISTED_MAX = 1024 };

static void listing_make(struct model_arena *arena, struct listing *listing)
{
    *listing = (struct listing){
        .topologies =
            model_arena_array(arena, LISTED_MAX, sizeof(*listing->topologies)),
        .names = model_arena_array(arena, LISTED_MAX, sizeof(*listing->names)),
        .workloads =
            model_arena_array(arena, LISTED_MAX, sizeof(*listing->workloads)),
        .claims =
            model_arena_array(arena, LISTED_MAX, sizeof(*listing->claims))};
}

/* Append, once; returns whether it was new. */
static bool add(const char **texts, int *count, const char *text)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(texts[i], text) == 0) {
            return false;
        }
    }
    if (*count == LISTED_MAX) {
        return false;
    }
    texts[(*count)++] = text;
    return true;
}

static void take_operands(const struct sim_options *options,
                          struct listing *listing)
{
    for (int i = 0; i < options->topologies.count; i++) {
        listing->topologies[i] = options->topologies.items[i];
    }
    for (int i = 0; i < options->workloads.count; i++) {
        listing->workloads[i] = options->workloads.items[i];
    }
    listing->topology_count = options->topologies.count;
    listing->workload_count = options->workloads.count;
}

/* -- what is published -- */

static enum model_status read_claims(struct sim_cli *cli,
                                     const char *workload,
                                     struct model_list *claims)
{
    struct model_place nowhere = {"lagom", 0, 0};
    const char *path = model_file_find(cli->arena, "workloads", workload,
                                       nowhere, NULL, cli->errors);
    const struct model_node *root =
        path != NULL ? model_yaml_read_file(cli->arena, path, cli->errors)
                     : NULL;

    if (root == NULL || cli->errors->count > 0) {
        return MODEL_BAD_INPUT;
    }
    return root->kind == MODEL_MAPPING
               ? model_claims_read(cli->arena, root, claims, cli->errors)
               : MODEL_OK;
}

/* The claims of the workloads given, or of all shipped ones that have some. */
static enum model_status list_workloads(struct sim_cli *cli,
                                        struct listing *listing)
{
    const struct sim_cli_list *given = &cli->options.workloads;
    const char *const *names = given->count == 0
                                   ? model_file_names(cli->arena, "workloads")
                                   : given->items;

    listing->workload_count = 0;
    for (int i = 0; given->count > 0 ? i < given->count : names[i] != NULL;
         i++) {
        struct model_list claims = {.items = NULL};
        int at = listing->workload_count;

        if (read_claims(cli, names[i], &claims) != MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
        if (claims.count > 0 &&
            add(listing->workloads, &listing->workload_count, names[i])) {
            listing->claims[at] = claims;
        }
    }
    return MODEL_OK;
}

/* The names of the topologies given, or all that the claims name. */
static enum model_status list_topologies(struct sim_cli *cli,
                                         struct listing *listing)
{
    for (int i = 0; i < listing->topology_count; i++) {
        struct model_topology topology;

        if (sim_load_topology(cli, listing->topologies[i], NULL, &topology) !=
            MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
        listing->names[i] = topology.name;
    }
    for (int i = 0;
         i < listing->workload_count && cli->options.topologies.count == 0;
         i++) {
        const struct model_claim *claims = listing->claims[i].items;

        for (int j = 0; j < listing->claims[i].count; j++) {
            const char *const *names = claims[j].topologies.items;

            for (int k = 0; k < claims[j].topologies.count; k++) {
                (void)add(listing->topologies, &listing->topology_count,
                          names[k]);
            }
        }
        memcpy(listing->names, listing->topologies,
               (size_t)listing->topology_count * sizeof(*listing->names));
    }
    return MODEL_OK;
}

static bool is_published(const struct listing *listing, int t, int w)
{
    const struct model_claim *claims = listing->claims[w].items;

    for (int i = 0; i < listing->claims[w].count; i++) {
        if (model_claim_names(&claims[i], listing->names[t])) {
            return true;
        }
    }
    return false;
}

/* -- cases -- */

/* Families in the order of their table, the op form last. */
static int family_rank(const char *family)
{
    int rank = 0;

    while (model_parallel_names[rank] != NULL &&
           strcmp(model_parallel_names[rank], family) != 0) {
        rank++;
    }
    return rank;
}

/* Insert behind those of its family. */
static void insert_case(struct search_comparison *table,
                        struct search_case *new_case)
{
    int at = table->case_count;

    table->cases =
        model_arena_grow(table->cli->arena, table->cases, table->case_count,
                         &table->case_room, sizeof(struct search_case *));
    for (; at > 0 && family_rank(table->cases[at - 1]->family) >
                         family_rank(new_case->family);
         at--) {
        table->cases[at] = table->cases[at - 1];
    }
    table->cases[at] = new_case;
    table->case_count++;
}

static enum model_status load_case(struct search_comparison *table,
                                   const char *topology,
                                   const char *workload)
{
    struct model_arena *arena = table->cli->arena;
    struct search_case *new_case = model_arena_alloc(arena, sizeof(*new_case));
    enum model_status status =
        sim_load(table->cli, topology, workload, &new_case->input);

    if (status != MODEL_OK) {
        return status;
    }
    new_case->family = new_case->input.workload.parallelism != NULL
                           ? new_case->input.workload.parallelism
                           : "ops";
    new_case->rows = model_arena_array(arena, (size_t)table->strategy_count,
                                       sizeof(*new_case->rows));
    for (int i = 0; i < table->strategy_count; i++) {
        new_case->rows[i].of = new_case;
        new_case->rows[i].strategy = table->strategies[i];
    }
    insert_case(table, new_case);
    return search_claims_check(table, new_case);
}

/* A topology stands with the one that it is based on, if that is there. */
static void name_clusters(struct search_comparison *table)
{
    for (int i = 0; i < table->case_count; i++) {
        const struct model_topology *topology =
            &table->cases[i]->input.topology;

        table->cases[i]->cluster = topology->name;
        for (int j = 0; j < table->case_count && topology->base != NULL; j++) {
            const char *name = table->cases[j]->input.topology.name;

            if (strcmp(name, topology->base) == 0) {
                table->cases[i]->cluster = name;
            }
        }
    }
}

enum model_status search_cases_load(struct search_comparison *table)
{
    struct sim_cli *cli = table->cli;
    bool published = cli->options.published;
    struct listing listing;
    enum model_status status = MODEL_OK;

    listing_make(cli->arena, &listing);
    take_operands(&cli->options, &listing);
    if (published) {
        status = list_workloads(cli, &listing);
    }
    if (published && status == MODEL_OK) {
        status = list_topologies(cli, &listing);
    }
    for (int t = 0; t < listing.topology_count; t++) {
        for (int w = 0; w < listing.workload_count && status == MODEL_OK; w++) {
            if (!published || is_published(&listing, t, w)) {
                status = load_case(table, listing.topologies[t],
                                   listing.workloads[w]);
            }
        }
    }
    name_clusters(table);
    if (status == MODEL_OK && table->case_count == 0) {
        return model_errors_add(
            cli->errors, MODEL_BAD_INPUT, (struct model_place){"lagom", 0, 0},
            NULL, "see the key published: of workloads/phi-2-fsdp.yaml",
            "nothing is published for these workloads and topologies");
    }
    return status;
}
