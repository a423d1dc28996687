/*
 * test_nccl_property.c - over random machines and groups: channels within their
 * limits, whole walks, the same result each time, and no bound below what was
 * found.
 */
#include "tests/unit/nccl_machines.h"

#include "model/nccl/bound.h"

#include <gsl/gsl_rng.h>

static const char *pick(gsl_rng *random, const char *const *texts, int count)
{
    return texts[gsl_rng_uniform_int(random, (unsigned long)count)];
}

#define PICK(random, texts) pick((random), (texts), FIXTURE_COUNT(texts))

/* A random machine in the notation. */
static const char *text_of(struct model_arena *arena, gsl_rng *random)
{
    static const char *const sizes[] = {"2x2", "2x4", "3x4", "2x8"};
    static const char *const gpus[] = {"a40", "v100", "a100", "h100", "b300"};
    static const char *const links[] = {"", "nvlink:pairs", "nvlink:mesh",
                                        "nvswitch"};
    static const char *const below[] = {"", ":2/switch"};
    static const char *const sockets[] = {"1", "1", "2"};
    static const char *const nics[] = {"1x100", "2x200", "4x200", "4x400"};
    /* One random number a statement: the order within one is open. */
    const char *size = PICK(random, sizes);
    const char *gpu = PICK(random, gpus);
    const char *link = PICK(random, links);
    const char *pcie = PICK(random, below);
    const char *socket = size[2] == '2' ? "1" : PICK(random, sockets);

    return model_arena_format(
        arena, "%s gpu:%s %s pcie:5%s sockets:%s nic:%sGbit/s", size, gpu, link,
        pcie, socket, PICK(random, nics));
}

static struct machine machine_of(struct model_arena *arena, gsl_rng *random)
{
    static const char *const versions[] = {"2.18", "2.30"};
    static const char *const cpus[] = {"node.host.cpu=amd",
                                       "node.host.cpu=intel"};
    static const char *const nodes[] = {"nodes=1", "nodes=2"};
    struct machine machine = {.version = PICK(random, versions)};

    machine.topology = text_of(arena, random);
    machine.sets[0] = PICK(random, cpus);
    machine.sets[1] = PICK(random, nodes);
    return machine;
}

static void expect_limits(const struct model_nccl_comm *comm)
{
    int most = comm->version->graph.max_channels;

    assert_in_range(comm->channels, 1, most);
    assert_in_range(comm->nvls_channels, 0, most);
    assert_in_range(comm->p2p_channels, 1, most);
    assert_in_range(comm->p2p_channels_per_peer, 1, most);
    assert_in_range(comm->ranks_per_node, 1, comm->topology->gpus_per_node);
}

/* All members of a node once in each channel. */
static void expect_walks(const struct model_nccl_comm *comm, int graph)
{
    const struct model_nccl_graph *found = &comm->graphs[graph];
    int gpus = comm->ranks_per_node;

    for (int i = 0; i < found->channels; i++) {
        long long seen = 0;

        for (int k = 0; k < gpus; k++) {
            int gpu = found->order[i * gpus + k];

            assert_in_range(gpu, 0, comm->topology->gpus_per_node - 1);
            assert_int_equal(seen >> gpu & 1, 0);
            seen |= 1LL << gpu;
        }
    }
}

/* What was found is not hopeless when nothing better is known. */
static void expect_bounds(struct model_arena *arena,
                          const struct model_nccl_comm *comm)
{
    const struct model_nccl_graph *ring = &comm->graphs[MODEL_NCCL_GRAPH_RING];
    int gpus = comm->topology->gpus_per_node;
    int most = comm->version->graph.max_channels;
    int *numbers = model_arena_array(arena, (size_t)gpus, sizeof *numbers);
    int *capabilities =
        model_arena_array(arena, (size_t)gpus, sizeof *capabilities);
    struct model_nccl_draft now = model_nccl_draft_make(arena, gpus, most);
    struct model_nccl_draft best = now;

    for (int i = 0; i < gpus; i++) {
        numbers[i] = i;
        capabilities[i] = comm->compute_capability;
    }
    struct model_nccl_machine machine = model_nccl_machine_make(
        arena, comm->topology, &comm->version->graph, comm->settings, numbers,
        capabilities, gpus, comm->node_count > 1);
    struct model_nccl_paths paths = model_nccl_paths_make(arena, &machine);
    struct model_nccl_walk walk = model_nccl_walk_make(arena, &paths, most);
    struct model_nccl_bounds bounds = model_nccl_bounds_make(arena, &walk);

    now.pattern = ring->pattern;
    now.cross_nic = ring->cross_nic;
    now.intra_type = ring->intra_type;
    now.inter_type = ring->inter_type;
    now.intra_bytes_per_us = (int)ring->intra_bytes_per_us;
    now.inter_bytes_per_us = (int)ring->inter_bytes_per_us;
    now.least = ring->channels;
    now.most = most;
    assert_false(model_nccl_hopeless(&bounds, &now, &best));
}

static bool fell_back(const struct model_nccl_comm *comm)
{
    return comm->graphs[MODEL_NCCL_GRAPH_RING].intra_bytes_per_us <=
           comm->version->graph.plain_bytes_per_us;
}

static void random_machines(void **state)
{
    struct model_arena *arena = *state;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int cases = fixture_cases() / 20;

    for (int i = 0; i < cases; i++) {
        struct machine machine = machine_of(arena, random);
        struct model_nccl_comm comm = make_plain(arena, &machine);
        struct model_nccl_comm again = make_plain(arena, &machine);

        expect_limits(&comm);
        expect_walks(&comm, MODEL_NCCL_GRAPH_RING);
        expect_walks(&comm, MODEL_NCCL_GRAPH_TREE);
        assert_int_equal(comm.channels, again.channels);
        assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_TREE].channels,
                         comm.graphs[MODEL_NCCL_GRAPH_RING].channels);
        if (!fell_back(&comm)) {
            expect_bounds(arena, &comm);
        }
        model_arena_reset(arena);
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_machines),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
