/*
 * notation.h - a topology in one line, for what-ifs, tests and bug reports.
 *
 *     2x8 gpu:a40 nvlink:pairs:50GB/s pcie:4:2/switch nic:2x400Gbit/s
 *     1x8 gpu:h100 nvswitch nic:8x400Gbit/s
 *     4x8 gpu:a40 pcie:4:2/switch nic:1x100Gbit/s
 *     64x8 gpu:h100 nvswitch nic:8x400Gbit/s net:rails:2
 *
 * NODESxGPUS first; then in any order gpu:NAME, nvlink:pairs|mesh[:RATE],
 * nvlink:links:A-BxLINKS,...:RATE, nvswitch[:RATE], pcie:GENERATION[:N/switch],
 * sockets:N, nic:COUNTxRATE, net:rails|tree[:N/leaf][:OVERSUBSCRIPTION]. It
 * becomes the same YAML tree that a file gives, so everything downstream is
 * shared. RATE is the achieved rate per GPU and direction for NVLink (of one
 * link where links are listed), the line rate for NICs.
 */
#ifndef MODEL_NOTATION_H
#define MODEL_NOTATION_H

#include "model/topology.h"

/* True when text looks like the notation rather than like a file's name. */
bool model_notation_is(const char *text);

/* The tree of a topology file, or NULL with the faults in errors. */
struct model_node *model_notation_parse(struct model_arena *arena,
                                        const char *text,
                                        struct model_errors *errors);

/*
 * The notation of a topology: what it can say of it; keys that differ from
 * the defaults in other ways are lost. Parsing the result gives a topology
 * that prints to the same text.
 */
char *model_notation_print(struct model_arena *arena,
                           const struct model_topology *topology);

#endif
