/*
 * xml_parts.h - the devices that an NCCL topology file lists, and how
 * near they are there (internal to nccl_xml_*.c).
 */
#ifndef MODEL_NCCL_XML_PARTS_H
#define MODEL_NCCL_XML_PARTS_H

#include "model/topology.h"
#include "model/xml.h"

struct model_nccl_xml_cpu {
    const struct model_xml_element *element;
    int gpu_count;
};

struct model_nccl_xml_gpu {
    const struct model_xml_element *pci;
    const struct model_xml_element *gpu; /* NULL where only the PCI device is */
    const char *bus_id;
    int cpu; /* index */
};

struct model_nccl_xml_nic {
    const struct model_xml_element *pci; /* NULL: no PCI device */
    const struct model_xml_element *net; /* NULL where only the PCI device is */
    const char *name;
    int cpu;
    double bytes_per_us; /* 0: not said */
};

/* All in the order of the file. */
struct model_nccl_xml_parts {
    const struct model_xml_element *system;
    struct model_nccl_xml_cpu *cpus;
    struct model_nccl_xml_gpu *gpus;
    struct model_nccl_xml_nic *nics;
    int cpu_count, gpu_count, nic_count;
    int cpu_room, gpu_room, nic_room;
    int other_count;   /* PCI devices that are neither */
    int split_count;   /* GPUs listed as several parts of one device */
    int strange_count; /* elements that no rule knows */
    const char *strange;
    bool amd; /* RCCL's dialect: version 2, xgmi */
};

/* What reading has to say beside faults: sequences of texts. */
struct model_nccl_xml_words {
    struct model_arena *arena;
    struct model_node *found; /* what was understood */
    struct model_node *lost;  /* what the topology cannot say, or guesses */
    struct model_errors *errors;
};

void model_nccl_xml_found(struct model_nccl_xml_words *words,
                          const char *format,
                          ...) __attribute__((format(printf, 2, 3)));
void model_nccl_xml_lost(struct model_nccl_xml_words *words,
                         const char *format,
                         ...) __attribute__((format(printf, 2, 3)));

/* Take the tree apart; false with the faults in words->errors. */
bool model_nccl_xml_parts_read(const struct model_xml_element *system,
                               struct model_nccl_xml_parts *parts,
                               struct model_nccl_xml_words *words);

/*
 * The whole number of an attribute, as C writes them; `otherwise` where it is
 * not there. What is no number is reported, and `otherwise` returned.
 */
int model_nccl_xml_number(struct model_nccl_xml_words *words,
                          const struct model_xml_element *element,
                          const char *name,
                          int otherwise);

/* The path between two places as listed: PIX, PXB, PHB or SYS. */
enum model_path model_nccl_xml_path(const struct model_xml_element *left,
                                    int left_cpu,
                                    const struct model_xml_element *right,
                                    int right_cpu);

#endif
