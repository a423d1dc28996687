/*
 * version.h - what differs between NCCL's versions, as data.
 *
 * topologies/nccl/2.18.yaml and 2.30.yaml hold the constants of NCCL's graph
 * search and tuning model, with their sources. C holds the rules; where a rule
 * itself changed between versions, a switch in the file says which is meant.
 */
#ifndef MODEL_NCCL_VERSION_H
#define MODEL_NCCL_VERSION_H

#include "model/nccl/graph_data.h"
#include "model/nccl/settings_data.h"
#include "model/nccl/tuning_data.h"

struct model_nccl_version {
    const char *name;    /* "2.18" */
    const char *release; /* "2.18.3" */
    const char *since;   /* first release that these rules are nearest to */
    struct model_nccl_graph_data graph;
    struct model_nccl_tuning_data tuning;
    struct model_nccl_settings_data settings;
};

/*
 * Read topologies/nccl/NAME.yaml; the result lives in the arena. place and path
 * are where the name was asked for. Faults go to errors; an unknown name lists
 * the shipped ones.
 */
enum model_status model_nccl_version_read(struct model_arena *arena,
                                          const char *name,
                                          struct model_place place,
                                          const char *path,
                                          struct model_nccl_version *version,
                                          struct model_errors *errors);

/*
 * All shipped versions, read; *count says how many. NULL with the faults in
 * errors.
 */
const struct model_nccl_version *model_nccl_versions_read(
    struct model_arena *arena, int *count, struct model_errors *errors);

/*
 * That of a list whose rules are nearest to those of a release such as
 * "2.27.7": the last whose `since` it has reached, else the earliest. NULL for
 * a text that is no release.
 */
const struct model_nccl_version *model_nccl_version_nearest(
    const struct model_nccl_version *list, int count, const char *release);

#endif
