/*
 * topology.c - the table of keys of a topology, and what a table cannot say.
 */
#include "model/topology.h"

#include "model/topology_read.h"

const char *const model_nvlink_names[] = {"none", "pairs", "mesh", "switch",
                                          NULL};

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
             "achieved, per GPU and direction"),
    QUANTITY("latency", MODEL_TIME, nvlink.latency_us, "one way"),
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
    QUANTITY("channel_rate",
             MODEL_RATE,
             nics.channel_bytes_per_us,
             "most that one channel's connection carries"),
    QUANTITY("sync", MODEL_TIME, nics.sync_us, "proxy work of one step"),
    QUANTITY("flag_sync",
             MODEL_TIME,
             nics.flag_sync_us,
             "the same with protocols LL and LL128"),
    {.key = "gpudirect",
     .kind = MODEL_FIELD_BOOL,
     .offset = AT(nics.gpudirect),
     .required = true,
     .help = "NICs read and write GPU memory"},
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
     .default_text = "ring",
     .help = "algorithm of large collectives"},
    {.key = "protocol",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(observed.config.protocol),
     .choices = model_protocol_names,
     .default_text = "simple",
     .help = "protocol of large collectives"},
    {.key = "transport",
     .kind = MODEL_FIELD_CHOICE,
     .offset = AT(observed.config.transport),
     .choices = model_transport_names,
     .required = true,
     .help = "between GPUs that no NVLink joins"},
    COUNT("channels", observed.config.channels, 1, 128, "CTAs"),
    COUNT("threads", observed.config.threads, 32, 640, "worker threads"),
    {.key = "chunk",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = AT(observed.config.chunk_bytes),
     .min = 16.0,
     .max = 1073741824.0,
     .required = true,
     .help = "moved per ring step and channel"},
    {.key = "source",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(observed.source),
     .required = true,
     .help = "who saw it"},
    {.key = NULL}};

static const struct model_field nccl_fields[] = {
    {.key = "observed",
     .kind = MODEL_FIELD_STRUCT,
     .fields = observed_fields,
     .present_offset = AT(observed.present) + 1,
     .help = "what NCCL was seen to choose for large collectives"},
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
    {.key = "sources",
     .kind = MODEL_FIELD_NODE,
     .offset = AT(sources),
     .help = "mapping from short names to where numbers come from"},
    {.key = NULL}};

int model_topology_rank_count(const struct model_topology *topology)
{
    return topology->node_count * topology->gpus_per_node;
}

/* A fault at the node of a key path. */
static void fault(const struct model_topology *topology,
                  struct model_errors *errors,
                  const char *part,
                  const char *key,
                  const char *hint,
                  const char *message)
{
    const struct model_node *node = model_node_find(topology->tree, part);
    const struct model_node *child =
        node != NULL && key != NULL ? model_node_find(node, key) : NULL;

    (void)model_errors_add(
        errors, MODEL_BAD_INPUT,
        child != NULL ? child->place : topology->tree->place,
        key != NULL ? model_arena_format(errors->arena, "%s.%s", part, key)
                    : part,
        hint, "%s", message);
}

enum model_status model_topology_check(const struct model_topology *topology,
                                       struct model_errors *errors)
{
    int before = errors->count;
    int gpus = topology->gpus_per_node;

    if (topology->node_count > 1 && topology->nics.count == 0) {
        fault(topology, errors, "node", "nics",
              "write nics: {count: 1, rate: 100 Gbit/s}, or one node",
              "several nodes but no NIC to join them");
    }
    if (topology->nvlink.kind == MODEL_NVLINK_PAIRS && gpus % 2 != 0) {
        fault(topology, errors, "node", "gpus", "write an even number of GPUs",
              "NVLink pairs need an even number of GPUs");
    }
    if (gpus % topology->host.sockets != 0) {
        fault(topology, errors, "node", "gpus", "change gpus or host.sockets",
              "GPUs do not divide evenly over the sockets");
    } else if (gpus / topology->host.sockets % topology->pcie.gpus_per_switch !=
               0) {
        fault(topology, errors, "node", "pcie", "change gpus_per_switch",
              "a socket's GPUs do not divide evenly over its PCIe switches");
    }
    if ((double)topology->node_count * gpus > 16777216.0) {
        fault(topology, errors, "nodes", NULL, "at most 16777216",
              "more GPUs than the simulator numbers");
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
