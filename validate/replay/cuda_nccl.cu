/*
 * cuda_nccl.cu - collectives by NCCL.
 *
 * NCCL is loaded when several ranks are to talk, so that one GPU needs none.
 * Each pair of a group and a number of channels is a communicator of its own,
 * with minCTAs = maxCTAs; member 0 leaves its id in a file beside the seat's,
 * which it removes when all have come.
 */
#include "validate/replay/cuda_parts.h"

#include <algorithm>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <time.h>
#include <unistd.h>

extern "C" {
#include "model/config.h"
}

#if __has_include(<nccl.h>)

#include <nccl.h>

/* As enum model_collective_kind, which is not for C++. */
enum {
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_REDUCE,
    BROADCAST,
    REDUCE,
    ALL_TO_ALL,
    SEND_RECV,
    SEND
};

enum { TYPE_BF16, TYPE_FP16, TYPE_FP32, TYPE_FP8 };

enum { ID_WAIT_S = 120 };

/* The functions of the library that is there, which may be another version than
   the header's. */
struct api {
    decltype(&ncclGetVersion) version;
    decltype(&ncclGetUniqueId) unique_id;
    decltype(&ncclCommInitRankConfig) init;
    decltype(&ncclCommDestroy) destroy;
    decltype(&ncclCommAbort) abort;
    decltype(&ncclCommGetAsyncError) async_error;
    decltype(&ncclGetErrorString) text;
    decltype(&ncclGroupStart) group_start;
    decltype(&ncclGroupEnd) group_end;
    decltype(&ncclAllGather) all_gather;
    decltype(&ncclReduceScatter) reduce_scatter;
    decltype(&ncclAllReduce) all_reduce;
    decltype(&ncclBroadcast) broadcast;
    decltype(&ncclReduce) reduce;
    decltype(&ncclSend) send;
    decltype(&ncclRecv) receive;
};

struct communicator {
    int group, channels; /* group -1: all ranks */
    int rank, count;
    ncclComm_t comm;
};

struct replay_nccl_state {
    struct api api;
    std::vector<struct communicator *> communicators; /* 0: all ranks */
    double *values; /* on the GPU, for combine */
    int value_room;
};

template <typename F>
static bool find(void *library, const char *name, F *function)
{
    *function = (F)dlsym(library, name);
    return *function != NULL;
}

static bool find_all(void *library, struct api *api)
{
    return find(library, "ncclGetVersion", &api->version) &&
           find(library, "ncclGetUniqueId", &api->unique_id) &&
           find(library, "ncclCommInitRankConfig", &api->init) &&
           find(library, "ncclCommDestroy", &api->destroy) &&
           find(library, "ncclCommAbort", &api->abort) &&
           find(library, "ncclCommGetAsyncError", &api->async_error) &&
           find(library, "ncclGetErrorString", &api->text) &&
           find(library, "ncclGroupStart", &api->group_start) &&
           find(library, "ncclGroupEnd", &api->group_end) &&
           find(library, "ncclAllGather", &api->all_gather) &&
           find(library, "ncclReduceScatter", &api->reduce_scatter) &&
           find(library, "ncclAllReduce", &api->all_reduce) &&
           find(library, "ncclBroadcast", &api->broadcast) &&
           find(library, "ncclReduce", &api->reduce) &&
           find(library, "ncclSend", &api->send) &&
           find(library, "ncclRecv", &api->receive);
}

/* Stays loaded: NCCL has threads of its own. */
static bool load(struct api *api)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);

    return library != NULL && find_all(library, api);
}

int replay_nccl_version(void)
{
    struct api api = {};
    int version = 0;

    return load(&api) && api.version(&version) == ncclSuccess ? version : 0;
}

#define NCCL_GOOD(state, call, fault)                                          \
    nccl_good((state), (state)->api.call, #call, __LINE__, (fault))

static bool nccl_good(const struct replay_nccl_state *state,
                      ncclResult_t result,
                      const char *call,
                      int line,
                      struct replay_fault *fault)
{
    return replay_good(result == ncclSuccess, call, state->api.text(result),
                       __FILE__, line, fault);
}

/* --- communicators ------------------------------------------------------- */

/* Written under another name first, so that nobody reads half of it. */
static bool leave_id(const std::string &path,
                     const ncclUniqueId *id,
                     struct replay_fault *fault)
{
    std::string half = path + ".half";
    FILE *file = fopen(half.c_str(), "wb");
    bool good = file != NULL && fwrite(id, sizeof(*id), 1, file) == 1;

    good = (file == NULL || fclose(file) == 0) && good;
    return replay_good(good && rename(half.c_str(), path.c_str()) == 0,
                       "rename", path.c_str(), __FILE__, __LINE__, fault);
}

static bool
read_id(const std::string &path, ncclUniqueId *id, struct replay_fault *fault)
{
    const struct timespec pause = {0, 10000000};

    for (int i = 0; i < ID_WAIT_S * 100; i++) {
        FILE *file = fopen(path.c_str(), "rb");

        if (file != NULL) {
            bool good = fread(id, sizeof(*id), 1, file) == 1;

            (void)fclose(file);
            return replay_good(good, "fread", path.c_str(), __FILE__, __LINE__,
                               fault);
        }
        (void)nanosleep(&pause, NULL);
    }
    return replay_good(false, "fopen",
                       (path + ": no rank 0 left its id here").c_str(),
                       __FILE__, __LINE__, fault);
}

static void ask_channels(ncclConfig_t *config, int channels)
{
    if (channels > 0) {
        config->minCTAs = channels;
        config->maxCTAs = channels;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
        config->nvlsCTAs = channels;
#endif
    }
}

/* All members call it in the same order. */
static struct communicator *connect(struct replay_device *device,
                                    int group,
                                    int channels,
                                    int rank,
                                    int count,
                                    int leader,
                                    struct replay_fault *fault)
{
    struct replay_nccl_state *state = device->nccl;
    std::string path = std::string(device->seat->id_file) + "." +
                       std::to_string(group) + "." + std::to_string(leader) +
                       "." + std::to_string(channels);
    struct communicator *made = new communicator();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    bool good;

    *made = {group, channels, rank, count, NULL};
    ask_channels(&config, channels);
    good = rank == 0 ? NCCL_GOOD(state, unique_id(&id), fault) &&
                           leave_id(path, &id, fault)
                     : read_id(path, &id, fault);
    good = good &&
           NCCL_GOOD(state, init(&made->comm, count, id, rank, &config), fault);
    if (rank == 0) {
        (void)unlink(path.c_str());
    }
    if (!good) {
        delete made;
        return NULL;
    }
    state->communicators.push_back(made);
    return made;
}

/* The communicator of a work, shared by all that want the same. */
static struct communicator *find_communicator(struct replay_device *device,
                                              const struct replay_work *work,
                                              struct replay_fault *fault)
{
    const struct replay_group *group = &device->seat->groups[work->group];
    int rank = 0;

    for (struct communicator *other : device->nccl->communicators) {
        if (other->group == work->group && other->channels == work->channels) {
            return other;
        }
    }
    while (rank < group->count && group->ranks[rank] != device->seat->rank) {
        rank++;
    }
    if (!replay_good(rank < group->count, "group", "this rank is not in it",
                     __FILE__, __LINE__, fault)) {
        return NULL;
    }
    return connect(device, work->group, work->channels, rank, group->count,
                   group->ranks[0], fault);
}

void replay_nccl_close(struct replay_device *device)
{
    struct replay_nccl_state *state = device->nccl;

    if (state == NULL) {
        return;
    }
    for (struct communicator *made : state->communicators) {
        /* Peers of a failed rank may never come. */
        (void)(device->broken ? state->api.abort(made->comm)
                              : state->api.destroy(made->comm));
        delete made;
    }
    (void)cudaFree(state->values);
    delete state;
    device->nccl = NULL;
}

/* --- collectives --------------------------------------------------------- */

static ncclDataType_t nccl_type(int type, double *bytes)
{
    *bytes = type == TYPE_FP32 ? 4.0 : type == TYPE_FP8 ? 1.0 : 2.0;
    switch (type) {
    case TYPE_BF16:
        return ncclBfloat16;
    case TYPE_FP16:
        return ncclFloat16;
    case TYPE_FP32:
        return ncclFloat32;
    default:
        return ncclUint8;
    }
}

bool replay_nccl_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;

    if (!replay_good(device->nccl != NULL, "nccl",
                     "a collective needs several ranks", __FILE__, __LINE__,
                     fault)) {
        return false;
    }
    made->communicator = find_communicator(device, work, fault);
    return made->communicator != NULL &&
           replay_buffer(device, made, work->size_bytes, work->type, fault) !=
               NULL &&
           replay_buffer(device, made, work->size_bytes, MODEL_UNSET, fault) !=
               NULL;
}

/* One call of a work, between buffers of `size_bytes`. */
struct call {
    const struct replay_nccl_state *state;
    const struct communicator *with;
    const char *in;
    char *out;
    size_t count; /* elements of the whole buffer */
    size_t part;  /* of it that is one rank's */
    size_t part_bytes;
    ncclDataType_t type;
    cudaStream_t stream;
};

static bool to_all(const struct call *call, struct replay_fault *fault)
{
    const struct replay_nccl_state *state = call->state;
    ncclComm_t comm = call->with->comm;
    bool good = NCCL_GOOD(state, group_start(), fault);

    for (int peer = 0; peer < call->with->count && good; peer++) {
        size_t at = (size_t)peer * call->part_bytes;

        good = NCCL_GOOD(state,
                         send(call->in + at, call->part, call->type, peer, comm,
                              call->stream),
                         fault) &&
               NCCL_GOOD(state,
                         receive(call->out + at, call->part, call->type, peer,
                                 comm, call->stream),
                         fault);
    }
    return NCCL_GOOD(state, group_end(), fault) && good;
}

/* To the member `shift` further; of a send only member 0 or 1 sends. */
static bool to_one(const struct call *call,
                   const struct replay_work *work,
                   struct replay_fault *fault)
{
    const struct replay_nccl_state *state = call->state;
    ncclComm_t comm = call->with->comm;
    int count = call->with->count;
    int rank = call->with->rank;
    int to = ((rank + work->shift) % count + count) % count;
    int from = ((rank - work->shift) % count + count) % count;
    bool one_way = work->collective == SEND;
    int sender = work->shift > 0 ? 0 : 1;
    bool good = NCCL_GOOD(state, group_start(), fault);

    if (good && (!one_way || rank == sender)) {
        good = NCCL_GOOD(
            state,
            send(call->in, call->count, call->type, to, comm, call->stream),
            fault);
    }
    if (good && (!one_way || rank != sender)) {
        good = NCCL_GOOD(state,
                         receive(call->out, call->count, call->type, from, comm,
                                 call->stream),
                         fault);
    }
    return NCCL_GOOD(state, group_end(), fault) && good;
}

static bool collect(const struct call *call,
                    const struct replay_work *work,
                    struct replay_fault *fault)
{
    const struct replay_nccl_state *state = call->state;
    ncclComm_t comm = call->with->comm;

    switch (work->collective) {
    case ALL_GATHER:
        return NCCL_GOOD(state,
                         all_gather(call->in, call->out, call->part, call->type,
                                    comm, call->stream),
                         fault);
    case REDUCE_SCATTER:
        return NCCL_GOOD(state,
                         reduce_scatter(call->in, call->out, call->part,
                                        call->type, ncclSum, comm,
                                        call->stream),
                         fault);
    case ALL_REDUCE:
        return NCCL_GOOD(state,
                         all_reduce(call->in, call->out, call->count,
                                    call->type, ncclSum, comm, call->stream),
                         fault);
    case BROADCAST:
        return NCCL_GOOD(state,
                         broadcast(call->in, call->out, call->count, call->type,
                                   0, comm, call->stream),
                         fault);
    case REDUCE:
        return NCCL_GOOD(state,
                         reduce(call->in, call->out, call->count, call->type,
                                ncclSum, 0, comm, call->stream),
                         fault);
    case ALL_TO_ALL:
        return to_all(call, fault);
    default:
        return to_one(call, work, fault);
    }
}

bool replay_nccl_launch(struct replay_device *device,
                        struct replay_made *made,
                        cudaStream_t stream,
                        struct replay_fault *fault)
{
    const struct replay_work *work = &made->work;
    const struct communicator *with =
        (const struct communicator *)made->communicator;
    double bytes;
    struct call call = {};

    call.state = device->nccl;
    call.with = with;
    call.type = nccl_type(work->type, &bytes);
    call.in = (const char *)made->buffers[0];
    call.out = (char *)made->buffers[1];
    call.count = (size_t)(work->size_bytes / bytes);
    call.part = call.count / (size_t)with->count;
    call.part_bytes = call.part * (size_t)bytes;
    call.stream = stream;
    return collect(&call, work, fault);
}

/* --- between ranks ------------------------------------------------------- */

static bool
value_room(struct replay_device *device, int count, struct replay_fault *fault)
{
    struct replay_nccl_state *state = device->nccl;
    cudaStream_t stream;

    if (count <= state->value_room) {
        return true;
    }
    (void)cudaFree(state->values);
    state->values = NULL;
    state->value_room = 0;
    if (!CUDA_GOOD(cudaMalloc(&state->values, (size_t)count * sizeof(double)),
                   fault) ||
        !replay_stream(device, 0, &stream, fault) ||
        !CUDA_GOOD(cudaMemsetAsync(state->values, 0,
                                   (size_t)count * sizeof(double), stream),
                   fault)) {
        return false;
    }
    state->value_room = count;
    return true;
}

/*
 * An algorithm that is forced on all-reduces may not be for all ranks (NVLS on
 * several nodes), nor for the largest of doubles (NVLS); reduce and broadcast
 * have their ring always. Their last ranks come out later, so that they are
 * for need.
 */
static bool reduce_values(struct replay_device *device,
                          int count,
                          ncclRedOp_t how,
                          cudaStream_t stream,
                          struct replay_fault *fault)
{
    struct replay_nccl_state *state = device->nccl;
    ncclComm_t comm = state->communicators[0]->comm;
    double *values = state->values;
    size_t size = (size_t)count;

    if (getenv("NCCL_ALGO") == NULL) {
        return NCCL_GOOD(
            state,
            all_reduce(values, values, size, ncclFloat64, how, comm, stream),
            fault);
    }
    return NCCL_GOOD(
               state,
               reduce(values, values, size, ncclFloat64, how, 0, comm, stream),
               fault) &&
           NCCL_GOOD(
               state,
               broadcast(values, values, size, ncclFloat64, 0, comm, stream),
               fault);
}

bool replay_nccl_meet(struct replay_device *device,
                      cudaStream_t stream,
                      struct replay_fault *fault)
{
    return value_room(device, 1, fault) &&
           reduce_values(device, 1, ncclSum, stream, fault);
}

bool replay_nccl_combine(struct replay_device *device,
                         double *values,
                         int count,
                         enum replay_combine how,
                         struct replay_fault *fault)
{
    struct replay_nccl_state *state = device->nccl;
    size_t bytes = (size_t)count * sizeof(*values);
    cudaStream_t stream;

    return replay_stream(device, 0, &stream, fault) &&
           value_room(device, count, fault) &&
           CUDA_GOOD(cudaMemcpyAsync(state->values, values, bytes,
                                     cudaMemcpyHostToDevice, stream),
                     fault) &&
           reduce_values(device, count, how == REPLAY_MAX ? ncclMax : ncclSum,
                         stream, fault) &&
           CUDA_GOOD(cudaMemcpyAsync(values, state->values, bytes,
                                     cudaMemcpyDeviceToHost, stream),
                     fault) &&
           CUDA_GOOD(cudaStreamSynchronize(stream), fault);
}

bool replay_nccl_check(struct replay_device *device, struct replay_fault *fault)
{
    for (const struct communicator *made : device->nccl->communicators) {
        ncclResult_t result = ncclSuccess;

        if (!NCCL_GOOD(device->nccl, async_error(made->comm, &result), fault) ||
            !nccl_good(device->nccl, result, "collective", __LINE__, fault)) {
            return false;
        }
    }
    return true;
}

/*
 * The first sum connects the ranks and takes memory, both of which must not
 * happen behind a held stream.
 */
bool replay_nccl_open(struct replay_device *device, struct replay_fault *fault)
{
    const struct replay_seat *seat = device->seat;
    struct replay_nccl_state *state = new replay_nccl_state();
    cudaStream_t stream;

    device->nccl = state;
    if (!replay_good(load(&state->api), "dlopen",
                     "libnccl.so.2 is not here: several GPUs need NCCL",
                     __FILE__, __LINE__, fault)) {
        delete state;
        device->nccl = NULL;
        return false;
    }
    return connect(device, -1, 0, seat->rank, seat->rank_count, 0, fault) !=
               NULL &&
           replay_stream(device, 0, &stream, fault) &&
           replay_nccl_meet(device, stream, fault) &&
           CUDA_GOOD(cudaStreamSynchronize(stream), fault);
}

#endif
