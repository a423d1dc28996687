/*
 * xml_read.h - NCCL's topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE)
 * as the tree of a topology.
 *
 * The format: system > cpu (one a NUMA node) > pci > pci | gpu | nic, gpu >
 * nvlink | c2c, nic > net; version 1 is NCCL's, 2 RCCL's with xgmi for nvlink.
 * Clouds supply files with less: PCI devices known by their class alone, no
 * link speeds, no NVLink.
 *
 * What the file says comes with it as source; what it does not, the GPU's file
 * and topologies/defaults.yaml give later, as for any topology. Each NUMA node
 * with GPUs is a socket, as in NCCL's paths. A node that is not regular becomes
 * the nearest that is (xml_fit.h); what is lost by that is listed in the
 * tree under `notes`. Where nothing near would be true, there is a fault.
 */
#ifndef MODEL_NCCL_XML_READ_H
#define MODEL_NCCL_XML_READ_H

#include "model/xml.h"
#include "model/yaml.h"

struct model_nccl_xml_options {
    const char *gpu;  /* its file; NULL: known by PCI id or sm, or a fault */
    const char *name; /* of the topology; NULL: that of the file */
    int nodes;        /* of the cluster; 0: 1 */
    bool gpu_later;   /* the caller gives the GPU: none is no fault */
};

/*
 * The tree as model_topology_bind takes it, in the arena, or NULL with the
 * faults in errors. found, if not NULL, gets a sequence of texts: what was
 * understood.
 */
struct model_node *
model_nccl_xml_read(struct model_arena *arena,
                    const struct model_xml_element *system,
                    const struct model_nccl_xml_options *options,
                    struct model_node **found,
                    struct model_errors *errors);

#endif
