/*
 * topology_nvlink.c - what a GPU's file says of NVLink, for the node it is in.
 */
#include "model/topology_read.h"

#include "model/node_merge.h"
#include "model/units.h"

#include <string.h>

/* A number below key, or 0. */
static double number_at(const struct model_node *mapping,
                        const char *key,
                        enum model_dimension dimension)
{
    const char *text = model_node_text_at(mapping, key, NULL);
    double value = 0.0;

    return text != NULL &&
                   model_units_parse(text, dimension, &value, NULL) == MODEL_OK
               ? value
               : 0.0;
}

/* The GPU's rate for so many of its links, as a guess. */
static void put_share(struct model_arena *arena,
                      struct model_node *nvlink,
                      double bytes_per_us,
                      double links,
                      double all)
{
    char text[64];
    struct model_node *rate =
        model_node_new(arena, MODEL_MAPPING, nvlink, "rate", NULL);
    struct model_node *source;

    rate->place = nvlink->place;
    (void)model_node_new(arena, MODEL_SCALAR, rate, "value",
                         model_units_print(bytes_per_us * links / all,
                                           MODEL_RATE, text, sizeof(text)));
    (void)model_node_new(arena, MODEL_SCALAR, rate, "from", "guess");
    source = model_node_new(
        arena, MODEL_SCALAR, rate, "source",
        model_arena_format(arena,
                           "the GPU's rate over NVLink, for %g of its %g links",
                           links, all));
    source->quoted = true;
    for (struct model_node *child = rate->first; child != NULL;
         child = child->next) {
        child->place = nvlink->place;
    }
}

void model_topology_nvlink(struct model_arena *arena,
                           struct model_node *nvlink,
                           const struct model_node *gpu)
{
    const struct model_node *part = model_node_find(gpu, "nvlink");
    bool listed = strcmp(model_node_text_at(nvlink, "kind", ""), "links") == 0;
    double all;
    double own;
    double rate;

    if (!model_node_is_mapping(nvlink) || !model_node_is_mapping(part)) {
        return;
    }
    all = number_at(part, "count", MODEL_COUNT);
    own = listed ? 1.0 : number_at(nvlink, "count", MODEL_COUNT);
    rate = number_at(part, "rate", MODEL_RATE);
    if (model_node_find(nvlink, "rate") == NULL && all > 0.0 && own > 0.0 &&
        own != all && rate > 0.0) {
        put_share(arena, nvlink, rate, own, all);
    }
    if (!listed) {
        model_node_merge(arena, nvlink, part);
    } else if (model_node_find(part, "latency") != NULL &&
               model_node_find(nvlink, "latency") == NULL) {
        model_node_adopt(arena, nvlink, model_node_find(part, "latency"));
    }
}
