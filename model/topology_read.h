/*
 * topology_read.h - the steps of reading a topology that topology_*.c share;
 * not for other files.
 */
#ifndef MODEL_TOPOLOGY_READ_H
#define MODEL_TOPOLOGY_READ_H

#include "model/topology.h"

/*
 * Add to node.nvlink (may be NULL) what it lacks from the GPU's file. The rate
 * there is that of all links of the GPU; where the node has fewer to a GPU, or
 * the rate of one is asked for (kind links), in proportion.
 */
void model_topology_nvlink(struct model_arena *arena,
                           struct model_node *nvlink,
                           const struct model_node *gpu);

/* The list of NVLinks, kind links, as numbers. Reports all faults. */
void model_topology_links(struct model_arena *arena,
                          struct model_topology *topology,
                          struct model_errors *errors);

/* What the table of keys cannot say. Reports all faults. */
enum model_status model_topology_check(const struct model_topology *topology,
                                       struct model_errors *errors);

#endif
