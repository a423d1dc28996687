/*
 * walk_links.c - what hops take from links.
 */
#include "model/nccl/walk_parts.h"

/* What a hop of a rate takes from a link, and from the link's way back. */
struct toll {
    int there, back;
};

static struct toll toll_of(const struct model_nccl_walk *walk,
                           const struct model_nccl_way *way,
                           int link,
                           int bytes_per_us,
                           bool from_gpu)
{
    const struct model_nccl_machine *machine = walk->machine;
    const struct model_nccl_link *at = &machine->links[link];
    struct toll toll = {bytes_per_us, 0};

    if (way->taxed && at->type == MODEL_NCCL_PATH_PIX) {
        toll.there =
            (int)((long long)bytes_per_us * walk->p2p_thousandths / 1000);
    }
    /* Before Ampere what GPUs receive from elsewhere takes an eighth of what
     * they can send. */
    if (!from_gpu && machine->devices[at->to].kind == MODEL_NCCL_GPU &&
        machine->capabilities[at->to] < 80) {
        toll.back = toll.there / 8;
    }
    return toll;
}

static void give_back(struct model_nccl_walk *walk,
                      const struct model_nccl_way *way,
                      int links,
                      int bytes_per_us,
                      bool from_gpu)
{
    for (int i = 0; i < links; i++) {
        struct toll toll =
            toll_of(walk, way, way->links[i], bytes_per_us, from_gpu);

        walk->left[way->links[i]] += toll.there;
        walk->left[way->links[i] ^ 1] += toll.back;
    }
}

static bool take(struct model_nccl_walk *walk,
                 const struct model_nccl_way *way,
                 int bytes_per_us,
                 bool from_gpu)
{
    int last = way->links[way->count - 1];

    /* Mostly it is the last link that is full: then nothing is to give back. */
    if (walk->left[last] <
        toll_of(walk, way, last, bytes_per_us, from_gpu).there) {
        return false;
    }
    for (int i = 0; i < way->count; i++) {
        int *left = &walk->left[way->links[i]];
        int *left_back = &walk->left[way->links[i] ^ 1];
        struct toll toll =
            toll_of(walk, way, way->links[i], bytes_per_us, from_gpu);

        if (*left < toll.there || (toll.back > 0 && *left_back < toll.back)) {
            give_back(walk, way, i, bytes_per_us, from_gpu);
            return false;
        }
        *left -= toll.there;
        *left_back -= toll.back;
    }
    return true;
}

static bool is_tree(const struct model_nccl_draft *draft)
{
    return draft->pattern == MODEL_NCCL_BALANCED_TREE ||
           draft->pattern == MODEL_NCCL_SPLIT_TREE ||
           draft->pattern == MODEL_NCCL_PLAIN_TREE;
}

static bool is_inside(const struct model_nccl_walk *walk, int device)
{
    int kind = walk->machine->devices[device].kind;

    return kind == MODEL_NCCL_GPU || kind == MODEL_NCCL_NVS;
}

bool model_nccl_go(struct model_nccl_walk *walk,
                   int from,
                   int to,
                   int bytes_per_us)
{
    const struct model_nccl_way *way = model_nccl_way(walk->paths, from, to);
    bool inside = is_inside(walk, from) && is_inside(walk, to);
    int type = inside ? walk->now->intra_type : walk->now->inter_type;

    if (way->count == 0) {
        return way->type == MODEL_NCCL_PATH_LOC;
    }
    if (way->type > type ||
        (is_tree(walk->now) &&
         model_nccl_way(walk->paths, to, from)->type > type) ||
        !take(walk, way, bytes_per_us,
              walk->machine->devices[from].kind == MODEL_NCCL_GPU)) {
        return false;
    }
    walk->now->hops += way->count;
    return true;
}

void model_nccl_undo(struct model_nccl_walk *walk,
                     int from,
                     int to,
                     int bytes_per_us)
{
    const struct model_nccl_way *way = model_nccl_way(walk->paths, from, to);

    give_back(walk, way, way->count, bytes_per_us,
              walk->machine->devices[from].kind == MODEL_NCCL_GPU);
    walk->now->hops -= way->count;
}

/* -- what is left -- */

int model_nccl_pcie_left(const struct model_nccl_walk *walk, int gpu)
{
    int up = walk->left[walk->pcie_link[gpu]];
    int down = walk->left[walk->pcie_link[gpu] ^ 1];

    return (up < down ? up : down) / 1000;
}
