/*
 * test_space.c - the candidates of AutoCCL's generator: how many there are, and
 * which subspaces a collective has.
 */
#include "tests/unit/searching.h"

/* -- one subspace -- */

/* The rules by hand: limits of a subspace, as space.h says. */
static struct search_space
by_hand(int protocol, int threads_max, double chunk_max, double count)
{
    return (struct search_space){
        .subspace = {.algorithm = MODEL_RING, .protocol = protocol},
        .channels_max = 128,
        .threads_min = 96,
        .threads_max = threads_max,
        .last_threads = threads_max,
        .grain_bytes = protocol == MODEL_LL128 ? 60 : 8,
        .chunk_max_bytes = chunk_max,
        .count_bytes = count};
}

static int64_t count_one(int protocol,
                         int threads_max,
                         double chunk_max,
                         double count,
                         double message)
{
    struct search_space space =
        by_hand(protocol, threads_max, chunk_max, count);

    search_space_end(&space, message);
    return search_space_count(&space);
}

static int64_t count_three(int simple_threads,
                           double simple_chunk,
                           double count,
                           double message)
{
    return count_one(MODEL_LL, 640, 40960, count, message) +
           count_one(MODEL_LL128, 640, 576000, count, message) +
           count_one(MODEL_SIMPLE, simple_threads, simple_chunk, count,
                     message);
}

/*
 * AutoCCL's figure 2: candidates of 8 GPUs with 128 channels and two
 * transports, for messages of 256 KiB, doubled, up to 1 GiB. Its generator
 * counts what a rank contributes to an all_gather or keeps of a reduce_scatter,
 * and all of an all_reduce, which a ring shares out over the ranks.
 */
static void candidates_are_as_published(void **state)
{
    static const struct {
        int64_t gather, reduce;
    } rows[] = {{352, 7606},        {1284, 17018},      {3244, 155146},
                {7254, 258450},     {15734, 419836},    {143112, 657476},
                {263012, 1019472},  {444062, 1488448},  {721554, 1949278},
                {1167940, 2396484}, {1849762, 3078306}, {2790780, 4019324},
                {3869480, 5098024}};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        double total = 262144.0 * (double)(1 << i);

        assert_int_equal(2 * count_three(608, 2097152, total / 8, total / 8),
                         rows[i].gather);
        assert_int_equal(2 * (count_three(608, 2097152, total / 8, total) +
                              count_three(512, 524288, total, total)),
                         rows[i].reduce);
    }
}

/* min(floor(2 MiB / (8 NT)), floor(count / (NC 8 NT))), at least 1 */
static void chunks_are_counted(void **state)
{
    static const struct {
        double count_bytes;
        int channels, threads, chunks;
    } rows[] = {
        {1e12, 1, 96, 2730}, /* 2097152 / 768 = 2730.67 */
        {1e12, 1, 608, 431}, /* 2097152 / 4864 = 431.16 */
        {1e12, 128, 256, 1024},
        {1048576, 8, 256, 64},  /* 1048576 / (8 x 2048) */
        {1048575, 8, 256, 63},  /* just not */
        {1048576, 64, 512, 4},  /* 1048576 / (64 x 4096) */
        {1048576, 128, 608, 1}, /* 1.68 */
        {1000, 128, 608, 1},    /* i = 1 always */
    };

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct search_space space =
            by_hand(MODEL_SIMPLE, 608, 2097152, rows[i].count_bytes);

        assert_int_equal(
            search_space_chunks(&space, rows[i].channels, rows[i].threads),
            rows[i].chunks);
    }
}

/*
 * 512 KiB of a rank, Simple: 96 threads' largest chunk, 682 x 768 bytes, leaves
 * 512 bytes for a second step; 128 threads' 512 x 1024 moves all: the end.
 */
static void small_messages_end_early(void **state)
{
    struct search_space space = by_hand(MODEL_SIMPLE, 608, 2097152, 524288);

    (void)state;
    search_space_end(&space, 524288);
    assert_int_equal(space.channels_max, 1);
    assert_int_equal(search_space_threads_max(&space, 1), 128);
    assert_int_equal(search_space_count(&space), 682 + 512);
}

/* Each candidate is the nearest to itself; others are drawn to the bounds. */
static void the_nearest_is_found(void **state)
{
    struct search_space space = by_hand(MODEL_LL128, 640, 576000, 1e9);
    struct model_config config = {
        .channels = 500, .threads = 110, .chunk_bytes = 1e9};
    struct search_candidate near = search_space_nearest(&space, &config);

    (void)state;
    assert_int_equal(near.channels, 128);
    assert_int_equal(near.threads, 96);   /* 110 is nearer to it than to 128 */
    assert_int_equal(near.multiple, 100); /* 576000 / 5760 */
    for (int channels = 1; channels <= 128; channels += 41) {
        for (int threads = 96; threads <= 640; threads += 32) {
            struct search_candidate at = {channels, threads, 13};

            config = search_space_config(&space, &at);
            near = search_space_nearest(&space, &config);
            assert_memory_equal(&near, &at, sizeof at);
            assert_near(config.chunk_bytes, threads * 60.0 * 13, 0);
        }
    }
}

/* -- the subspaces of a class -- */

struct found {
    struct search_space spaces[SEARCH_SUBSPACES_MAX];
    int count;
    struct search_class part;
    const struct search_problem *problem;
};

static struct found
find(struct model_arena *arena, const char *notation, const char *op)
{
    const struct model_topology *topology =
        fixture_topology(arena, notation, NULL, 0);
    const struct model_workload *w = fixture_workload(
        arena, topology,
        model_arena_format(arena, "name: w\nops: [{id: a, %s}]\n", op));
    struct found found = {.problem = problem_of(arena, topology, w)};

    found.part = found.problem->classes[0];
    found.count = search_subspaces(found.problem, &found.part, found.spaces);
    return found;
}

static bool
has(const struct found *found, int algorithm, int protocol, int transport)
{
    struct model_config config = {
        .algorithm = algorithm, .protocol = protocol, .transport = transport};

    return search_subspace_of(found->spaces, found->count, &config) >= 0;
}

/*
 * Over PCIe Simple and LL, P2P and SHM; on A40s no LL128, which NCCL does not
 * trust there; where NVLink joins all, P2P alone, and LL128 on H100s.
 */
static void rings_have_protocols_and_transports(void **state)
{
    static const char *const op = "kind: all_gather, size: 64 MiB";
    struct found found = find(*state, "1x8 gpu:a40", op);
    const struct search_space *ring = &found.spaces[0];

    assert_int_equal(found.count, 4);
    for (int transport = 0; transport < MODEL_TRANSPORTS; transport++) {
        assert_true(has(&found, MODEL_RING, MODEL_SIMPLE, transport));
        assert_true(has(&found, MODEL_RING, MODEL_LL, transport));
    }
    assert_int_equal(ring->subspace.protocol, MODEL_SIMPLE);
    assert_near(ring->count_bytes, 8388608, 0); /* 64 MiB over 8 ranks */
    assert_int_equal(ring->channels_max, 84);   /* SMs of an A40 */
    assert_int_equal(search_space_threads_max(ring, 1), 608);
    assert_int_equal(find(*state, "1x8 gpu:a40 nvlink:pairs", op).count, 4);
    found = find(*state, "1x8 gpu:h100 nvswitch", op);
    assert_int_equal(found.count, 3);
    assert_true(has(&found, MODEL_RING, MODEL_LL128, MODEL_P2P));
    assert_int_equal(found.spaces[0].channels_max, 128); /* of 132 SMs */
    /* One GPU a node: no way within one. */
    assert_int_equal(find(*state, "4x1 gpu:a40 nic:1x100Gbit/s", op).count, 2);
}

/*
 * The largest chunk by the unit of 96 threads: 576,000 / (96 x 60) is 100,
 * 40,960 / (96 x 8) is 53.3.
 */
static void protocols_have_units(void **state)
{
    struct found found =
        find(*state, "1x8 gpu:h100 nvswitch", "kind: all_gather, size: 64 MiB");
    struct model_config ring = {MODEL_RING, MODEL_LL128, MODEL_P2P, 0, 0, 0};
    int at = search_subspace_of(found.spaces, found.count, &ring);

    assert_int_equal(search_space_chunks(&found.spaces[at], 1, 96), 100);
    ring.protocol = MODEL_LL;
    at = search_subspace_of(found.spaces, found.count, &ring);
    assert_int_equal(search_space_chunks(&found.spaces[at], 1, 96), 53);
}

/*
 * Of 4 MiB over 8 ranks a rank has 512 KiB, which 128 threads of one channel
 * move in one step. An all_gather counts that, and its list ends there; an
 * all_reduce counts all, which is no small message.
 */
static void the_kind_says_what_is_small(void **state)
{
    struct found gather =
        find(*state, "1x8 gpu:a40", "kind: all_gather, size: 4 MiB");
    struct found reduce =
        find(*state, "1x8 gpu:a40", "kind: all_reduce, size: 4 MiB");
    struct model_config ring = {MODEL_RING, MODEL_SIMPLE, MODEL_P2P, 0, 0, 0};
    int of_gather = search_subspace_of(gather.spaces, gather.count, &ring);
    int of_reduce = search_subspace_of(reduce.spaces, reduce.count, &ring);

    assert_int_equal(gather.spaces[of_gather].channels_max, 1);
    assert_int_equal(search_space_threads_max(&gather.spaces[of_gather], 1),
                     128);
    assert_near(reduce.spaces[of_reduce].count_bytes, 524288, 0);
    assert_int_equal(reduce.spaces[of_reduce].channels_max, 84);
}

/* Trees for all_reduce, as 512 threads and one slot; NVLS where NCCL takes it.
 */
static void all_reduce_has_trees(void **state)
{
    static const char *const op = "kind: all_reduce, size: 64 MiB";
    struct found found = find(*state, "1x8 gpu:a40", op);
    struct model_config tree = {MODEL_TREE, MODEL_SIMPLE, MODEL_P2P, 0, 0, 0};
    const struct search_space *space;

    assert_int_equal(found.count, 8);
    space = &found.spaces[search_subspace_of(found.spaces, found.count, &tree)];
    assert_near(space->count_bytes, 67108864, 0);
    assert_near(space->chunk_max_bytes, 524288, 0);
    assert_int_equal(search_space_threads_max(space, 1), 512);
    found = find(*state, "1x8 gpu:h100 nvswitch", op);
    assert_int_equal(found.part.baseline.algorithm, MODEL_NVLS);
    assert_int_equal(found.count, 3 + 3 + 1);
}

/*
 * Eight A40s of one node. With 2 channels a CTA has 4 pairs: 256 / 4 threads of
 * each, one way, 8 x 64 = 512 both ways. With 16 channels two are of one peer,
 * and its 8 MiB go in chunks of both. LL in chunks of 40 KiB; across nodes
 * Simple alone.
 */
static void all_to_all_has_pairs(void **state)
{
    static const char *const op = "kind: all_to_all, size: 64 MiB";
    struct found found = find(*state, "lagom-a-1node", op);
    const struct search_space *pairs = &found.spaces[0];
    struct search_candidate at = {2, 64, 2};
    struct model_config config = search_space_config(pairs, &at);

    assert_int_equal(found.count, 4);
    assert_int_equal(pairs->channels_max, 84);
    assert_int_equal(search_space_threads_max(pairs, 8), 256);
    assert_int_equal(search_space_threads_max(pairs, 2), 64);
    assert_int_equal(search_space_threads_max(pairs, 3), 64); /* 256 / 3 */
    assert_int_equal(config.threads, 512);
    assert_near(config.chunk_bytes, 1024, 0); /* 2 x 64 x 8 */
    /* 131,072 bytes, NCCL's over PCIe, by units of 512 */
    assert_near(pairs->chunk_max_bytes, 131072, 0);
    assert_int_equal(search_space_chunks(pairs, 2, 64), 256);
    /* 8 MiB / (80 / 8) / 2048 = 409.6, of which 131,072 / 2048 fit */
    assert_int_equal(search_space_chunks(pairs, 80, 256), 64);
    assert_true(has(&found, MODEL_PAIRWISE, MODEL_LL, MODEL_P2P));
    found = find(*state, "lagom-a", op);
    assert_false(has(&found, MODEL_PAIRWISE, MODEL_LL, MODEL_P2P));
    assert_true(has(&found, MODEL_PAIRWISE, MODEL_SIMPLE, MODEL_P2P));
}

/* What an op gives itself leaves the subspaces that have it. */
static void what_ops_give_narrows(void **state)
{
    struct found found =
        find(*state, "1x8 gpu:a40",
             "kind: all_reduce, size: 64 MiB, algorithm: tree, protocol: ll");

    assert_int_equal(found.count, 2);
    assert_true(has(&found, MODEL_TREE, MODEL_LL, MODEL_SHM));
    /* not searched, but what the op wants */
    found = find(*state, "1x8 gpu:a40",
                 "kind: all_gather, size: 64 MiB, protocol: ll128, "
                 "transport: p2p");
    assert_int_equal(found.count, 1);
    assert_true(has(&found, MODEL_RING, MODEL_LL128, MODEL_P2P));
}

/* NCCL's choice lies in one of them. */
static void the_own_subspace_is_found(void **state)
{
    struct found found =
        find(*state, "1x8 gpu:a40", "kind: all_reduce, size: 64 MiB");
    int own =
        search_subspace_of(found.spaces, found.count, &found.part.baseline);

    assert_in_range(own, 0, found.count - 1);
    assert_int_equal(found.spaces[own].subspace.transport,
                     found.part.baseline.transport);
    assert_int_equal(search_subspace_of(found.spaces, 0, &found.part.baseline),
                     -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_as_published),
        cmocka_unit_test(chunks_are_counted),
        cmocka_unit_test(small_messages_end_early),
        cmocka_unit_test(the_nearest_is_found),
        cmocka_unit_test(rings_have_protocols_and_transports),
        cmocka_unit_test(protocols_have_units),
        cmocka_unit_test(the_kind_says_what_is_small),
        cmocka_unit_test(all_reduce_has_trees),
        cmocka_unit_test(all_to_all_has_pairs),
        cmocka_unit_test(what_ops_give_narrows),
        cmocka_unit_test(the_own_subspace_is_found),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
