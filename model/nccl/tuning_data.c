/*
 * tuning_data.c - the table of keys of the section `tuning`.
 *
 * Tables of NCCL by algorithm, protocol, generation of GPU or number of nodes
 * are nested mappings with a key for each row and column.
 */
#include "model/nccl/tuning_data.h"

#define QUANTITY(name, kind_of, place, text)                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (kind_of),   \
        .offset = (place), .required = true, .help = (text)                    \
    }

/* What others are divided by or end at: not 0. */
#define POSITIVE(name, kind_of, place, least, text)                            \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (kind_of),   \
        .offset = (place), .min = (least), .required = true, .help = (text)    \
    }

#define COUNT(name, place, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = (place), .min = 1, .required = true, .help = (text)          \
    }

#define BOOL(name, place, text)                                                \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_BOOL, .offset = (place),            \
        .required = true, .help = (text)                                       \
    }

#define CHOICE(name, place, names, text)                                       \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_CHOICE, .offset = (place),          \
        .choices = (names), .required = true, .help = (text)                   \
    }

#define STRUCT(name, place, table, text)                                       \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_STRUCT, .offset = (place),          \
        .fields = (table), .required = true, .help = (text)                    \
    }

#define LIST(name, place, table, type, text)                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_LIST, .offset = (place),            \
        .fields = (table), .item_bytes = sizeof(struct type),                  \
        .required = true, .help = (text)                                       \
    }

#define RATIOS(name, place, text)                                              \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITIES,                         \
        .dimension = MODEL_RATIO, .offset = (place), .required = true,         \
        .help = (text)                                                         \
    }

/* A row that need not be there: nothing where it is not. */
#define OPTIONAL(name, kind_of, place, none, text)                             \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = (kind_of),   \
        .offset = (place), .default_text = (none), .help = (text)              \
    }

#define END                                                                    \
    {                                                                          \
        .key = NULL                                                            \
    }

/* Of doubles, one for each protocol. */
#define PROTOCOL(p) ((size_t)(p) * sizeof(double))

static const struct model_field protocol_us[] = {
    OPTIONAL("ll", MODEL_TIME, PROTOCOL(MODEL_NCCL_LL), "0 us", "with LL"),
    OPTIONAL(
        "ll128", MODEL_TIME, PROTOCOL(MODEL_NCCL_LL128), "0 us", "with LL128"),
    OPTIONAL("simple",
             MODEL_TIME,
             PROTOCOL(MODEL_NCCL_SIMPLE),
             "0 us",
             "with Simple"),
    END};

static const struct model_field protocol_bytes[] = {
    POSITIVE("ll", MODEL_BYTES, PROTOCOL(MODEL_NCCL_LL), 1, "with LL"),
    POSITIVE("ll128", MODEL_BYTES, PROTOCOL(MODEL_NCCL_LL128), 1, "with LL128"),
    POSITIVE(
        "simple", MODEL_BYTES, PROTOCOL(MODEL_NCCL_SIMPLE), 1, "with Simple"),
    END};

#define ALGORITHM(a) ((size_t)(a)*MODEL_NCCL_PROTOCOLS * sizeof(double))

#define LATENCY(name, a)                                                       \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_STRUCT, .offset = ALGORITHM(a),     \
        .fields = protocol_us, .help = "by protocol"                           \
    }

static const struct model_field latency_fields[] = {
    LATENCY("tree", MODEL_NCCL_TREE),
    LATENCY("ring", MODEL_NCCL_RING),
    LATENCY("nvls", MODEL_NCCL_NVLS),
    LATENCY("nvls_tree", MODEL_NCCL_NVLS_TREE),
    LATENCY("pat", MODEL_NCCL_PAT),
    END};

#define SCALE(s) ((size_t)(s) * sizeof(double))

static const struct model_field scale_fields[] = {
    QUANTITY("one", MODEL_RATE, SCALE(MODEL_NCCL_ONE_NODE), "on one node"),
    QUANTITY("two", MODEL_RATE, SCALE(MODEL_NCCL_TWO_NODES), "on two"),
    QUANTITY("more", MODEL_RATE, SCALE(MODEL_NCCL_MORE_NODES), "on more"), END};

#define GENERATION(g) ((size_t)(g)*MODEL_NCCL_SCALES * sizeof(double))

static const struct model_field rate_fields[] = {
    STRUCT("volta",
           GENERATION(MODEL_NCCL_VOLTA),
           scale_fields,
           "GPUs below capability 80"),
    STRUCT("ampere", GENERATION(MODEL_NCCL_AMPERE), scale_fields, "from 80"),
    STRUCT("hopper", GENERATION(MODEL_NCCL_HOPPER), scale_fields, "from 90"),
    STRUCT("blackwell",
           GENERATION(MODEL_NCCL_BLACKWELL),
           scale_fields,
           "from 100"),
    END};

static const struct model_field generation_ratios[] = {
    QUANTITY("volta", MODEL_RATIO, SCALE(MODEL_NCCL_VOLTA), "below 80"),
    QUANTITY("ampere", MODEL_RATIO, SCALE(MODEL_NCCL_AMPERE), "from 80"),
    QUANTITY("hopper", MODEL_RATIO, SCALE(MODEL_NCCL_HOPPER), "from 90"),
    QUANTITY("blackwell", MODEL_RATIO, SCALE(MODEL_NCCL_BLACKWELL), "from 100"),
    END};

#define SHARE(name, member, text)                                              \
    QUANTITY(name, MODEL_RATIO, offsetof(struct model_nccl_shares, member),    \
             text)

/* Of what not every version models. */
#define SHARE_OF(name, member, text)                                           \
    OPTIONAL(name, MODEL_RATIO, offsetof(struct model_nccl_shares, member),    \
             "0", text)

static const struct model_field share_fields[] = {
    SHARE("ring_ll", ring_ll_ratio, "a ring that reduces or crosses nodes"),
    SHARE("ring_ll_gather", ring_ll_gather_ratio, "a ring that does neither"),
    SHARE("ring_ll128", ring_ll128_ratio, "a ring"),
    SHARE("ring_ll128_lone",
          ring_ll128_lone_ratio,
          "a ring with less than two ranks a node"),
    SHARE("tree", tree_ratio, "a tree"),
    POSITIVE("tree_ll_divisor",
             MODEL_RATIO,
             offsetof(struct model_nccl_shares, tree_ll_divisor_ratio),
             1,
             "what a tree's bandwidth is divided by with LL"),
    SHARE("tree_ll128", tree_ll128_ratio, "of a tree's, with LL128"),
    SHARE("tree_ll128_one_node",
          tree_ll128_one_node_ratio,
          "the same on one node"),
    SHARE("plain_tree", plain_tree_ratio, "of a tree's, where it is plain"),
    SHARE("tree_bus", tree_bus_ratio, "algorithm over bus bandwidth of trees"),
    SHARE_OF("nvls_bus", nvls_bus_ratio, "the same of NVLS, fixed model"),
    SHARE_OF("nvls_tree_bus",
             nvls_tree_bus_ratio,
             "the same of NVLSTree, times N / 2 (N - 1)"),
    SHARE_OF("pat", pat_ratio, "PAT"),
    {.key = "nvls_efficiency",
     .kind = MODEL_FIELD_STRUCT,
     .offset = offsetof(struct model_nccl_shares, nvls_efficiency_ratio),
     .fields = generation_ratios,
     .help = "of the graph's bandwidth that NVLS reaches, pipelined model"},
    END};

#define PLATEAU(member) offsetof(struct model_nccl_plateau, member)

static const struct model_field plateau_fields[] = {
    QUANTITY("from",
             MODEL_BYTES,
             PLATEAU(least_bytes),
             "bytes of a rank and channel"),
    QUANTITY("ratio", MODEL_RATIO, PLATEAU(ratio), "what latency is times"),
    QUANTITY("old_ratio", MODEL_RATIO, PLATEAU(old_ratio), "on older GPUs"),
    COUNT("old_below", PLATEAU(old_capability), "their compute capability"),
    END};

#define THREADS(member) offsetof(struct model_nccl_threads, member)

static const struct model_field thread_fields[] = {
    COUNT("simple", THREADS(simple), "of rings and trees"),
    COUNT("ll", THREADS(ll), "with LL"),
    COUNT("ll128", THREADS(ll128), "with LL128"),
    COUNT("cta", THREADS(cta), "of a full CTA"),
    COUNT("pat", THREADS(pat), "of PAT's CTA that move data"),
    COUNT("slow", THREADS(slow), "of Simple rings over a slow graph"),
    QUANTITY("slow_rate", MODEL_RATE, THREADS(slow_bytes_per_us), "of those"),
    COUNT("least", THREADS(least), "that NCCL_NTHREADS can ask for"),
    COUNT("least_ll128", THREADS(least_ll128), "NCCL_LL128_NTHREADS"),
    BOOL("full_trees", THREADS(full_trees), "a tree's CTA is always full"),
    END};

static const struct model_field stage_fields[] = {
    QUANTITY("multiple",
             MODEL_RATIO,
             offsetof(struct model_nccl_stage, multiple),
             "halve while the message is less than so many times the chunks"),
    POSITIVE("above",
             MODEL_BYTES,
             offsetof(struct model_nccl_stage, above_bytes),
             16,
             "as long as the chunk is longer"),
    END};

static const struct model_field rung_fields[] = {
    QUANTITY("multiple",
             MODEL_RATIO,
             offsetof(struct model_nccl_rung, multiple),
             "when the message is less than so many times the chunks"),
    POSITIVE("to",
             MODEL_BYTES,
             offsetof(struct model_nccl_rung, to_bytes),
             16,
             "the chunk is at most"),
    END};

#define NVLS(member) offsetof(struct model_nccl_nvls_row, member)

#define LIMIT(name, member, text)                                              \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_COUNT, .dimension = MODEL_COUNT,    \
        .offset = NVLS(member), .default_text = "0", .help = (text)            \
    }

static const struct model_field nvls_fields[] = {
    LIMIT("least_capability", least_capability, "of the GPUs"),
    LIMIT("least_nodes", least_nodes, "nodes"),
    LIMIT("most_nodes", most_nodes, "nodes"),
    LIMIT("least_ranks", least_ranks, "ranks a node"),
    LIMIT("most_ranks", most_ranks, "ranks a node"),
    OPTIONAL("least_nic",
             MODEL_RATE,
             NVLS(least_nic_bytes_per_us),
             "0 GB/s",
             "rate of a NIC"),
    OPTIONAL("below_nic",
             MODEL_RATE,
             NVLS(below_nic_bytes_per_us),
             "0 GB/s",
             "rate of a NIC"),
    {.key = "near_nic",
     .kind = MODEL_FIELD_BOOL,
     .offset = NVLS(near_nic),
     .default_text = "false",
     .help = "no host bridge between GPU and NIC"},
    POSITIVE("chunk", MODEL_BYTES, NVLS(chunk_bytes), 16, "most of NVLS"),
    OPTIONAL("tree_chunk",
             MODEL_BYTES,
             NVLS(tree_chunk_bytes),
             "0 B",
             "most of NVLSTree; 0: that of NVLS"),
    END};

#define SLOT(f) ((size_t)(f) * sizeof(int))

static const struct model_field slot_fields[] = {
    COUNT("broadcast", SLOT(MODEL_NCCL_BROADCAST), "slots"),
    COUNT("reduce", SLOT(MODEL_NCCL_REDUCE), "slots"),
    COUNT("all_gather", SLOT(MODEL_NCCL_ALL_GATHER), "slots"),
    COUNT("reduce_scatter", SLOT(MODEL_NCCL_REDUCE_SCATTER), "slots"),
    COUNT("all_reduce", SLOT(MODEL_NCCL_ALL_REDUCE), "slots"),
    END};

#define CHUNKS(member) offsetof(struct model_nccl_chunks, member)
#define STAGES(name, member, text)                                             \
    LIST(name, CHUNKS(member), stage_fields, model_nccl_stage, text)
#define RUNGS(name, member, text)                                              \
    LIST(name, CHUNKS(member), rung_fields, model_nccl_rung, text)

static const struct model_field chunk_fields[] = {
    STRUCT("buffer", CHUNKS(buffer_bytes), protocol_bytes, "FIFO, 8 slots"),
    POSITIVE("arm_buffer",
             MODEL_BYTES,
             CHUNKS(arm_buffer_bytes),
             1,
             "Simple's on Arm CPUs"),
    STRUCT("ring_slots",
           CHUNKS(ring_slots),
           slot_fields,
           "slots of a Simple ring's chunk"),
    STAGES("tree", tree_stages, "Simple trees, times the depth"),
    STAGES("tree_ll128",
           tree_ll128_stages,
           "LL128 trees, times steps over ranks a node"),
    BOOL("tree_ll128_counts_wire",
         CHUNKS(tree_ll128_counts_wire),
         "flags count there"),
    STAGES("pat_gather", pat_gather_stages, "PAT, all_gather"),
    STAGES("pat_reduce", pat_reduce_stages, "PAT, reduce_scatter"),
    RUNGS("nvls", nvls_rungs, "NVLS"),
    RUNGS("nvls_tree", nvls_tree_rungs, "NVLSTree"),
    LIST("nvls_most",
         CHUNKS(nvls_rows),
         nvls_fields,
         model_nccl_nvls_row,
         "longest chunks of NVLS; the first row that holds"),
    BOOL("nvls_tree_in_slot",
         CHUNKS(nvls_tree_in_slot),
         "NVLSTree's chunk fits a slot"),
    BOOL("nvls_settable", CHUNKS(nvls_settable), "NCCL_NVLS_CHUNKSIZE exists"),
    STRUCT("grain", CHUNKS(grain_bytes), protocol_bytes, "chunks are whole"),
    END};

#define P2P(member) offsetof(struct model_nccl_p2p_data, member)

static const char *const part_names[] = {"aligned", "even", NULL};

static const struct model_field p2p_fields[] = {
    CHOICE(
        "parts", P2P(parts), part_names, "how a message is dealt to channels"),
    POSITIVE(
        "net_chunk", MODEL_BYTES, P2P(net_chunk_bytes), 128, "across nodes"),
    POSITIVE("pci_chunk", MODEL_BYTES, P2P(pci_chunk_bytes), 128, "within one"),
    POSITIVE(
        "nvl_chunk", MODEL_BYTES, P2P(nvl_chunk_bytes), 128, "over NVLink"),
    QUANTITY(
        "ll_threshold", MODEL_BYTES, P2P(ll_threshold_bytes), "LL up to there"),
    COUNT("peers_per_cta",
          P2P(peers_per_cta),
          "peers of a node that share a channel"),
    END};

#define AT(member) offsetof(struct model_nccl_tuning_data, member)
#define HOP(h)     AT(hops[h])

static const char *const nvls_names[] = {"fixed", "pipelined", NULL};
static const char *const step_names[] = {"of_nodes", "between_nodes", NULL};

const struct model_field model_nccl_tuning_fields[] = {
    STRUCT("base_latency", AT(base), latency_fields, "of each collective"),
    STRUCT("nvlink_latency",
           HOP(MODEL_NCCL_HOP_NVLINK),
           latency_fields,
           "of a step over NVLink"),
    STRUCT("pcie_latency",
           HOP(MODEL_NCCL_HOP_PCIE),
           latency_fields,
           "of a step over PCIe"),
    STRUCT("network_latency",
           HOP(MODEL_NCCL_HOP_NETWORK),
           latency_fields,
           "of a step across nodes"),
    QUANTITY("net_overhead",
             MODEL_TIME,
             AT(net_overhead_us),
             "a step takes at least, of what crosses nodes"),
    QUANTITY("amd_net_overhead",
             MODEL_TIME,
             AT(amd_net_overhead_us),
             "the same with AMD CPUs"),
    QUANTITY("net_overhead_simple",
             MODEL_RATIO,
             AT(net_overhead_simple_ratio),
             "times so much with Simple"),
    {.key = "pat_overlap",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = AT(pat_overlap_ratio),
     .min = 1,
     .default_text = "1",
     .help = "steps of PAT that overlap"},
    OPTIONAL(
        "pat_rank", MODEL_TIME, AT(pat_rank_us), "0 us", "PAT, for each rank"),
    STRUCT("ll_most",
           AT(ll_most),
           rate_fields,
           "LL at most; across nodes by CPU: volta Intel, ampere AMD"),
    STRUCT("ring_ll128_most",
           AT(ring_ll128_most),
           rate_fields,
           "a channel of a ring at most"),
    STRUCT("tree_most", AT(tree_most), rate_fields, "of a tree"),
    STRUCT("tree_ll128_most", AT(tree_ll128_most), rate_fields, "with LL128"),
    {.key = "nvls_tree_most",
     .kind = MODEL_FIELD_STRUCT,
     .offset = AT(nvls_tree_most),
     .fields = rate_fields,
     .help = "of NVLSTree, by the pipelined model"},
    STRUCT("shares", AT(shares), share_fields, "of a graph's bandwidth"),
    STRUCT("plateau",
           AT(plateau),
           plateau_fields,
           "latency of a ring's Simple all_reduce across nodes"),
    POSITIVE("tree_correction_from",
             MODEL_BYTES,
             AT(tree_correction_bytes),
             1,
             "size of the first factor of each list"),
    RATIOS("tree_correction_ll",
           AT(tree_correction[MODEL_NCCL_LL]),
           "factors of a tree's bandwidth, by sizes that double"),
    RATIOS("tree_correction_ll128",
           AT(tree_correction[MODEL_NCCL_LL128]),
           "with LL128"),
    RATIOS("tree_correction_simple",
           AT(tree_correction[MODEL_NCCL_SIMPLE]),
           "with Simple"),
    {.key = "nvls_tree_correction",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_RATIO,
     .offset = AT(nvls_tree_correction),
     .help = "the same of NVLSTree, on x86"},
    {.key = "nvls_tree_correction_capability",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(nvls_tree_correction_capability),
     .help = "of the GPUs that it is for, at least"},
    CHOICE("nvls_model", AT(nvls_model), nvls_names, "how NVLS is modelled"),
    CHOICE("network_steps",
           AT(network_steps),
           step_names,
           "how many steps of a ring's all_reduce cross nodes"),
    BOOL("lone_rank_tree_latency",
         AT(lone_rank_tree_latency),
         "with one rank a node the network's latency is a tree's"),
    BOOL("pat", AT(pat), "there is PAT"),
    {.key = "ll128_capabilities",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = AT(ll128_capabilities),
     .required = true,
     .help = "GPUs with LL128; none named: all from ll128_from"},
    COUNT("ll128_from", AT(ll128_least_capability), "least capability"),
    COUNT("ll128_pxn_from",
          AT(ll128_pxn_capability),
          "capability from which LL128 may go to a NIC through a GPU"),
    BOOL("ring_stays",
         AT(ring_stays),
         "NCCL_ALGO disables it in all_reduce "
         "only"),
    BOOL("broadcast_gathers",
         AT(broadcast_gathers),
         "a broadcast is run as an all_gather"),
    BOOL("algorithms_reset",
         AT(algorithms_reset),
         "when NCCL_ALGO leaves none, ring and tree are back"),
    STRUCT("threads", AT(threads), thread_fields, "of a CTA"),
    STRUCT("thread_work",
           AT(thread_bytes),
           protocol_bytes,
           "least bytes of a thread (NCCL_THREAD_THRESHOLDS)"),
    COUNT("least_threads", AT(least_threads), "threads of a CTA at least"),
    QUANTITY("channel_traffic",
             MODEL_BYTES,
             AT(channel_traffic_bytes),
             "least traffic of a channel, in cells of which messages are "
             "dealt; 0: they are cut evenly"),
    QUANTITY("ll_traffic", MODEL_RATIO, AT(ll_traffic_ratio), "LL counts as"),
    STRUCT("chunks", AT(chunks), chunk_fields, "how much a step moves"),
    STRUCT("p2p", AT(p2p), p2p_fields, "send and receive"),
    END};
