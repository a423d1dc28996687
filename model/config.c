/*
 * config.c - names, defaults and comparison of a collective's settings.
 */
#include "model/config.h"

#include "model/units.h"

#include <stdio.h>

const char *const model_algorithm_names[] = {"ring",        "tree", "nvls",
                                             "nvls_tree",   "pat",  "pairwise",
                                             "copy_engine", NULL};
const char *const model_protocol_names[] = {"simple", "ll", "ll128", NULL};
const char *const model_transport_names[] = {"p2p", "shm", NULL};

struct model_config model_config_none(void)
{
    return (struct model_config){.algorithm = MODEL_UNSET,
                                 .protocol = MODEL_UNSET,
                                 .transport = MODEL_UNSET};
}

void model_config_fill(struct model_config *config,
                       const struct model_config *fallback)
{
    if (config->algorithm == MODEL_UNSET) {
        config->algorithm = fallback->algorithm;
    }
    if (config->protocol == MODEL_UNSET) {
        config->protocol = fallback->protocol;
    }
    if (config->transport == MODEL_UNSET) {
        config->transport = fallback->transport;
    }
    if (config->channels == 0) {
        config->channels = fallback->channels;
    }
    if (config->threads == 0) {
        config->threads = fallback->threads;
    }
    if (!(config->chunk_bytes > 0.0)) {
        config->chunk_bytes = fallback->chunk_bytes;
    }
}

bool model_config_is_complete(const struct model_config *config)
{
    return config->algorithm != MODEL_UNSET &&
           config->protocol != MODEL_UNSET &&
           config->transport != MODEL_UNSET && config->channels > 0 &&
           config->threads > 0 && config->chunk_bytes > 0.0;
}

bool model_config_equal(const struct model_config *a,
                        const struct model_config *b)
{
    return a->algorithm == b->algorithm && a->protocol == b->protocol &&
           a->transport == b->transport && a->channels == b->channels &&
           a->threads == b->threads &&
           model_same(a->chunk_bytes, b->chunk_bytes);
}

static const char *name_or_dash(const char *const *names, int index)
{
    return index == MODEL_UNSET ? "-" : names[index];
}

char *model_config_print(const struct model_config *config,
                         char *buffer,
                         size_t buffer_bytes)
{
    char chunk[32];

    model_units_print(config->chunk_bytes, MODEL_BYTES, chunk, sizeof(chunk));
    (void)snprintf(buffer, buffer_bytes, "%s %s %s %dx%d %s",
                   name_or_dash(model_algorithm_names, config->algorithm),
                   name_or_dash(model_protocol_names, config->protocol),
                   name_or_dash(model_transport_names, config->transport),
                   config->channels, config->threads, chunk);
    return buffer;
}
