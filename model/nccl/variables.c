/*
 * variables.c - the table of variables, and what is known of bad values.
 *
 * Names and ranges: NCCL's documentation (docs/userguide/source/env.rst) and
 * the NCCL_PARAM lines of its source. What bad values did: issues of
 * github.com/NVIDIA/nccl.
 */
#include "model/nccl/variables.h"

#include "model/error.h"
#include "model/nccl/settings.h"

#include <string.h>
#include <strings.h>

#define AT(member) offsetof(struct model_nccl_settings, member)
#define PREFIX     "NCCL_"

enum { PREFIX_LENGTH = 5, THREADS_LEAST = 64, THREADS_MOST = 512 };

static bool is_power_of_two(long long value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static const char *judge_threads(long long value)
{
    if (value <= 0) {
        return "is below 1, NCCL takes its default instead";
    }
    if (value % 32 != 0) {
        return "is no multiple of 32, NCCL takes 512 instead";
    }
    if (value > THREADS_MOST) {
        return "is above the most, NCCL takes 512 instead";
    }
    if (value < THREADS_LEAST) {
        return "is below the least, NCCL takes 64 instead";
    }
    return is_power_of_two(value)
               ? NULL
               : "is no power of two, which gave wrong sums "
                 "(github.com/NVIDIA/nccl/issues/698); it is simulated as if "
                 "it worked";
}

static const char *judge_ll128_threads(long long value)
{
    if (value <= 0) {
        return "is below 1, NCCL takes its default instead";
    }
    if (value % 32 != 0) {
        return "is no multiple of 32, NCCL takes 640 instead";
    }
    if (value > 640) {
        return "is above the most, NCCL takes 640 instead";
    }
    return value < 160 ? "is below the least, NCCL takes 160 instead" : NULL;
}

static const char *judge_buffer(long long value)
{
    return is_power_of_two(value)
               ? NULL
               : "is no power of two, which gave wrong sums "
                 "(github.com/NVIDIA/nccl/issues/698); it is simulated as if "
                 "it worked";
}

static const char *judge_ll128_buffer(long long value)
{
    return value % 120 == 0 && is_power_of_two(value / 120)
               ? NULL
               : "is not 120 times a power of two, with which NCCL may hang "
                 "(github.com/NVIDIA/nccl/issues/1739); it is simulated as if "
                 "it worked";
}

static const char *judge_collnet(long long value)
{
    return value == 0 ? NULL
                      : "switches on CollNet, which is not simulated: its "
                        "algorithms are left out";
}

static const char *judge_shm(long long value)
{
    return value == 1 ? "sends GPUs of a node over the network, which is not "
                        "simulated: host memory is used"
                      : NULL;
}

const struct model_nccl_variable model_nccl_variables[] = {
    {"ALGO", MODEL_NCCL_ALGO_LIST, 0, 0,
     .help = "algorithms: a list; ^ in front excludes; from 2.24 by function: "
             "ring;allreduce:tree"},
    {"PROTO", MODEL_NCCL_PROTO_LIST, 0, 0,
     .help = "protocols: a list as NCCL_ALGO's, of LL, LL128, Simple"},
    {"NTHREADS", MODEL_NCCL_POSITIVE, 0, AT(threads),
     .help = "threads of a CTA, Simple and LL: 64, 128, 256 or 512",
     .judge = judge_threads},
    {"LL128_NTHREADS", MODEL_NCCL_POSITIVE, 0, AT(ll128_threads),
     .help = "the same for LL128: multiples of 32 from 160 to 640",
     .judge = judge_ll128_threads},
    {"MIN_NCHANNELS", MODEL_NCCL_CHANNELS, 20500, AT(min_channels),
     .help = "channels of rings and trees at least"},
    {"MAX_NCHANNELS", MODEL_NCCL_CHANNELS, 20500, AT(max_channels),
     .help = "the same at most; for send and receive the next power of two",
     .low = 1},
    {"MIN_NRINGS", MODEL_NCCL_CHANNELS, 0, AT(min_channels),
     .help = "older name of NCCL_MIN_NCHANNELS", .instead_of = "MIN_NCHANNELS"},
    {"MAX_NRINGS", MODEL_NCCL_CHANNELS, 0, AT(max_channels),
     .help = "older name of NCCL_MAX_NCHANNELS", .low = 1,
     .instead_of = "MAX_NCHANNELS"},
    {"MIN_CTAS", MODEL_NCCL_CTAS, 21700, AT(min_ctas),
     .help = "as NCCL_MIN_NCHANNELS, and of NVLS; the more restrictive counts"},
    {"MAX_CTAS", MODEL_NCCL_CTAS, 21700, AT(max_ctas),
     .help = "as NCCL_MAX_NCHANNELS, and of NVLS; the more restrictive counts"},
    {"NVLS_NCHANNELS", MODEL_NCCL_POSITIVE, 21700, AT(nvls_channels),
     .help = "channels of NVLS"},
    {"MIN_P2P_NCHANNELS", MODEL_NCCL_POSITIVE, 20700, AT(min_p2p_channels),
     .help = "channels of send and receive at least, rounded up the same way"},
    {"MAX_P2P_NCHANNELS", MODEL_NCCL_POSITIVE, 20700, AT(max_p2p_channels),
     .help = "channels of send and receive at most, rounded up the same way"},
    {"NCHANNELS_PER_NET_PEER", MODEL_NCCL_POSITIVE, 21200,
     AT(channels_per_net_peer),
     .help = "channels of send and receive to a peer over the network"},
    {"BUFFSIZE", MODEL_NCCL_BYTES, 0, AT(buffer_bytes[MODEL_NCCL_SIMPLE]),
     .help =
         "bytes of a channel's FIFO, Simple: a power of two; a ring's chunk "
         "is half of it",
     .judge = judge_buffer},
    {"LL_BUFFSIZE", MODEL_NCCL_BYTES, 0, AT(buffer_bytes[MODEL_NCCL_LL]),
     .help = "the same for LL", .judge = judge_buffer},
    {"LL128_BUFFSIZE", MODEL_NCCL_BYTES, 0, AT(buffer_bytes[MODEL_NCCL_LL128]),
     .help = "the same for LL128: 120 times a power of two",
     .judge = judge_ll128_buffer},
    {"P2P_NET_CHUNKSIZE", MODEL_NCCL_BYTES, 21400, AT(p2p_net_chunk_bytes),
     .help = "bytes of a chunk of send and receive, more than one node"},
    {"P2P_PCI_CHUNKSIZE", MODEL_NCCL_BYTES, 21600, AT(p2p_pci_chunk_bytes),
     .help = "the same on one node"},
    {"P2P_NVL_CHUNKSIZE", MODEL_NCCL_BYTES, 21600, AT(p2p_nvl_chunk_bytes),
     .help = "the same on one node where NVLink joins all GPUs"},
    {"P2P_LL_THRESHOLD", MODEL_NCCL_THRESHOLD, 0, AT(p2p_ll_threshold_bytes),
     .help = "send and receive use LL up to so many bytes"},
    {"NVLS_CHUNKSIZE", MODEL_NCCL_BYTES, 22100, AT(nvls_chunk_bytes),
     .help = "bytes of a chunk of NVLS at most"},
    {"NVLSTREE_MAX_CHUNKSIZE", MODEL_NCCL_BYTES, 22000,
     AT(nvls_tree_chunk_bytes), .help = "the same for NVLSTree"},
    {"NVLS_ENABLE", MODEL_NCCL_NUMBER, 21700, AT(nvls_enable),
     .help = "0: no NVLS; 1: where it can be; 2: where NCCL thinks it good"},
    {"PAT_ENABLE", MODEL_NCCL_NUMBER, 22300, AT(pat_enable),
     .help = "0: no PAT; 1: always; 2: with one GPU a node"},
    {"COLLNET_ENABLE", MODEL_NCCL_NUMBER, 20600, AT(collnet_enable),
     .help = "1: reduction in the network, which is not simulated",
     .judge = judge_collnet},
    {"THREAD_THRESHOLDS", MODEL_NCCL_SIX, 0, 0,
     .help = "bytes a thread has at least, of Tree's LL, LL128 and Simple, "
             "then of Ring's: six numbers"},
    {"NET_OVERHEAD", MODEL_NCCL_NS, 0, AT(net_overhead_us),
     .help = "ns that posting to the network takes, in NCCL's own model"},
    {"P2P_DISABLE", MODEL_NCCL_NUMBER, 0, AT(p2p_disable),
     .help = "1: no GPU reaches another's memory, over NVLink neither"},
    {"P2P_LEVEL", MODEL_NCCL_LEVEL, 0, AT(p2p_level),
     .help = "the farthest path of P2P: LOC, NVL, PIX, PXB, PHB, SYS",
     .local_offset = AT(p2p_level_local)},
    {"P2P_DIRECT_DISABLE", MODEL_NCCL_NUMBER, 0, AT(p2p_direct_disable),
     .help = "1: no direct access to user buffers"},
    {"SHM_DISABLE", MODEL_NCCL_NUMBER, 0, AT(shm_disable),
     .help = "1: no host memory between GPUs", .judge = judge_shm},
    {"NET_GDR_LEVEL", MODEL_NCCL_LEVEL, 0, AT(gdr_level),
     .help = "the farthest path of GPUDirect: LOC, PIX, PXB, PHB, SYS",
     .local_offset = AT(gdr_level_local)},
    {"PXN_DISABLE", MODEL_NCCL_NUMBER, 21200, AT(pxn_disable),
     .help = "1: a GPU does not send by way of the GPU beside the NIC"},
    {"CROSS_NIC", MODEL_NCCL_NUMBER, 0, AT(cross_nic),
     .help = "0: a ring uses the same NIC on each node; 1: it may differ; 2: "
             "where that is faster"},
    {"CTA_POLICY", MODEL_NCCL_POLICY, 22700, AT(cta_policy),
     .help = "DEFAULT, EFFICIENCY or ZERO"},
    {.name = NULL}};

/* -- names alone, with blanks between -- */

static const char not_simulated[] =
    "ALLOC_P2P_NET_LL_BUFFERS CHUNK_SIZE COLLNET_NODE_THRESHOLD GIN_ENABLE "
    "GIN_TYPE GRAPH_FILE IB_ADAPTIVE_ROUTING IB_AR_THRESHOLD IB_DATA_DIRECT "
    "IB_DISABLE IB_HCA IB_MERGE_NICS IB_MERGE_VFS IB_OOO_RQ "
    "IB_PCI_RELAXED_ORDERING IB_QPS_PER_CONNECTION IB_SPLIT_DATA_ON_QPS "
    "IB_USE_INLINE L1_SHARED_MEMORY_CARVEOUT LL128_C2C MAX_P2P_PEERS "
    "MNNVL_ENABLE MULTI_RANK_GPU_ENABLE NET NETDEVS_POLICY "
    "NET_DISABLE_INTRA NET_FORCE_MERGE NET_GDR_C2C NET_GDR_READ "
    "NET_MERGE_LEVEL NET_MERGE_POLICY NET_PLUGIN NSOCKS_PERTHREAD "
    "NVLINK_UTIL_CENTRIC_SCHED_ENABLE P2P_PXN_LEVEL P2P_READ_ENABLE "
    "P2P_USE_CUDA_MEMCPY PXN_C2C SHM_LOCALITY SHM_MEMCPY_MODE "
    "SHM_USE_CUDA_MEMCPY SINGLE_PROC_MEM_REG_ENABLE SOCKET_INLINE "
    "SOCKET_MIN_TASKSIZE SOCKET_NTHREADS SOCKET_RCVBUF SOCKET_SNDBUF "
    "SYM_CE_THRESHOLD SYM_CTAS SYM_KERNEL TOPO_FILE TUNER_CONFIG_FILE "
    "TUNER_PLUGIN UNPACK_DOUBLE_NCHANNELS WIN_ENABLE";

/* The last line and a half are of PyTorch, of container images and of builds.
 */
static const char no_effect[] =
    "CGA_CLUSTER_SIZE CHECKS_DISABLE CHECK_MODE CHECK_POINTERS "
    "COMM_BLOCKING COMM_ID COMM_SHRINK_SHARE_RESOURCES "
    "COMM_SPLIT_SHARE_RESOURCES CONF_FILE CREATE_THREAD_CONTEXT "
    "CUMEM_ENABLE CUMEM_HOST_ENABLE DEBUG DEBUG_FILE DEBUG_SUBSYS "
    "DEBUG_TIMESTAMP_FORMAT DEBUG_TIMESTAMP_LEVELS DMABUF_ENABLE ENV_PLUGIN "
    "GDRCOPY_ENABLE GDRCOPY_FIFO_ENABLE GDRCOPY_FLUSH_ENABLE "
    "GDRCOPY_SYNC_ENABLE GRAPH_DUMP_FILE GRAPH_DUMP_FILE_RANK "
    "GRAPH_HELPER_DISABLE GRAPH_MIXING_SUPPORT GRAPH_REGISTER "
    "GROUP_CUDA_STREAM HOSTID IB_ADDR_FAMILY IB_ADDR_RANGE IB_FIFO_TC "
    "IB_GID_INDEX IB_PKEY IB_RETRY_CNT IB_RETURN_ASYNC_EVENTS "
    "IB_ROCE_VERSION_NUM IB_ROUTABLE_FLID_GID_INDEX IB_SL IB_TC IB_TIMEOUT "
    "IB_WARN_RAIL_LOCAL IGNORE_CPU_AFFINITY IGNORE_DISABLED_P2P LAUNCH_MODE "
    "LAUNCH_ORDER_IMPLICIT LAUNCH_RACE_FATAL LOCAL_REGISTER MEM_SYNC_DOMAIN "
    "MNNVL_CLIQUE_ID MNNVL_UUID NET_FORCE_FLUSH "
    "NET_OPTIONAL_RECV_COMPLETION NET_SHARED_BUFFERS NET_SHARED_COMMS "
    "NO_CACHE NVB_PRECONNECT OOB_NET_ENABLE OOB_NET_IFNAME PROFILER_PLUGIN "
    "PROFILE_EVENT_MASK PROGRESS_APPENDOP_FREQ PROXY_APPEND_BATCH_SIZE "
    "PROXY_DUMP_SIGNAL PSK RAS_ADDR RAS_ENABLE RAS_TIMEOUT_FACTOR "
    "REPORT_CONNECT_PROGRESS RUNTIME_CONNECT SET_CPU_STACK_SIZE "
    "SET_STACK_SIZE SET_THREAD_NAME SOCKET_FAMILY SOCKET_IFNAME "
    "SOCKET_MAGIC SOCKET_POLL_TIMEOUT_MSEC SOCKET_RETRY_CNT "
    "SOCKET_RETRY_SLEEP_MSEC TOPO_DUMP_FILE TOPO_DUMP_FILE_RANK "
    "UID_STAGGER_RATE UID_STAGGER_THRESHOLD WARN_ENABLE_DEBUG_INFO "
    "WORK_ARGS_BYTES WORK_FIFO_BYTES WORK_FIFO_DEPTH ASYNC_ERROR_HANDLING "
    "AVOID_RECORD_STREAMS BLOCKING_WAIT DESYNC_DEBUG ENABLE_TIMING TIMEOUT "
    "VERSION HOME LIBRARY INCLUDE_DIR ROOT ROOT_DIR";

/* Is the name among the words? */
static bool holds(const char *words, const char *name, size_t length)
{
    while (*words != '\0') {
        size_t word = strcspn(words, " ");

        if (word == length && strncmp(words, name, length) == 0) {
            return true;
        }
        words += word + strspn(words + word, " ");
    }
    return false;
}

static const struct model_nccl_variable *
name_alone(struct model_arena *arena,
           enum model_nccl_variable_kind kind,
           const char *name,
           size_t length)
{
    struct model_nccl_variable *row = model_arena_alloc(arena, sizeof(*row));

    row->name = model_arena_text_n(arena, name, length);
    row->kind = kind;
    row->help = kind == MODEL_NCCL_NO_EFFECT ? "changes no time"
                                             : "known, but not simulated";
    return row;
}

const struct model_nccl_variable *model_nccl_variable_find(
    struct model_arena *arena, const char *name, size_t length)
{
    if (length < PREFIX_LENGTH || strncmp(name, PREFIX, PREFIX_LENGTH) != 0) {
        return NULL;
    }
    name += PREFIX_LENGTH;
    length -= PREFIX_LENGTH;
    for (const struct model_nccl_variable *row = model_nccl_variables;
         row->name != NULL; row++) {
        if (strlen(row->name) == length &&
            strncmp(row->name, name, length) == 0) {
            return row;
        }
    }
    if (holds(not_simulated, name, length)) {
        return name_alone(arena, MODEL_NCCL_NOT_SIMULATED, name, length);
    }
    return holds(no_effect, name, length)
               ? name_alone(arena, MODEL_NCCL_NO_EFFECT, name, length)
               : NULL;
}

const char *const *model_nccl_variable_names(struct model_arena *arena)
{
    char *words = model_arena_format(arena, "%s %s", not_simulated, no_effect);
    char *state = NULL;
    const char **names = NULL;
    int count = 0;
    int room = 0;

    for (int i = 0; model_nccl_variables[i].name != NULL; i++) {
        names = model_arena_grow(arena, names, count, &room, sizeof(*names));
        names[count++] = model_nccl_variables[i].name;
    }
    for (char *word = strtok_r(words, " ", &state); word != NULL;
         word = strtok_r(NULL, " ", &state)) {
        names = model_arena_grow(arena, names, count, &room, sizeof(*names));
        names[count++] = word;
    }
    names = model_arena_grow(arena, names, count, &room, sizeof(*names));
    names[count] = NULL;
    return names;
}

const char *model_nccl_variable_hint(struct model_arena *arena,
                                     const char *name)
{
    const char *nearest;

    /* Names differ behind "NCCL_", which all have. */
    name += strncasecmp(name, PREFIX, PREFIX_LENGTH) == 0 ? PREFIX_LENGTH : 0;
    nearest = model_nearest_name(name, model_nccl_variable_names(arena));
    return nearest != NULL
               ? model_arena_format(arena, "did you mean \"NCCL_%s\"?", nearest)
               : "lagom help nccl lists them";
}

/* -- help -- */

static void print_row(const struct model_nccl_variable *row, FILE *stream)
{
    (void)fprintf(stream, "  " PREFIX "%-22s %s", row->name, row->help);
    if (row->since > 21800) {
        (void)fprintf(stream, " (since %d.%d)", row->since / 10000,
                      row->since / 100 % 100);
    }
    (void)fputc('\n', stream);
}

/* Words in lines of 80 letters. */
static void print_words(const char *title, const char *words, FILE *stream)
{
    size_t column = 80;

    (void)fprintf(stream, "\n%s", title);
    while (*words != '\0') {
        size_t word = strcspn(words, " ");

        if (column + word + 1 > 80) {
            (void)fputs("\n ", stream);
            column = 1;
        }
        (void)fprintf(stream, " %.*s", (int)word, words);
        column += word + 1;
        words += word + strspn(words + word, " ");
    }
    (void)fputc('\n', stream);
}

bool model_nccl_variables_help(struct model_arena *arena,
                               const char *name,
                               FILE *stream)
{
    const struct model_nccl_variable *row;

    if (name != NULL) {
        if (strncmp(name, PREFIX, PREFIX_LENGTH) != 0) {
            name = model_arena_format(arena, PREFIX "%s", name);
        }
        row = model_nccl_variable_find(arena, name, strlen(name));
        if (row != NULL) {
            print_row(row, stream);
        }
        return row != NULL;
    }
    for (row = model_nccl_variables; row->name != NULL; row++) {
        print_row(row, stream);
    }
    print_words("Known, but not simulated; all begin with NCCL_:",
                not_simulated, stream);
    print_words("Known, and changing no time:", no_effect, stream);
    return true;
}
