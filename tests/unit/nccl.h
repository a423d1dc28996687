/*
 * nccl.h - communicators for the tests of NCCL's tuning model, with the graphs
 * that NCCL 2.18.3's own search finds on such machines (GB/s of a channel).
 */
#ifndef TESTS_NCCL_H
#define TESTS_NCCL_H

#include "tests/unit/fixture.h"

#include "model/nccl/tuning.h"

struct nccl_rig {
    struct model_topology topology;
    struct model_nccl_version version;
    struct model_nccl_settings settings;
    struct model_nccl_comm comm;
    struct model_nccl_tuning tuning;
};

/* NCCL_ALGO and NCCL_PROTO with one name for all functions; -1: not set. */
static inline void nccl_force(struct nccl_rig *rig, int algorithm, int protocol)
{
    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        for (int a = 0; a < MODEL_NCCL_ALGORITHMS && algorithm >= 0; a++) {
            rig->settings.algorithm_allowed[f][a] = a == algorithm;
        }
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS && protocol >= 0; p++) {
            rig->settings.protocol_allowed[f][p] = p == protocol;
        }
        rig->settings.algorithm_set[f] = algorithm >= 0;
        rig->settings.protocol_set[f] = protocol >= 0;
    }
}

/* A machine in short. Rings and trees have the same graph. */
struct nccl_machine {
    int cpu, capability, nodes, ranks; /* ranks of a node */
    int graph_channels;
    double graph_gbytes; /* a channel's GB/s, within nodes and between */
    int intra_type, inter_type;
    int channels; /* after doubling */
    int nvls_graph_channels, nvls_channels;
    double nvls_gbytes, nvls_inter_gbytes;
    int p2p_channels, p2p_channels_per_peer;
};

/* 18 links to an NVSwitch: NVLS takes 8 channels of 40 GB/s. */
static const struct nccl_machine nccl_h100 = {.cpu = MODEL_CPU_INTEL,
                                              .capability = 90,
                                              .nodes = 1,
                                              .ranks = 8,
                                              .graph_channels = 12,
                                              .graph_gbytes = 30,
                                              .intra_type = MODEL_NCCL_PATH_NVL,
                                              .channels = 24,
                                              .nvls_graph_channels = 8,
                                              .nvls_channels = 16,
                                              .nvls_gbytes = 40,
                                              .nvls_inter_gbytes = 60,
                                              .p2p_channels = 32,
                                              .p2p_channels_per_peer = 32};

/* The same and 8 x 400 Gbit/s, one at each GPU's switch; two nodes. */
static const struct nccl_machine nccl_h100_nodes = {
    .cpu = MODEL_CPU_INTEL,
    .capability = 90,
    .nodes = 2,
    .ranks = 8,
    .graph_channels = 8,
    .graph_gbytes = 45,
    .intra_type = MODEL_NCCL_PATH_NVL,
    .inter_type = MODEL_NCCL_PATH_PXN,
    .channels = 16,
    .nvls_graph_channels = 8,
    .nvls_channels = 16,
    .nvls_gbytes = 40,
    .nvls_inter_gbytes = 40,
    .p2p_channels = 16,
    .p2p_channels_per_peer = 2};

static const struct nccl_machine nccl_a100 = {.cpu = MODEL_CPU_INTEL,
                                              .capability = 80,
                                              .nodes = 1,
                                              .ranks = 8,
                                              .graph_channels = 12,
                                              .graph_gbytes = 20,
                                              .intra_type = MODEL_NCCL_PATH_NVL,
                                              .channels = 24};

/* DGX A100, 8 x 200 Gbit/s. */
static const struct nccl_machine nccl_dgx_a100 = {
    .cpu = MODEL_CPU_AMD,
    .capability = 80,
    .nodes = 2,
    .ranks = 8,
    .graph_channels = 8,
    .graph_gbytes = 24,
    .intra_type = MODEL_NCCL_PATH_NVL,
    .inter_type = MODEL_NCCL_PATH_PXB,
    .channels = 16};

/* 8 GPUs over PCIe, bridges in pairs or not; Intel. */
static const struct nccl_machine nccl_a40 = {.cpu = MODEL_CPU_INTEL,
                                             .capability = 86,
                                             .nodes = 1,
                                             .ranks = 8,
                                             .graph_channels = 1,
                                             .graph_gbytes = 10,
                                             .intra_type = MODEL_NCCL_PATH_SYS,
                                             .channels = 2,
                                             .p2p_channels = 2,
                                             .p2p_channels_per_peer = 2};

/* Two nodes of it, pairs of GPUs with NVLink, 2 x 200 Gbit/s. */
static const struct nccl_machine nccl_a40_nodes = {
    .cpu = MODEL_CPU_INTEL,
    .capability = 86,
    .nodes = 2,
    .ranks = 8,
    .graph_channels = 2,
    .graph_gbytes = 10,
    .intra_type = MODEL_NCCL_PATH_SYS,
    .inter_type = MODEL_NCCL_PATH_PHB,
    .channels = 4,
    .p2p_channels = 4,
    .p2p_channels_per_peer = 2};

static inline struct nccl_rig *nccl_rig_new(struct model_arena *arena,
                                            const char *version,
                                            const struct nccl_machine *machine)
{
    struct model_errors errors = {.arena = arena};
    struct nccl_rig *rig = model_arena_array(arena, 1, sizeof *rig);
    struct model_nccl_graph graph = {
        .pattern = MODEL_NCCL_RING_PATTERN,
        .channels = machine->graph_channels,
        .intra_bytes_per_us = machine->graph_gbytes * 1e3,
        .inter_bytes_per_us = machine->graph_gbytes * 1e3,
        .intra_type = machine->intra_type,
        .inter_type = machine->inter_type,
        .same_channels = true};
    struct model_nccl_comm *comm = &rig->comm;

    model_nccl_version_read(arena, version, (struct model_place){.line = 0},
                            "nccl.version", &rig->version, &errors);
    fixture_no_errors(&errors);
    rig->topology = (struct model_topology){.host = {.cpu = machine->cpu}};
    rig->settings = model_nccl_settings_none();
    *comm = (struct model_nccl_comm){
        .topology = &rig->topology,
        .version = &rig->version,
        .settings = &rig->settings,
        .rank_count = machine->nodes * machine->ranks,
        .node_count = machine->nodes,
        .ranks_per_node = machine->ranks,
        .least_ranks_per_node = machine->ranks,
        .compute_capability = machine->capability,
        .all_nvlink = machine->intra_type == MODEL_NCCL_PATH_NVL,
        .channels = machine->channels,
        .nvls_channels = machine->nvls_channels,
        .p2p_channels = machine->p2p_channels,
        .p2p_channels_per_peer = machine->p2p_channels_per_peer};
    comm->graphs[MODEL_NCCL_GRAPH_RING] = graph;
    graph.pattern = MODEL_NCCL_BALANCED_TREE;
    comm->graphs[MODEL_NCCL_GRAPH_TREE] = graph;
    graph.pattern = MODEL_NCCL_NVLS_PATTERN;
    graph.channels = machine->nvls_graph_channels;
    graph.intra_bytes_per_us = machine->nvls_gbytes * 1e3;
    graph.inter_bytes_per_us = machine->nvls_inter_gbytes * 1e3;
    comm->graphs[MODEL_NCCL_GRAPH_NVLS] = graph;
    model_nccl_tuning_make(comm, &rig->tuning);
    return rig;
}

/* Again, after the settings or the communicator were changed. */
static inline void nccl_retune(struct nccl_rig *rig)
{
    model_nccl_tuning_make(&rig->comm, &rig->tuning);
}

#endif
