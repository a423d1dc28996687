/*
 * cut.c - the parts of a node, and the links around them.
 */
#include "model/nccl/bound.h"

enum partition { SINGLE, ISLANDS, SWITCHES, SOCKETS };

/* Which devices a part holds. */
struct side {
    bool *inside;
    bool *marked; /* links that are among the exits */
};

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

static int kind_of(const struct model_nccl_walk *walk, int device)
{
    return walk->machine->devices[device].kind;
}

/* What a device hangs on: the last of its links leads there. */
static int above(const struct model_nccl_walk *walk, int device)
{
    const struct model_nccl_device *at = &walk->machine->devices[device];

    return walk->machine->links[at->links[at->link_count - 1]].to;
}

static int switch_of(const struct model_nccl_walk *walk, int device)
{
    int up = above(walk, device);

    return kind_of(walk, up) == MODEL_NCCL_PCI ? up : device;
}

static int socket_of(const struct model_nccl_walk *walk, int device)
{
    int up = above(walk, device);

    return kind_of(walk, up) == MODEL_NCCL_PCI ? above(walk, up) : up;
}

/* The first GPU that NVLink joins with a GPU, also by way of others. */
static void find_islands(const struct model_nccl_walk *walk, int *islands)
{
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        islands[gpu] = gpu;
    }
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        for (int other = 0; other < walk->gpus; other++) {
            int from = islands[other];
            int to = islands[gpu];

            if (from == to || model_nccl_way(walk->paths, gpu, other)->type !=
                                  (int)MODEL_NCCL_PATH_NVL) {
                continue;
            }
            for (int i = 0; i < walk->gpus; i++) {
                islands[i] = islands[i] == from ? to : islands[i];
            }
        }
    }
}

/* The part of each GPU, named by a device. */
static void name_parts(const struct model_nccl_walk *walk,
                       enum partition partition,
                       int *names)
{
    if (partition == ISLANDS) {
        find_islands(walk, names);
        return;
    }
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        names[gpu] = partition == SWITCHES  ? switch_of(walk, gpu)
                     : partition == SOCKETS ? socket_of(walk, gpu)
                                            : gpu;
    }
}

/* All devices of the part of that name. */
static void take_side(const struct model_nccl_walk *walk,
                      enum partition partition,
                      const int *names,
                      int name,
                      bool *inside)
{
    const struct model_nccl_machine *machine = walk->machine;

    for (int i = 0; i < machine->first[MODEL_NCCL_DEVICE_KINDS]; i++) {
        int kind = kind_of(walk, i);
        /* A NET is where its NIC is. */
        int at = kind == MODEL_NCCL_NET ? above(walk, i) : i;

        inside[i] = i == name;
        if (kind == MODEL_NCCL_GPU) {
            inside[i] = names[i] == name;
        } else if (partition == SWITCHES &&
                   (kind == MODEL_NCCL_NIC || kind == MODEL_NCCL_NET)) {
            inside[i] = switch_of(walk, at) == name;
        } else if (partition == SOCKETS &&
                   (kind == MODEL_NCCL_NIC || kind == MODEL_NCCL_NET)) {
            inside[i] = socket_of(walk, at) == name;
        } else if (partition == SOCKETS && kind == MODEL_NCCL_PCI) {
            inside[i] = above(walk, i) == name;
        }
    }
}

/* The first link of a way that crosses the side's edge. */
static int exit_of(const struct model_nccl_walk *walk,
                   const struct model_nccl_way *way,
                   const bool *inside,
                   bool out)
{
    for (int i = 0; i < way->count; i++) {
        int there = walk->machine->links[way->links[i]].to;
        int back = walk->machine->links[way->links[i] ^ 1].to;

        if (inside[back] == out && inside[there] != out) {
            return way->links[i];
        }
    }
    return -1;
}

static void note_exit(struct model_nccl_exits *exits,
                      const struct side *side,
                      int link,
                      int type,
                      bool intra)
{
    int at = 0;

    if (!side->marked[link]) {
        side->marked[link] = true;
        exits->items[exits->count++] = (struct model_nccl_exit){
            link, MODEL_NCCL_PATH_DIS, MODEL_NCCL_PATH_DIS};
    }
    while (exits->items[at].link != link) {
        at++;
    }
    if (intra) {
        exits->items[at].intra_type =
            smaller(exits->items[at].intra_type, type);
    } else {
        exits->items[at].inter_type =
            smaller(exits->items[at].inter_type, type);
    }
}

/* Note the exits that ways between GPUs and one device use. */
static void note_ways(const struct model_nccl_walk *walk,
                      const struct side *side,
                      int device,
                      bool out,
                      struct model_nccl_exits *exits)
{
    bool intra = kind_of(walk, device) == MODEL_NCCL_GPU;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        bool leaves = side->inside[gpu] == out;
        const struct model_nccl_way *way =
            leaves ? model_nccl_way(walk->paths, gpu, device)
                   : model_nccl_way(walk->paths, device, gpu);
        int link;

        if (side->inside[gpu] == side->inside[device]) {
            continue;
        }
        link = exit_of(walk, way, side->inside, out);
        if (link >= 0) {
            note_exit(exits, side, link, way->type, intra);
        }
    }
}

static struct model_nccl_exits find_exits(struct model_arena *arena,
                                          const struct model_nccl_walk *walk,
                                          const struct side *side,
                                          bool out)
{
    const struct model_nccl_machine *machine = walk->machine;
    struct model_nccl_exits exits = {.count = 0};
    size_t room = 0;

    for (int i = 0; i < machine->link_count; i++) {
        bool there = side->inside[machine->links[i].to];
        bool back = side->inside[machine->links[i ^ 1].to];

        side->marked[i] = false;
        room += back == out && there != out ? 1 : 0;
    }
    exits.items = model_arena_array(arena, room, sizeof(*exits.items));
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        /* Each pair once, from within. */
        if (side->inside[gpu]) {
            note_ways(walk, side, gpu, out, &exits);
        }
    }
    for (int net = 0; net < walk->nets; net++) {
        note_ways(walk, side, machine->first[MODEL_NCCL_NET] + net, out,
                  &exits);
    }
    return exits;
}

static int count_names(const struct model_nccl_walk *walk, const int *names)
{
    int count = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        int at = 0;

        while (names[at] != names[gpu]) {
            at++;
        }
        count += at == gpu ? 1 : 0;
    }
    return count;
}

static void cut(struct model_arena *arena,
                struct model_nccl_bounds *bounds,
                enum partition partition,
                int *names,
                const struct side *side)
{
    const struct model_nccl_walk *walk = bounds->walk;
    struct model_nccl_parts *parts = &bounds->parts[bounds->part_count];
    int count;

    name_parts(walk, partition, names);
    count = count_names(walk, names);
    if (count < 2) {
        return;
    }
    *parts = (struct model_nccl_parts){
        .cuts = model_arena_array(arena, (size_t)count, sizeof(*parts->cuts))};
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        int at = 0;

        while (names[at] != names[gpu]) {
            at++;
        }
        if (at == gpu) {
            take_side(walk, partition, names, names[gpu], side->inside);
            parts->cuts[parts->count++] = (struct model_nccl_cut){
                .out = find_exits(arena, walk, side, true),
                .in = find_exits(arena, walk, side, false)};
        }
    }
    bounds->part_count++;
}

/* Links of the least tree that joins all GPUs (Prim): no path is shorter. */
static int
path_hops(const struct model_nccl_walk *walk, int *near, bool *joined)
{
    int sum = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        near[gpu] = MODEL_NCCL_HOPS_MAX;
        joined[gpu] = gpu == 0;
    }
    for (int last = 0, done = 1; done < walk->gpus; done++) {
        int next = -1;

        for (int gpu = 0; gpu < walk->gpus; gpu++) {
            near[gpu] =
                smaller(near[gpu],
                        smaller(model_nccl_way(walk->paths, last, gpu)->count,
                                model_nccl_way(walk->paths, gpu, last)->count));
            if (!joined[gpu] && (next < 0 || near[gpu] < near[next])) {
                next = gpu;
            }
        }
        joined[next] = true;
        sum += near[next];
        last = next;
    }
    return sum;
}

static int net_hops(const struct model_nccl_walk *walk)
{
    int least = MODEL_NCCL_HOPS_MAX;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        for (int net = 0; net < walk->nets; net++) {
            least =
                smaller(least, model_nccl_way_of(walk->paths, MODEL_NCCL_GPU,
                                                 gpu, MODEL_NCCL_NET, net)
                                   ->count);
            least =
                smaller(least, model_nccl_way_of(walk->paths, MODEL_NCCL_NET,
                                                 net, MODEL_NCCL_GPU, gpu)
                                   ->count);
        }
    }
    return walk->nets > 0 ? least : 0;
}

struct model_nccl_bounds
model_nccl_bounds_make(struct model_arena *arena,
                       const struct model_nccl_walk *walk)
{
    const struct model_nccl_machine *machine = walk->machine;
    size_t devices = (size_t)machine->first[MODEL_NCCL_DEVICE_KINDS];
    struct side side = {
        .inside = model_arena_array(arena, devices, sizeof(bool)),
        .marked = model_arena_array(arena, (size_t)machine->link_count,
                                    sizeof(bool))};
    int *names = model_arena_array(arena, (size_t)walk->gpus, sizeof(int));
    struct model_nccl_bounds bounds = {.walk = walk};

    for (int i = SINGLE; i <= (int)SOCKETS; i++) {
        cut(arena, &bounds, (enum partition)i, names, &side);
    }
    bounds.path_hops = path_hops(walk, names, side.inside);
    bounds.net_hops = net_hops(walk);
    return bounds;
}
