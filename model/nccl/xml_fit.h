/*
 * xml_fit.h - the regular node nearest to the devices of an NCCL topology
 * file (internal to nccl_xml_*.c).
 *
 * A topology says how many sockets, GPUs a switch and NICs there are, and
 * spreads them evenly (wiring.h). Of all that fit the number of GPUs, that one
 * is taken whose paths between GPUs, then between GPUs and NICs, differ least
 * from the file's; the rest is lost, and said.
 */
#ifndef MODEL_NCCL_XML_FIT_H
#define MODEL_NCCL_XML_FIT_H

#include "model/nccl/xml_parts.h"

struct model_nccl_xml_fit {
    int sockets;
    int gpus_per_switch;
    int at; /* enum model_nics_at; where there are NICs */
};

struct model_nccl_xml_fit
model_nccl_xml_fit(const struct model_nccl_xml_parts *parts,
                   struct model_nccl_xml_words *words);

/* NVLink, as the <nvlink> or <xgmi> of each GPU have it. */
struct model_nccl_xml_links {
    int kind;         /* enum model_nvlink_kind */
    int count;        /* links of a GPU; kind links: not used */
    const int *links; /* numbers of links, gpus x gpus, symmetric */
};

struct model_nccl_xml_links
model_nccl_xml_links(const struct model_nccl_xml_parts *parts,
                     struct model_nccl_xml_words *words);

#endif
