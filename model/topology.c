/*
 * topology.c - the table of keys of a topology.
 */
#include "model/topology.h"

const char *const model_nvlink_names[] = {"none",   "pairs", "mesh",
                                          "switch", "links", NULL};
const char *const model_path_names[] = {"nvl", "nvb", "pix", "pxb",
                                        "pxn", "phb", "sys", NULL};
const char *const model_cpu_names[] = {"amd", "intel", "arm", NULL};
const char *const model_nics_at_names[] = {"auto", "root", "switch", NULL};
const char *const model_network_names[] = {"flat", "rails", "tree", NULL};

#define AT(member) offsetof(struct model_topology, member)

#define QUANTITY(name, dim, member, text)                                      \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (dim),       \
        .offset = AT(member), .min = (dim) == MODEL_TIME ? 0.0 : 1.0,          \
        .max = (dim) == MODEL_TIME ? 1e12 : 0.0, .sourced = true,              \
        .required = true, .help = (text)                                       \
    }

#define COUNT(name, member, low, high, text)                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = AT(member), .min = (low), .max = (high), .required = true,   \
        .help = (text)                                                         \
    }

#define PATH(name, member, otherwise, text)                                    \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_CHOICE, .offset = AT(member),       \
        .choices = model_path_names, .sourced = true,                          \
        .default_text = (otherwise), .help = (text)                            \
    }

#define PART(name, table, text)                                                \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_STRUCT, .fields = (table),          \
        .required = true, .help = (text)                                       \
    }

static const struct model_field nvlink_fields[] = {
    {.key = "kind",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(nvlink.kind),
     .choices = model_nvlink_names,
     .required = true,
     .help = "pairs: GPUs 2i and 2i+1; switch: all to an NVSwitch"},
    QUANTITY("rate",
             MODEL_RATE,
             nvlink.bytes_per_us,
             "achieved, per direction, of a GPU; kind links: of one link"),
    QUANTITY("latency", MODEL_TIME, nvlink.latency_us, "one way"),
    {.key = "count",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(nvlink.count),
     .min = 1,
     .max = MODEL_NVLINKS_MAX,
     .sourced = true,
     .help = "links of a GPU; NCCL assumes a rate for each"},
    {.key = "links",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(nvlink.links_node),
     .help = "kind links: [[GPU, GPU, number of links], ...]"},
    {.key = NULL}};

static const struct model_field pcie_fields[] = {
    COUNT("generation",
          pcie.generation,
          3,
          6,
          "x16 slots of this generation; rates come from defaults.yaml"),
    COUNT("gpus_per_switch",
          pcie.gpus_per_switch,
          1,
          64,
          "GPUs below one PCIe switch; 1: each on a root port"),
    PATH("p2p",
         pcie.p2p,
         "sys",
         "transport p2p goes no farther, then through host memory; "
         "NCCL_P2P_LEVEL, its default goes by host.cpu"),
    QUANTITY("rate", MODEL_RATE, pcie.bytes_per_us, "payload per direction"),
    QUANTITY("latency", MODEL_TIME, pcie.latency_us, "one link, one way"),
    QUANTITY("p2p_rate",
             MODEL_RATE,
             pcie.p2p_bytes_per_us,
             "one GPU's port, both directions, between GPUs"),
    QUANTITY("shm_rate",
             MODEL_RATE,
             pcie.shm_bytes_per_us,
             "one GPU's port, both directions, through host memory"),
    QUANTITY("congestion_onset",
             MODEL_BYTES,
             pcie.onset_bytes,
             "bytes in flight on a port above which P2P slows down"),
    {.key = "congestion_exponent",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(pcie.congestion_exponent),
     .max = 1.0,
     .sourced = true,
     .required = true,
     .help = "rate falls as (in flight / onset) ^ -exponent; 0: never"},
    {.key = NULL}};

static const struct model_field host_fields[] = {
    COUNT("sockets", host.sockets, 1, 16, "CPU sockets of a node"),
    {.key = "cpu",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(host.cpu),
     .choices = model_cpu_names,
     .sourced = true,
     .default_text = "amd",
     .help = "who made the CPUs: NCCL's limits of P2P go by it"},
    {.key = "cpu_family",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(host.cpu_family),
     .max = 4095,
     .sourced = true,
     .help = "as in /proc/cpuinfo: cpu family"},
    {.key = "cpu_model",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(host.cpu_model),
     .max = 65535,
     .sourced = true,
     .help = "as in /proc/cpuinfo: model; NCCL's assumed rates between "
             "sockets go by it"},
    {.key = "c2c_rate",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATE,
     .offset = AT(host.c2c_bytes_per_us),
     .min = 1.0,
     .sourced = true,
     .help = "of a CPU's own link to each GPU (Grace Hopper); NCCL sees it"},
    QUANTITY("cross_rate",
             MODEL_RATE,
             host.cross_bytes_per_us,
             "between two sockets, per direction"),
    QUANTITY("cross_latency", MODEL_TIME, host.cross_latency_us, "one way"),
    QUANTITY("memory_rate",
             MODEL_RATE,
             host.memory_bytes_per_us,
             "one socket's memory, reads plus writes"),
    QUANTITY("memory_latency",
             MODEL_TIME,
             host.memory_latency_us,
             "added to a round trip whose FIFO is host memory"),
    {.key = NULL}};

static const struct model_field nics_fields[] = {
    COUNT("count", nics.count, 1, 64, "NICs of a node"),
    QUANTITY("rate", MODEL_RATE, nics.bytes_per_us, "line rate of one"),
    {.key = "achieved",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(nics.ratio),
     .min = 0.01,
     .max = 1.0,
     .sourced = true,
     .required = true,
     .help = "share of the line rate that payload gets"},
    QUANTITY("latency", MODEL_TIME, nics.latency_us, "NIC to NIC, one way"),
    {.key = "reported_latency",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_TIME,
     .offset = AT(nics.reported_latency_us),
     .max = 1e6,
     .sourced = true,
     .help = "what the network plugin tells NCCL, which chooses by it; most "
             "say 0"},
    QUANTITY("channel_rate",
             MODEL_RATE,
             nics.channel_bytes_per_us,
             "most that one channel's connection carries"),
    QUANTITY("sync", MODEL_TIME, nics.sync_us, "proxy work of one step"),
    QUANTITY("flag_sync",
             MODEL_TIME,
             nics.flag_sync_us,
             "the same with protocols LL and LL128"),
    {.key = "at",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(nics.at),
     .choices = model_nics_at_names,
     .sourced = true,
     .default_text = "auto",
     .help = "auto: below the PCIe switches when each has a NIC"},
    {.key = "gpudirect",
     .kind = MODEL_FIELD_BOOL,
     .offset = AT(nics.gpudirect),
     .required = true,
     .help = "NICs read and write GPU memory"},
    PATH("gpudirect_level",
         nics.gpudirect_level,
         "pxb",
         "GPUDirect goes no farther, then through host memory; "
         "NCCL_NET_GDR_LEVEL"),
    {.key = "pxn",
     .kind = MODEL_FIELD_BOOL,
     .offset = AT(nics.pxn),
     .default_text = "true",
     .help = "send by way of the GPU beside the NIC, over NVLink; "
             "NCCL_PXN_DISABLE"},
    {.key = NULL}};

static const struct model_field network_fields[] = {
    {.key = "kind",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(network.kind),
     .choices = model_network_names,
     .default_text = "flat",
     .help = "rails: NIC i of each node on switch i; tree: all NICs of "
             "nodes_per_leaf nodes on one leaf switch"},
    {.key = "nodes_per_leaf",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(network.nodes_per_leaf),
     .min = 1,
     .max = 1048576,
     .help = "nodes below one leaf switch; rails: all, if left out"},
    {.key = "oversubscription",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(network.oversubscription_ratio),
     .min = 0.001,
     .max = 1000.0,
     .sourced = true,
     .help = "rate of a leaf's NICs over that of its links to the spine"},
    {.key = "switch_latency",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_TIME,
     .offset = AT(network.switch_latency_us),
     .max = 1e12,
     .sourced = true,
     .help = "of each switch beyond the first, one way"},
    {.key = "cross_nic",
     .kind = MODEL_FIELD_BOOL,
     .offset = AT(network.cross_nic),
     .default_text = "true",
     .help = "a message may arrive on another rail than it left on; "
             "NCCL_CROSS_NIC"},
    {.key = NULL}};

static const struct model_field node_fields[] = {
    COUNT("gpus", gpus_per_node, 1, 1024, "GPUs of a node"),
    {.key = "nvlink",
     .kind = MODEL_FIELD_STRUCT,
     .fields = nvlink_fields,
     .help = "leave out where there is none"},
    PART("pcie", pcie_fields, "PCIe of a node"),
    PART("host", host_fields, "CPU sockets and their memory"),
    {.key = "nics",
     .kind = MODEL_FIELD_STRUCT,
     .fields = nics_fields,
     .help = "leave out on a single node without network"},
    {.key = NULL}};

static const struct model_field observed_fields[] = {
    {.key = "algorithm",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(observed.config.algorithm),
     .choices = model_algorithm_names,
     .help = "algorithm of all collectives"},
    {.key = "protocol",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(observed.config.protocol),
     .choices = model_protocol_names,
     .help = "protocol of all collectives"},
    {.key = "transport",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(observed.config.transport),
     .choices = model_transport_names,
     .help = "between GPUs that no NVLink joins"},
    {.key = "channels",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(observed.config.channels),
     .min = 1,
     .max = 64,
     .help = "of rings and trees"},
    {.key = "threads",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(observed.config.threads),
     .min = 32,
     .max = 640,
     .help = "worker threads of a ring with Simple"},
    {.key = "chunk",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(observed.config.chunk_bytes),
     .min = 16.0,
     .max = 1073741824.0,
     .help = "moved per step and channel by a ring with Simple"},
    {.key = "source",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(observed.source),
     .required = true,
     .help = "who saw it"},
    {.key = NULL}};

static const struct model_field nccl_fields[] = {
    {.key = "version",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(nccl.version),
     .default_text = "2.18",
     .help = "NCCL's version there: a file of topologies/nccl"},
    {.key = "env",
     .kind = MODEL_FIELD_TEXTS,
     .offset = AT(nccl.env),
     .help = "variables of the job there: [NCCL_P2P_LEVEL=PXB, ...]"},
    {.key = "channel_setup",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_TIME,
     .offset = AT(nccl.channel_setup_us),
     .max = 1e6,
     .sourced = true,
     .help = "what each channel adds before a kernel's first step (0)"},
    {.key = "observed",
     .kind = MODEL_FIELD_STRUCT,
     .fields = observed_fields,
     .present_offset = AT(observed.present) + 1,
     .help = "what NCCL was seen to do there with large collectives; counts "
             "instead of what its graph search finds"},
    {.key = NULL}};

const struct model_field model_topology_fields[] = {
    {.key = "name",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(name),
     .required = true,
     .help = "name for reports"},
    {.key = "gpu",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(gpu_node),
     .required = true,
     .help = "name of a file in gpu/, a path, or the mapping itself"},
    COUNT("nodes", node_count, 1, 1048576, "nodes of the cluster"),
    PART("node", node_fields, "wiring of one node"),
    {.key = "network",
     .kind = MODEL_FIELD_STRUCT,
     .fields = network_fields,
     .help = "switches between the nodes; leave out where none limits"},
    {.key = "nccl",
     .kind = MODEL_FIELD_STRUCT,
     .fields = nccl_fields,
     .help = "facts about NCCL on this machine"},
    {.key = "mixed",
     .kind = MODEL_FIELD_LIST,
     .offset = AT(mixed),
     .fields = model_mixed_fields,
     .item_bytes = sizeof(struct model_mixed),
     .help = "nodes or ranks with another GPU"},
    {.key = "variation",
     .kind = MODEL_FIELD_STRUCT,
     .offset = AT(variation),
     .fields = model_variation_fields,
     .help = "slow ranks and jitter"},
    {.key = "notes",
     .kind = MODEL_FIELD_TEXTS,
     .offset = AT(notes),
     .help = "what this description leaves out or guesses; printed as "
             "warnings"},
    {.key = "sources",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(sources),
     .help = "mapping from short names to where numbers come from"},
    {.key = NULL}};

int model_topology_rank_count(const struct model_topology *topology)
{
    return topology->node_count * topology->gpus_per_node;
}
