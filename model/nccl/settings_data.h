/*
 * settings_data.h - how one version of NCCL reads its variables: the
 * section `settings` of topologies/nccl/VERSION.yaml.
 */
#ifndef MODEL_NCCL_SETTINGS_DATA_H
#define MODEL_NCCL_SETTINGS_DATA_H

#include "model/schema.h"

struct model_nccl_settings_data {
    int code;                     /* as NCCL counts it: 21803 is 2.18.3 */
    struct model_list algorithms; /* of const char *: what NCCL_ALGO knows */
    struct model_list levels;     /* the same for NCCL_P2P_LEVEL and others */
    bool lists_by_function; /* "ring;allreduce:tree", and unknown words are
                               refused; else they are ignored */
    bool ring_always;       /* NCCL_ALGO takes Ring from AllReduce alone */
    bool ctas_checked;      /* NCCL_MIN_CTAS, _MAX_CTAS below 1 are ignored */
    bool policy_names;      /* NCCL_CTA_POLICY knows words; else a number */
};

/* The table of keys. */
extern const struct model_field model_nccl_settings_fields[];

#endif
