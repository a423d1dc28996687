/*
 * claim.c - the key `published` of a workload's file.
 */
#include "model/claim.h"

#include <string.h>

#define AT(member) offsetof(struct model_claim, member)

const struct model_field model_claim_fields[] = {
    {.key = "strategy",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(strategy),
     .default_text = "lagom",
     .help = "whose speedup it is"},
    {.key = "over",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(over),
     .default_text = "nccl",
     .help = "the strategy it is faster than"},
    {.key = "min",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(min_ratio),
     .min = 0.01,
     .max = 1000.0,
     .required = true,
     .help = "least published speedup"},
    {.key = "max",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(max_ratio),
     .min = 0.01,
     .max = 1000.0,
     .required = true,
     .help = "largest published speedup"},
    {.key = "topologies",
     .kind = MODEL_FIELD_TEXTS,
     .offset = AT(topologies),
     .required = true,
     .help = "names of the topologies it holds for"},
    {.key = "source",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(source),
     .required = true,
     .help = "where it is published"},
    {.key = NULL}};

/* Keys that are well by themselves may still claim nothing. */
static void check_claim(const struct model_claim *claim,
                        const char *path,
                        struct model_errors *errors)
{
    const char *hint = "write the smaller one as min";
    const char *message = NULL;

    if (claim->min_ratio > claim->max_ratio) {
        message = "min is larger than max";
    } else if (claim->topologies.count == 0) {
        hint = "write topologies: [lagom-a]";
        message = "it holds for no topology";
    }
    if (message != NULL) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT, claim->place, path,
                               hint, "%s", message);
    }
}

static void read_claim(struct model_arena *arena,
                       const struct model_node *node,
                       const char *path,
                       struct model_claim *claim,
                       struct model_errors *errors)
{
    struct model_binding binding = {
        .arena = arena, .errors = errors, .path = path};

    claim->place = node->place;
    if (model_schema_bind(&binding, model_claim_fields, node, claim) ==
        MODEL_OK) {
        check_claim(claim, path, errors);
    }
}

enum model_status model_claims_read(struct model_arena *arena,
                                    const struct model_node *root,
                                    struct model_list *claims,
                                    struct model_errors *errors)
{
    const struct model_node *node = model_node_find(root, "published");
    int before = errors->count;
    struct model_claim *items;

    *claims = (struct model_list){.items = NULL};
    if (node == NULL) {
        return MODEL_OK;
    }
    items = model_arena_array(arena, (size_t)node->count + 1, sizeof(*items));
    claims->items = items;
    if (node->kind != MODEL_SEQUENCE) {
        read_claim(arena, node, "published", &items[claims->count++], errors);
    } else {
        for (const struct model_node *item = node->first; item != NULL;
             item = item->next) {
            const char *path =
                model_arena_format(arena, "published[%d]", claims->count);

            read_claim(arena, item, path, &items[claims->count++], errors);
        }
    }
    return errors->count > before ? MODEL_BAD_INPUT : MODEL_OK;
}

bool model_claim_names(const struct model_claim *claim, const char *topology)
{
    const char *const *names = claim->topologies.items;

    for (int i = 0; i < claim->topologies.count; i++) {
        if (strcmp(names[i], topology) == 0) {
            return true;
        }
    }
    return false;
}
