/*
 * graph_data.c - the table of keys of the section `graph`.
 */
#include "model/nccl/graph_data.h"

#include "model/topology.h"

#define AT(member)      offsetof(struct model_nccl_graph_data, member)
#define IN(row, member) offsetof(struct model_nccl_##row, member)

#define COUNT(name, at, low, high, text)                                       \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = (at), .min = (low), .max = (high), .required = true,         \
        .help = (text)                                                         \
    }

#define RATE(name, at, text)                                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_RATE,  \
        .offset = (at), .required = true, .help = (text)                       \
    }

#define RATIO(name, at, high, text)                                            \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_RATIO, \
        .offset = (at), .max = (high), .required = true, .help = (text)        \
    }

#define RATES(name, at, text)                                                  \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITIES,                         \
        .dimension = MODEL_RATE, .offset = (at), .min = 1.0, .max = 1e9,       \
        .required = true, .help = (text)                                       \
    }

#define CHOICE(name, at, names, text)                                          \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_CHOICE, .offset = (at),             \
        .choices = (names), .required = true, .help = (text)                   \
    }

#define RULE(name, at, text)                                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_BOOL, .offset = (at),               \
        .required = true, .help = (text)                                       \
    }

#define ROWS(name, at, table, row, text)                                       \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_LIST, .offset = (at),               \
        .fields = (table), .item_bytes = sizeof(struct model_nccl_##row),      \
        .required = true, .help = (text)                                       \
    }

#define CAPABILITY(row)                                                        \
    COUNT("capability", IN(row, capability), 0, 1000,                          \
          "from this compute capability on")

static const struct model_field speeds_fields[] = {
    CAPABILITY(speeds),
    RATES("intra", IN(speeds, intra), "on one node, falling"),
    RATES("inter", IN(speeds, inter), "across nodes, falling"),
    {.key = NULL}};

static const struct model_field nvlink_fields[] = {
    CAPABILITY(nvlink_rate),
    RATE("rate", IN(nvlink_rate, bytes_per_us), "of one link"),
    {.key = NULL}};

static const struct model_field pcie_fields[] = {
    COUNT("generation", IN(pcie_rate, generation), 3, 9, "of PCIe"),
    RATE("rate", IN(pcie_rate, bytes_per_us), "of an x16 slot"),
    {.key = NULL}};

static const struct model_field socket_fields[] = {
    CHOICE("cpu", IN(socket_rate, cpu), model_cpu_names, "its maker"),
    COUNT("family", IN(socket_rate, family), 0, 4095, "0: any"),
    COUNT("model", IN(socket_rate, model), 0, 65535, "from this one on"),
    RATE("rate", IN(socket_rate, bytes_per_us), "between two sockets"),
    {.key = NULL}};

static const struct model_field p2p_fields[] = {
    CHOICE("cpu", IN(p2p_default, cpu), model_cpu_names, "its maker"),
    COUNT("most_gpus", IN(p2p_default, most_gpus), 0, 1024, "0: any number"),
    CHOICE("level", IN(p2p_default, level), model_path_names, "no farther"),
    {.key = NULL}};

static const struct model_field nvls_fields[] = {
    CAPABILITY(nvls_default),
    COUNT("one_node", IN(nvls_default, one_node), 1, 64, "channels"),
    COUNT("more_nodes", IN(nvls_default, more_nodes), 1, 64, "channels"),
    {.key = NULL}};

static const struct model_field budget_fields[] = {
    COUNT("all", AT(budget.all), 1, 1e9, "of a graph's attempts together"),
    COUNT("attempt", AT(budget.attempt), 1, 1e9, "of one attempt"),
    COUNT("tree", AT(budget.tree), 1, 1e9, "of one for plain trees"),
    COUNT("same", AT(budget.same), 1, 1e9, "of one for channels all alike"),
    COUNT("first", AT(budget.first), 1, 1e9, "of GPUs in order from a NIC"),
    {.key = NULL}};

const struct model_field model_nccl_graph_fields[] = {
    COUNT("max_channels",
          AT(max_channels),
          1,
          64,
          "most channels of a communicator (MAXCHANNELS)"),
    COUNT("max_devices", AT(max_devices), 1, 4096, "of one kind in a node"),
    ROWS("speeds", AT(speeds), speeds_fields, speeds, "of a channel, to try"),
    {.key = "budget",
     .kind = MODEL_FIELD_STRUCT,
     .fields = budget_fields,
     .required = true,
     .help = "steps that a search may take"},
    RATE("local_rate", AT(local_bytes_per_us), "within a device"),
    ROWS("nvlink", AT(nvlink), nvlink_fields, nvlink_rate, "assumed rates"),
    ROWS("pcie", AT(pcie), pcie_fields, pcie_rate, "assumed rates"),
    ROWS("sockets", AT(sockets), socket_fields, socket_rate, "assumed rates"),
    RATIO("intel_p2p",
          AT(intel_p2p_ratio),
          10.0,
          "PCIe bytes for a byte between GPUs by an Intel root complex"),
    ROWS("p2p", AT(p2p), p2p_fields, p2p_default, "NCCL_P2P_LEVEL, unset"),
    RULE("c2c", AT(c2c), "knows links between CPU and GPU"),
    RULE("pxn_needs_gpudirect",
         AT(pxn_needs_gpudirect),
         "of the GPU beside the NIC"),
    RATIO("same_nic_bonus",
          AT(same_nic_bonus_ratio),
          1.0,
          "by which staying on one NIC is favoured"),
    RULE("nic_pairs", AT(nic_pairs), "rings cross NICs in pairs"),
    RULE("types_as_present",
         AT(types_as_present),
         "tries path types that there are"),
    COUNT("any_net_below",
          AT(any_net_below),
          0,
          1000,
          "below this capability paths to NICs up to SYS all the same"),
    RULE("amd_repeats",
         AT(amd_repeats),
         "channels all alike between AMD sockets"),
    RULE("split_needs_two",
         AT(split_needs_two),
         "two NVLink islands: at least two rings"),
    RULE("nvswitch_neighbours",
         AT(nvswitch_neighbours),
         "on an NVSwitch to GPUs next in order only"),
    RULE("replay_or_search",
         AT(replay_or_search),
         "further channels repeat or are searched, not both"),
    RULE("rotate_nics", AT(rotate_nics), "channel i starts at the i-th NIC"),
    RULE("double_first",
         AT(double_first),
         "doubles channels before it tries faster ones"),
    RULE("raise_rings", AT(raise_rings), "tries faster rings too"),
    RULE("nvls_heads", AT(nvls_heads), "a channel for each GPU that is a head"),
    RATIO("lower",
          AT(lower_ratio),
          1.0,
          "lower rates, as a part of the best one's, are not tried"),
    RATE("plain_rate",
         AT(plain_bytes_per_us),
         "of the one channel where nothing fits"),
    RATE("double_rate",
         AT(double_bytes_per_us),
         "channels as fast are made two"),
    RATE("double_many_rate",
         AT(double_many_bytes_per_us),
         "the same where there are many"),
    COUNT("double_many", AT(double_many), 1, 64, "so many are many"),
    COUNT("double_many_above",
          AT(double_many_above),
          0,
          1000,
          "above this compute capability"),
    RATE("again_rate",
         AT(again_bytes_per_us),
         "doubles rings once more across nodes if they are faster"),
    COUNT("double_capability",
          AT(double_capability),
          90,
          1000,
          "the last that doubles channels once more across nodes"),
    COUNT("double_below",
          AT(double_below),
          1,
          64,
          "doubles once more if there are fewer channels"),
    ROWS("nvls", AT(nvls), nvls_fields, nvls_default, "channels of NVLS"),
    RULE("p2p_peers_bounded",
         AT(p2p_peers_bounded),
         "channels per peer not above those of the kernel"),
    COUNT("net_peer_channels",
          AT(net_peer_channels),
          1,
          64,
          "to a peer on another node"),
    RATE("net_peer_rate",
         AT(net_peer_bytes_per_us),
         "of NICs, for one channel to a peer; 0 GB/s: no such rule"),
    COUNT("p2p_batch",
          AT(p2p_batch),
          0,
          64,
          "peers at once across nodes; 0: no such rule"),
    {.key = NULL}};
