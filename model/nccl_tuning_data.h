/*
 * nccl_tuning_data.h - the constants of NCCL's tuning model, of one version:
 * the section `tuning` of topologies/nccl/VERSION.yaml.
 */
#ifndef MODEL_NCCL_TUNING_DATA_H
#define MODEL_NCCL_TUNING_DATA_H

#include "model/schema.h"

struct model_nccl_tuning_data {
    int least_threads; /* of a CTA */
};

/* The table of keys. */
extern const struct model_field model_nccl_tuning_fields[];

#endif
