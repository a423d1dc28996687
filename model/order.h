/*
 * order.h - in which orders rings walk the GPUs of one node.
 *
 * A ring within a node is a closed walk; one over several nodes enters beside
 * its NIC and leaves as near to it as it can. Walks are judged as NCCL judges
 * its paths: fewest steps of the farthest kind (enum model_path), then of the
 * next one, the ways to and from the NIC counted in. The rules by wiring:
 *
 *     none, pairs  GPUs are numbered so that near ones are neighbours: the
 *                  order of numbers enters each switch and socket once, which
 *                  is least; only the start is chosen
 *     switch       any order is as good: first and last are chosen
 *     mesh         closed: Walecki's zigzags 0 1 -1 2 -2 ... over all GPUs but
 *                  one, turned by one GPU each: every link is used alike
 *     links, mesh  one walk after another by search (tour.h), where a step over
 *                  n links that u walks use already costs (2u + 1) / n, what it
 *                  adds to the sum of u^2 / n over all links: walks spread over
 *                  the links by their numbers. Of the closed walks as many are
 *                  kept as move most together, walks / max(u / n).
 *
 * Each walk has a mirror, which uses the links' other direction: turned round,
 * or, where that would enter far from the NIC, turned round behind its first
 * GPU.
 */
#ifndef MODEL_ORDER_H
#define MODEL_ORDER_H

#include "model/topology.h"

struct model_orders {
    int count;        /* walks: a half, then the mirrors of it */
    int length;       /* GPUs */
    const int *walks; /* count x length indices of GPUs, in travel order */
};

/*
 * gpus: ascending numbers of GPUs of a node, at least one. nics: the NICs by
 * which rings enter and leave, one walk and its mirror for each; nic_count 0:
 * closed walks. Lives in the arena.
 */
struct model_orders model_orders_make(struct model_arena *arena,
                                      const struct model_topology *topology,
                                      const int *gpus,
                                      int gpu_count,
                                      const int *nics,
                                      int nic_count);

#endif
