/*
 * xml_write.h - one node of a topology as a topology file for NCCL
 * (NCCL_TOPO_FILE).
 *
 * NCCL's own reader takes one blank between attributes and no XML declaration;
 * it knows no entities, and no value here needs one. Bus ids and names of NICs
 * are made up: on a real machine those that NCCL shall recognise must be put in
 * their place. CPU affinities are left out, since a wrong mask would pin NCCL's
 * threads to the wrong cores; NCCL looks up what is not there.
 */
#ifndef MODEL_NCCL_XML_WRITE_H
#define MODEL_NCCL_XML_WRITE_H

#include "model/topology.h"
#include "model/xml.h"

/* NCCL 2.30 has room for 256 and wants to have one left at the end. */
enum { MODEL_NCCL_XML_ELEMENTS_MAX = 255 };

/* The tree of the file, in the arena. */
struct model_xml_element *
model_nccl_xml_tree(struct model_arena *arena,
                    const struct model_topology *topology);

/* All elements of a tree. */
int model_nccl_xml_elements(const struct model_xml_element *root);

#endif
