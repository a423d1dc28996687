/*
 * nccl_graph_data.h - the constants of NCCL's graph search, of one version: the
 * section `graph` of topologies/nccl/VERSION.yaml.
 */
#ifndef MODEL_NCCL_GRAPH_DATA_H
#define MODEL_NCCL_GRAPH_DATA_H

#include "model/schema.h"

struct model_nccl_graph_data {
    int max_channels; /* of a communicator */
};

/* The table of keys. */
extern const struct model_field model_nccl_graph_fields[];

#endif
