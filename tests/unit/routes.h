/*
 * routes.h - routes as text: what the tests of routes share.
 */
#ifndef TESTS_ROUTES_H
#define TESTS_ROUTES_H

#include "model/fabric.h"

#include "tests/unit/fixture.h"

/* With the latencies that the routes below count with. */
static inline const struct model_topology *
wired(struct model_arena *arena, const char *text, const char *last_set)
{
    const char *sets[5] = {"node.pcie.latency=0.18 us",
                           "node.host.cross_latency=0.16 us"};
    int count = 2;

    if (strstr(text, "nv") != NULL) {
        sets[count++] = "node.nvlink.latency=0.2 us";
    }
    if (strstr(text, "nic:") != NULL) {
        sets[count++] = "node.nics.latency=2 us";
    }
    if (last_set != NULL) {
        sets[count++] = last_set;
    }
    return fixture_topology(arena, text, sets, count);
}

static inline struct model_fabric
make(struct model_arena *arena, const char *text, bool folded)
{
    struct model_fabric fabric;

    model_fabric_make(wired(arena, text, NULL), folded, &fabric);
    return fabric;
}

static inline int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of a route's links, in alphabetical order, with blanks between. */
static inline const char *route_names(struct model_arena *arena,
                                      const struct model_fabric *fabric,
                                      const struct model_hop *hop)
{
    const char *names[MODEL_HOP_LINKS_MAX];
    const char *all = "";

    assert_in_range(hop->link_count, 1, MODEL_HOP_LINKS_MAX);
    for (int i = 0; i < hop->link_count; i++) {
        char buffer[64];

        assert_in_range(hop->links[i], 0, fabric->link_count - 1);
        names[i] = model_arena_text(
            arena, model_fabric_link_name(fabric, hop->links[i], buffer,
                                          sizeof buffer));
    }
    qsort(names, (size_t)hop->link_count, sizeof names[0], compare_texts);
    for (int i = 0; i < hop->link_count; i++) {
        all = model_arena_format(arena, "%s%s%s", all, i > 0 ? " " : "",
                                 names[i]);
    }
    return all;
}

struct route {
    int from, to;
    enum model_transport transport;
    int nic;
    enum model_hop_kind kind;
    double latency_us;
    const char *names; /* in alphabetical order */
};

static inline void check_routes(struct model_arena *arena,
                                const struct model_fabric *fabric,
                                const struct route *routes,
                                int count)
{
    for (int i = 0; i < count; i++) {
        struct model_hop hop;

        model_fabric_route(fabric, routes[i].from, routes[i].to,
                           routes[i].transport, routes[i].nic, &hop);
        assert_string_equal(route_names(arena, fabric, &hop), routes[i].names);
        assert_int_equal(hop.kind, routes[i].kind);
        assert_near(hop.latency_us, routes[i].latency_us, 1e-12);
    }
}

#define CHECK_ROUTES(arena, fabric, routes)                                    \
    check_routes((arena), (fabric), (routes), FIXTURE_COUNT(routes))

#endif
