/*
 * draw.h - the wiring of a topology as text.
 *
 * Lines start with "# ", so that they may stand before its YAML:
 *
 *     #         gpu0 gpu1 gpu2 gpu3  nic0 nic1
 *     # gpu0       -  nvl  phb  phb  phb*  sys      socket 0
 *     # ...
 *     # ring  nic0 > 0 1 2 3 > nic0
 *     # network  tree: 2 leaves of all NICs of 16 nodes, 981.3 GB/s up to ...
 *
 * A star marks a NIC that is the GPU's own. Rings are those of a collective
 * over all GPUs, without their mirrors. Nodes of more than 16 GPUs have no
 * table.
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include "model/topology.h"

#include <stdio.h>

/* arena is for what is needed on the way. */
void sim_draw_topology(struct model_arena *arena,
                       const struct model_topology *topology,
                       FILE *out);

#endif
