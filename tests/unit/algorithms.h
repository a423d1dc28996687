/*
 * algorithms.h - what the tests of single algorithms share: one collective of
 * one group on a topology, and the flows that it puts on links by name.
 */
#ifndef TESTS_ALGORITHMS_H
#define TESTS_ALGORITHMS_H

#include "model/collective.h"

#include "tests/unit/fixture.h"

/* A collective to be made; what is left out is 0. */
struct algorithm_case {
    const struct model_topology *topology;
    bool folded;
    enum model_collective_kind kind;
    double size_bytes;
    int shift;
    struct model_group group; /* count 0: all ranks */
    struct model_config config;
};

static inline struct model_config config_of(enum model_algorithm algorithm,
                                            enum model_protocol protocol,
                                            int channels,
                                            int threads,
                                            double chunk_bytes)
{
    return (struct model_config){.algorithm = (int)algorithm,
                                 .protocol = (int)protocol,
                                 .transport = MODEL_P2P,
                                 .channels = channels,
                                 .threads = threads,
                                 .chunk_bytes = chunk_bytes};
}

static inline struct model_collective cost_of(struct model_arena *arena,
                                              const struct algorithm_case *it)
{
    struct model_group group = it->group;
    struct model_fabric fabric;

    if (group.count == 0) {
        group.count = model_topology_rank_count(it->topology);
    }
    assert_true(model_collective_runs(
        it->kind, (enum model_algorithm)it->config.algorithm));
    model_fabric_make(it->topology, it->folded, &fabric);
    return model_collective_make(
        model_walk_new(arena, &fabric),
        &(struct model_collective_task){.kind = it->kind,
                                        .size_bytes = it->size_bytes,
                                        .shift = it->shift,
                                        .group = &group,
                                        .config = &it->config});
}

/* Flows on the link of that name; 0 when it is not passed. */
static inline double flows_on(const struct algorithm_case *it,
                              const struct model_collective *cost,
                              const char *name)
{
    struct model_fabric fabric;
    char buffer[64];

    model_fabric_make(it->topology, it->folded, &fabric);
    for (int i = 0; i < cost->use_count; i++) {
        if (strcmp(model_fabric_link_name(&fabric, cost->uses[i].link, buffer,
                                          sizeof buffer),
                   name) == 0) {
            return cost->uses[i].flows;
        }
    }
    return 0;
}

struct link_flows {
    const char *name;
    double flows;
};

static inline void check_flows(const struct algorithm_case *it,
                               const struct model_collective *cost,
                               const struct link_flows *rows,
                               int count)
{
    for (int i = 0; i < cost->use_count; i++) {
        assert_true(cost->uses[i].flows > 0);
        assert_true(i == 0 || cost->uses[i - 1].link < cost->uses[i].link);
    }
    for (int i = 0; i < count; i++) {
        double flows = flows_on(it, cost, rows[i].name);

        if (!(fabs(flows - rows[i].flows) <= 1e-9)) {
            fail_msg("folded %d, %s: %.12g flows, not %.12g", it->folded,
                     rows[i].name, flows, rows[i].flows);
        }
    }
}

#define CHECK_FLOWS(it, cost, rows)                                            \
    check_flows((it), (cost), (rows), FIXTURE_COUNT(rows))

/* All flows of the case, added up. */
static inline double all_flows(const struct model_collective *cost)
{
    double sum = 0;

    for (int i = 0; i < cost->use_count; i++) {
        sum += cost->uses[i].flows;
    }
    return sum;
}

#endif
