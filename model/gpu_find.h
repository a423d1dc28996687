/*
 * gpu_find.h - which of the GPU files describes a GPU that another tool found.
 */
#ifndef MODEL_GPU_FIND_H
#define MODEL_GPU_FIND_H

#include "model/arena.h"

struct model_gpu_sought {
    const char *pci_id;     /* "10de:20b0" in small letters; NULL: not known */
    int compute_capability; /* 80 for sm_80; 0: not known */
};

struct model_gpu_found {
    const char *name;       /* of a file in topologies/gpu, or NULL */
    const char *candidates; /* "a100, a100-40": those of that capability, all
                               where none has it; never NULL */
};

/*
 * The file whose `device_ids` hold the PCI id; where that is not known, the
 * only one of the compute capability. A known id that no file lists is another
 * product, which the capability does not tell. Files that cannot be read are
 * passed over.
 */
struct model_gpu_found model_gpu_find(struct model_arena *arena,
                                      struct model_gpu_sought sought);

#endif
