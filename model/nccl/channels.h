/*
 * channels.h - from the graphs of a communicator to numbers of channels.
 *
 * NCCL: graph/connect.cc (twice the graph's, in some cases four times, within
 * the limits that are set), graph/paths.cc (send and receive).
 */
#ifndef MODEL_NCCL_CHANNELS_H
#define MODEL_NCCL_CHANNELS_H

#include "model/nccl/paths.h"

/*
 * Channels of send and receive that the GPUs of a node have for a peer: of the
 * pair that has fewest.
 */
int model_nccl_channels_per_peer(struct model_arena *arena,
                                 const struct model_nccl_paths *paths);

/*
 * Fill in the numbers of channels of a communicator that has its graphs.
 * per_peer: the least of all nodes.
 */
void model_nccl_count_channels(struct model_nccl_comm *comm, int per_peer);

#endif
