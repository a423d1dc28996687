/*
 * topology_read.h - the steps of reading a topology that topology_check.c and
 * topology_read.c share; not for other files.
 */
#ifndef MODEL_TOPOLOGY_READ_H
#define MODEL_TOPOLOGY_READ_H

#include "model/topology.h"

/* The list of NVLinks, kind links, as numbers. Reports all faults. */
void model_topology_links(struct model_arena *arena,
                          struct model_topology *topology,
                          struct model_errors *errors);

/* What the table of keys cannot say. Reports all faults. */
enum model_status model_topology_check(const struct model_topology *topology,
                                       struct model_errors *errors);

#endif
