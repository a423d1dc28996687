/*
 * config.h - how one collective is to be run: the knobs that are tuned.
 *
 * The same struct is what a plan assigns, what a strategy searches over and
 * what the simulator executes. Unset fields are MODEL_UNSET (channels,
 * threads: 0; chunk_bytes: 0) and are filled from the next source: the op's
 * own keys, then the plan, then the strategy's default.
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum { MODEL_UNSET = -1 };

enum model_algorithm {
    MODEL_RING,
    MODEL_TREE,        /* double binary tree over nodes, chains within */
    MODEL_NVLS,        /* reduction and multicast in the NVSwitch */
    MODEL_NVLS_TREE,   /* the same within nodes, trees between them */
    MODEL_PAT,         /* distances that double; one rank a node */
    MODEL_PAIRWISE,    /* every pair on its own: all-to-all, send, receive */
    MODEL_COPY_ENGINE, /* DMA engines, no SM */
    MODEL_ALGORITHMS
};

enum model_protocol { MODEL_SIMPLE, MODEL_LL, MODEL_LL128, MODEL_PROTOCOLS };

/* Where the FIFO between two GPUs of a node is: device or host memory. */
enum model_transport { MODEL_P2P, MODEL_SHM, MODEL_TRANSPORTS };

extern const char *const model_algorithm_names[MODEL_ALGORITHMS + 1];
extern const char *const model_protocol_names[MODEL_PROTOCOLS + 1];
extern const char *const model_transport_names[MODEL_TRANSPORTS + 1];

struct model_config {
    int algorithm; /* enum model_algorithm or MODEL_UNSET */
    int protocol;
    int transport;
    int channels;       /* CTAs, 1 .. SM count */
    int threads;        /* worker threads of one CTA, without the sync warp */
    double chunk_bytes; /* moved per ring step and channel */
};

/* All fields unset. */
struct model_config model_config_none(void);

/* Fill the unset fields of *config from *fallback. */
void model_config_fill(struct model_config *config,
                       const struct model_config *fallback);

bool model_config_is_complete(const struct model_config *config);
bool model_config_equal(const struct model_config *a,
                        const struct model_config *b);

/* "ring simple p2p 8x512 2 MiB"; returns buffer. */
char *model_config_print(const struct model_config *config,
                         char *buffer,
                         size_t buffer_bytes);

#endif
