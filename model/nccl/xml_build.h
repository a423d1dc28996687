/*
 * xml_build.h - a topology's tree while it is built from an NCCL topology
 * file (internal to nccl_xml_*.c).
 */
#ifndef MODEL_NCCL_XML_BUILD_H
#define MODEL_NCCL_XML_BUILD_H

#include "model/nccl/xml_fit.h"
#include "model/nccl/xml_read.h"
#include "model/node_merge.h"

struct model_nccl_xml_build {
    struct model_nccl_xml_words words;
    struct model_nccl_xml_parts parts;
    struct model_place place; /* of all nodes: the root of the file */
    struct model_node *root;
};

/* An empty mapping, a scalar, a number below key (NULL in sequences). */
struct model_node *model_nccl_xml_part(struct model_nccl_xml_build *build,
                                       struct model_node *parent,
                                       const char *key);
void model_nccl_xml_scalar(struct model_nccl_xml_build *build,
                           struct model_node *parent,
                           const char *key,
                           const char *text);
void model_nccl_xml_count(struct model_nccl_xml_build *build,
                          struct model_node *parent,
                          const char *key,
                          int count);

/* What the file itself says: {value: .., from: datasheet, source: nccl-topo} */
void model_nccl_xml_sourced(struct model_nccl_xml_build *build,
                            struct model_node *parent,
                            const char *key,
                            const char *text);

/* Put the GPU's name, or report that nothing tells it. */
void model_nccl_xml_gpu_put(struct model_nccl_xml_build *build,
                            const struct model_nccl_xml_options *options);

/*
 * A topology has NICs of one rate: keep those of the rate that carries most
 * together, in build->parts.
 */
void model_nccl_xml_nics_choose(struct model_nccl_xml_build *build);

/* Put node.pcie and node.nics. */
void model_nccl_xml_pcie_put(struct model_nccl_xml_build *build,
                             struct model_node *node,
                             struct model_nccl_xml_fit fit);
void model_nccl_xml_nics_put(struct model_nccl_xml_build *build,
                             struct model_node *node,
                             struct model_nccl_xml_fit fit);

#endif
