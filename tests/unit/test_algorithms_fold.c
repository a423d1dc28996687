/*
 * test_algorithms_fold.c - one node stands for all: for every algorithm, group
 * and wiring here the folded cost is that of every group of the family with all
 * ranks, and the flows on the shown node are the sum of theirs on any node.
 */
#include "tests/unit/algorithms.h"

static const char *const machines[] = {
    "1x8 gpu:h100 nvswitch",
    "2x8 gpu:h100 nvswitch nic:8x400Gbit/s sockets:2",
    "4x4 gpu:h100 nvswitch nic:2x200Gbit/s",
    "3x4 gpu:a100 nvlink:mesh nic:4x100Gbit/s",
    "2x8 gpu:a40 nvlink:pairs nic:2x100Gbit/s sockets:2",
    "4x4 gpu:a40 pcie:4:2/switch nic:1x100Gbit/s",
    "2x4 gpu:h100 nvswitch nic:8x100Gbit/s",
    "8x1 gpu:a100 nic:1x100Gbit/s",
    "5x1 gpu:a100 nic:2x100Gbit/s",
};

static const struct {
    enum model_collective_kind kind;
    enum model_algorithm algorithm;
} ways[] = {
    {MODEL_ALL_GATHER, MODEL_RING},        {MODEL_ALL_REDUCE, MODEL_RING},
    {MODEL_ALL_REDUCE, MODEL_NVLS},        {MODEL_REDUCE_SCATTER, MODEL_NVLS},
    {MODEL_ALL_GATHER, MODEL_PAT},         {MODEL_ALL_TO_ALL, MODEL_PAIRWISE},
    {MODEL_ALL_TO_ALL, MODEL_COPY_ENGINE}, {MODEL_SEND_RECV, MODEL_PAIRWISE},
    {MODEL_ALL_GATHER, MODEL_COPY_ENGINE},
};

/* Links of one node, of a family's groups with all ranks. */
static void add_flows(const struct algorithm_case *it,
                      const struct model_collective *cost,
                      double *flows)
{
    struct model_fabric fabric;

    model_fabric_make(it->topology, it->folded, &fabric);
    for (int i = 0; i < cost->use_count; i++) {
        flows[cost->uses[i].link] += cost->uses[i].flows;
    }
}

static void expect_like(const struct model_collective *one,
                        const struct model_collective *folded)
{
    assert_near_ratio(one->channel_bytes, folded->channel_bytes, 1e-12);
    assert_near_ratio(one->channel_bytes_per_us, folded->channel_bytes_per_us,
                      1e-12);
    assert_near(one->fill_us, folded->fill_us, 1e-9);
    assert_near_ratio(one->hbm_ratio, folded->hbm_ratio, 1e-12);
    assert_near_ratio(one->footprint_bytes, folded->footprint_bytes, 1e-12);
    assert_near_ratio(one->in_flight_bytes, folded->in_flight_bytes, 1e-12);
    assert_true((one->fault == NULL) == (folded->fault == NULL));
}

static void check_fold(struct model_arena *arena,
                       struct algorithm_case it,
                       const struct model_group *family)
{
    enum { LINKS_MAX = 4096 };
    int ranks = model_topology_rank_count(it.topology);
    double shown[LINKS_MAX] = {0};
    double all[LINKS_MAX] = {0};
    struct model_fabric fabric;
    struct model_collective folded;

    it.folded = true;
    it.group = *family;
    folded = cost_of(arena, &it);
    add_flows(&it, &folded, shown);
    it.folded = false;
    for (int i = 0; i < model_group_instances(family, ranks); i++) {
        struct model_collective one;

        it.group = model_group_instance(family, i);
        one = cost_of(arena, &it);
        expect_like(&one, &folded);
        add_flows(&it, &one, all);
    }
    model_fabric_make(it.topology, false, &fabric);
    assert_true(fabric.link_count <= LINKS_MAX);
    for (int link = 0; link < fabric.link_count; link++) {
        if (!(fabs(all[link] - shown[link % fabric.links_per_node]) <= 1e-9)) {
            char name[64];

            fail_msg("%s, %s, {size: %d, stride: %d}: %s: %g flows, folded %g",
                     it.topology->label, model_collective_names[it.kind],
                     family->count, family->stride,
                     model_fabric_link_name(&fabric, link, name, sizeof name),
                     all[link], shown[link % fabric.links_per_node]);
        }
    }
}

/* With one rank there is no cost; sends by a whole turn move nothing. */
static bool is_case(const struct algorithm_case *it,
                    const struct model_group *family)
{
    return family->count > 1 &&
           model_group_folds(family, it->topology->gpus_per_node) &&
           (it->kind != MODEL_SEND_RECV || it->shift % family->count != 0) &&
           model_collective_fault(it->topology, it->kind, &it->config) == NULL;
}

static int check_families(struct model_arena *arena,
                          const struct algorithm_case *it)
{
    int ranks = model_topology_rank_count(it->topology);
    int count = 0;

    for (int size = 2; size <= ranks; size++) {
        for (int stride = 1; size * stride <= ranks; stride++) {
            struct model_group family = {
                .name = "g", .count = size, .stride = stride, .family = true};

            if (ranks % (size * stride) == 0 && is_case(it, &family)) {
                check_fold(arena, *it, &family);
                count++;
            }
        }
    }
    return count;
}

static void folded_is_as_all(void **state)
{
    int count = 0;

    for (int m = 0; m < FIXTURE_COUNT(machines); m++) {
        for (int w = 0; w < FIXTURE_COUNT(ways); w++) {
            struct algorithm_case it = {
                .topology = fixture_topology(*state, machines[m], NULL, 0),
                .kind = ways[w].kind,
                .size_bytes = 1e9,
                .shift = 1 + w,
                .config =
                    config_of(ways[w].algorithm, MODEL_SIMPLE, 6, 512, 65536)};

            count += check_families(*state, &it);
        }
    }
    assert_true(count > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_is_as_all),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
