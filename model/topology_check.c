/*
 * topology_check.c - what the table of keys of a topology cannot say: keys that
 * depend on each other, and the list of NVLinks.
 */
#include "model/topology_read.h"

#include "model/units.h"

/* The node of a key path below the root, such as "node", "gpus". */
static const struct model_node *node_at(const struct model_topology *topology,
                                        const char *part,
                                        const char *key)
{
    const struct model_node *node = model_node_find(topology->tree, part);

    return node != NULL && key != NULL ? model_node_find(node, key) : node;
}

/* A fault at the node of a key path. */
static void fault(const struct model_topology *topology,
                  struct model_errors *errors,
                  const char *part,
                  const char *key,
                  const char *hint,
                  const char *message)
{
    const struct model_node *at =
        key != NULL ? node_at(topology, part, key) : NULL;

    (void)model_errors_add(
        errors, MODEL_BAD_INPUT, at != NULL ? at->place : topology->tree->place,
        key != NULL ? model_arena_format(errors->arena, "%s.%s", part, key)
                    : part,
        hint, "%s", message);
}

/* -- NVLinks as listed -- */

static void link_fault(struct model_errors *errors,
                       const struct model_node *entry,
                       int index,
                       const char *hint,
                       const char *message)
{
    (void)model_errors_add(
        errors, MODEL_BAD_INPUT, entry->place,
        model_arena_format(errors->arena, "node.nvlink.links[%d]", index), hint,
        "%s", message);
}

/* The three numbers of an entry; false when it is none. */
static bool read_link(const struct model_node *entry, int numbers[3])
{
    int count = 0;

    if (entry->kind != MODEL_SEQUENCE || entry->count != 3) {
        return false;
    }
    for (const struct model_node *item = entry->first; item != NULL;
         item = item->next) {
        double value = 0.0;

        if (item->kind != MODEL_SCALAR ||
            model_units_parse(item->text, MODEL_COUNT, &value, NULL) !=
                MODEL_OK ||
            value > 1048576.0) {
            return false;
        }
        numbers[count++] = (int)value;
    }
    return true;
}

static void add_link(struct model_errors *errors,
                     const struct model_node *entry,
                     int index,
                     int gpus,
                     int *links)
{
    int n[3] = {0};

    if (!read_link(entry, n)) {
        link_fault(errors, entry, index, "write [0, 1, 2]: GPU, GPU, links",
                   "not two GPUs and a number of links");
    } else if (n[0] >= gpus || n[1] >= gpus) {
        link_fault(
            errors, entry, index,
            model_arena_format(errors->arena, "GPUs are 0 to %d", gpus - 1),
            "no such GPU");
    } else if (n[0] == n[1]) {
        link_fault(errors, entry, index, "write two GPUs",
                   "a link from a GPU to itself");
    } else if (n[2] < 1 || n[2] > MODEL_NVLINKS_MAX) {
        link_fault(errors, entry, index,
                   model_arena_format(errors->arena, "write 1 to %d links",
                                      MODEL_NVLINKS_MAX),
                   "not a number of links");
    } else if (links[n[0] * gpus + n[1]] != 0) {
        link_fault(errors, entry, index, "write each pair once, in one order",
                   "this pair was listed before");
    } else {
        links[n[0] * gpus + n[1]] = n[2];
        links[n[1] * gpus + n[0]] = n[2];
    }
}

void model_topology_links(struct model_arena *arena,
                          struct model_topology *topology,
                          struct model_errors *errors)
{
    const struct model_node *list = topology->nvlink.links_node;
    int gpus = topology->gpus_per_node;
    int index = 0;
    int *links;

    if (topology->nvlink.kind != MODEL_NVLINK_LINKS) {
        if (list != NULL && list->count > 0) {
            (void)model_errors_add(errors, MODEL_BAD_INPUT, list->place,
                                   "node.nvlink.links",
                                   "write kind: links, or links: []",
                                   "NVLinks are listed, but not of that kind");
        }
        return;
    }
    if (list == NULL || list->kind != MODEL_SEQUENCE || list->count == 0) {
        const struct model_node *nvlink = node_at(topology, "node", "nvlink");

        (void)model_errors_add(
            errors, MODEL_BAD_INPUT, list != NULL ? list->place : nvlink->place,
            "node.nvlink.links",
            "write links: [[0, 1, 2], ...]: GPU, GPU, number of links",
            "kind links needs a list of links");
        return;
    }
    links =
        model_arena_array(arena, (size_t)gpus * (size_t)gpus, sizeof(*links));
    for (const struct model_node *entry = list->first; entry != NULL;
         entry = entry->next) {
        add_link(errors, entry, index++, gpus, links);
    }
    topology->nvlink.links = links;
}

/* -- keys that depend on each other -- */

static void check_node(const struct model_topology *topology,
                       struct model_errors *errors)
{
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
}

static void check_network(const struct model_topology *topology,
                          struct model_errors *errors)
{
    const struct model_network *network = &topology->network;

    if (network->kind == MODEL_NETWORK_TREE && network->nodes_per_leaf == 0) {
        fault(topology, errors, "network", "kind",
              "write nodes_per_leaf: 16, the nodes below one leaf switch",
              "a tree needs the size of its leaves");
    }
    if (network->kind == MODEL_NETWORK_FLAT && network->nodes_per_leaf > 0) {
        fault(topology, errors, "network", "nodes_per_leaf",
              "write kind: tree, or kind: rails",
              "a flat network has no leaves");
    }
    if (network->kind == MODEL_NETWORK_FLAT &&
        network->oversubscription_ratio > 1.0) {
        fault(topology, errors, "network", "oversubscription",
              "write kind: tree and nodes_per_leaf, or kind: rails",
              "a flat network has no spine to oversubscribe");
    }
}

enum model_status model_topology_check(const struct model_topology *topology,
                                       struct model_errors *errors)
{
    int before = errors->count;

    check_node(topology, errors);
    check_network(topology, errors);
    if ((double)topology->node_count * topology->gpus_per_node > 16777216.0) {
        fault(topology, errors, "nodes", NULL, "at most 16777216",
              "more GPUs than the simulator numbers");
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
