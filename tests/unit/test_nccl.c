/*
 * test_nccl.c - what NCCL does with the collectives of a workload: on the
 * paper's clusters, as observed, with settings that are given already.
 */
#include "model/nccl.h"

#include "tests/unit/fixture.h"

static const char *const ops_text =
    "name: w\n"
    "ops:\n"
    "  - {id: large, kind: all_gather, size: 150 MiB}\n"
    "  - {id: small, kind: all_gather, size: 16 KiB}\n"
    "  - {id: sum, kind: all_reduce, size: 64 MiB}\n"
    "  - {id: all, kind: all_to_all, size: 8 MiB}\n"
    "  - {id: fixed, kind: all_gather, size: 1 MiB, algorithm: ring, protocol: "
    "simple, transport: p2p, channels: 1, threads: 96, chunk: 64 KiB}\n";

enum { LARGE, SMALL, SUM, ALL, FIXED };

static struct model_config chosen_with(struct model_arena *arena,
                                       const struct model_topology *topology,
                                       int op,
                                       const struct model_config *given)
{
    const struct model_workload *w =
        fixture_workload(arena, topology, ops_text);

    return model_nccl_complete(fixture_nccl(arena, topology, w), &w->ops[op],
                               given);
}

static struct model_config
chosen(struct model_arena *arena, const char *topology, int op)
{
    struct model_config none = model_config_none();

    return chosen_with(arena, fixture_topology(arena, topology, NULL, 0), op,
                       &none);
}

/*
 * AutoCCL (NSDI'25), tables 3 and 4: NCCL 2.18.3 by default runs the large
 * AllGather with 8 channels of 512 threads on 8 GPUs of cluster A, with 2 of
 * 256 through host memory on B; both with chunks of 2 MiB. Neither is in the
 * topologies' files: it is what the search finds, and NCCL takes P2P no farther
 * than PCIe switches on Intel (though these GPUs could: AutoCCL measured it).
 */
static void the_papers_clusters(void **state)
{
    struct model_config config = chosen(*state, "lagom-a-1node", LARGE);

    assert_int_equal(config.algorithm, MODEL_RING);
    assert_int_equal(config.protocol, MODEL_SIMPLE);
    assert_int_equal(config.transport, MODEL_P2P);
    assert_int_equal(config.channels, 8);
    assert_int_equal(config.threads, 512);
    assert_near(config.chunk_bytes, 2097152, 0);
    for (int i = 0; i < 2; i++) {
        config = chosen(*state, i == 0 ? "lagom-b-1node" : "lagom-b", LARGE);
        assert_int_equal(config.algorithm, MODEL_RING);
        assert_int_equal(config.protocol, MODEL_SIMPLE);
        assert_int_equal(config.transport, MODEL_SHM);
        assert_int_equal(config.channels, 2);
        assert_int_equal(config.threads, 256);
        assert_near(config.chunk_bytes, 2097152, 0);
    }
}

/*
 * 2.30 takes P2P no farther than PCIe switches on AMD too, and believes 16 GB/s
 * between sockets: one ring of 15 GB/s, which is doubled.
 */
static void later_versions_differ_on_amd(void **state)
{
    static const char *const set[] = {"nccl.version=2.30"};
    struct model_config none = model_config_none();
    struct model_config config =
        chosen_with(*state, fixture_topology(*state, "lagom-a-1node", set, 1),
                    LARGE, &none);

    assert_int_equal(config.transport, MODEL_SHM);
    assert_int_equal(config.channels, 2);
    assert_int_equal(config.threads, 512);
}

/*
 * 16 KiB on A: LL, whose threshold for rings is 8 B times 8 ranks for each of
 * 512 threads: 32 KiB a channel. So one channel, and half of the threads.
 */
static void small_messages_shrink(void **state)
{
    struct model_config config = chosen(*state, "lagom-a-1node", SMALL);

    assert_int_equal(config.protocol, MODEL_LL);
    assert_int_equal(config.channels, 1);
    assert_int_equal(config.threads, 256);
    assert_near(config.chunk_bytes, 32768, 0);
}

/* What was seen counts like variables of the job; the job's own limits count
 * more. */
static void observed_channels_are_taken(void **state)
{
    static const char *const seen[] = {
        "nccl.observed.channels=6", "nccl.observed.threads=320",
        "nccl.observed.chunk=1 MiB", "nccl.observed.source=a test"};
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", seen, 4);
    const struct model_workload *w =
        fixture_workload(*state, topology, ops_text);
    const struct model_nccl *plain = fixture_nccl(*state, topology, w);
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_config none = model_config_none();
    struct model_config config =
        model_nccl_complete(plain, &w->ops[LARGE], &none);
    struct model_nccl nccl;

    assert_int_equal(config.channels, 6);
    assert_int_equal(config.threads, 320);
    assert_near(config.chunk_bytes, 1048576, 0);
    settings.max_channels = 4;
    model_nccl_make(*state, topology, w, plain->version, &settings, true,
                    &nccl);
    config = model_nccl_complete(&nccl, &w->ops[LARGE], &none);
    assert_int_equal(config.channels, 4);
    settings = model_nccl_settings_none();
    settings.min_ctas = 16;
    model_nccl_make(*state, topology, w, plain->version, &settings, true,
                    &nccl);
    config = model_nccl_complete(&nccl, &w->ops[LARGE], &none);
    assert_int_equal(config.channels, 16);
    /* computed: as without */
    model_nccl_make(*state, topology, w, plain->version,
                    &(struct model_nccl_settings){0}, false, &nccl);
    assert_false(nccl.observed);
}

/*
 * An observed pair goes for all collectives that can have it: no tree gathers,
 * so that of it the protocol is left, in each version.
 */
static void observed_pairs_are_taken(void **state)
{
    const char *seen[] = {"nccl.observed.algorithm=tree",
                          "nccl.observed.protocol=ll",
                          "nccl.observed.source=a test", "nccl.version=2.18"};
    struct model_config none = model_config_none();

    for (int i = 0; i < 2; i++) {
        const struct model_topology *topology =
            fixture_topology(*state, "lagom-a", seen, 4);
        struct model_config config = chosen_with(*state, topology, SUM, &none);

        assert_int_equal(config.algorithm, MODEL_TREE);
        assert_int_equal(config.protocol, MODEL_LL);
        assert_near(config.chunk_bytes, 32768, 0);
        config = chosen_with(*state, topology, LARGE, &none);
        assert_int_equal(config.algorithm, MODEL_RING);
        assert_int_equal(config.protocol, MODEL_LL);
        seen[3] = "nccl.version=2.30";
    }
}

/* What is given stays, and the rest fits it: a tree's chunk is one step. */
static void given_settings_narrow_the_choice(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a", NULL, 0);
    struct model_config given = model_config_none();
    struct model_config config;

    given.algorithm = MODEL_TREE;
    given.protocol = MODEL_LL;
    given.channels = 3;
    config = chosen_with(*state, topology, SUM, &given);
    assert_int_equal(config.algorithm, MODEL_TREE);
    assert_int_equal(config.protocol, MODEL_LL);
    assert_int_equal(config.channels, 3);
    assert_int_equal(config.threads, 512);
    assert_near(config.chunk_bytes, 32768, 0);
    /* NCCL itself has no LL128 on an A40; asked for, it has its own slot */
    given = model_config_none();
    given.protocol = MODEL_LL128;
    config = chosen_with(*state, topology, LARGE, &given);
    assert_int_equal(config.algorithm, MODEL_RING);
    assert_int_equal(config.protocol, MODEL_LL128);
    assert_int_equal(config.threads, 640);
    assert_near(config.chunk_bytes, 576000, 0);
}

/* Send and receive have 640 threads and chunks of 128 KiB over PCIe. */
static void pairs_are_pairwise(void **state)
{
    struct model_config config = chosen(*state, "lagom-a-1node", ALL);

    assert_int_equal(config.algorithm, MODEL_PAIRWISE);
    assert_int_equal(config.threads, 640);
    assert_near(config.chunk_bytes, 131072, 0);
    assert_true(model_config_is_complete(&config));
}

/* A workload that leaves nothing open needs no communicator. */
static void complete_ops_ask_nobody(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: fixed, kind: all_gather, size: 1 MiB, algorithm: ring, "
        "protocol: simple, transport: p2p, channels: 1, threads: 96, chunk: "
        "64 KiB}\n");
    const struct model_nccl *nccl = fixture_nccl(*state, topology, w);
    struct model_nccl_choice choice;

    assert_null(nccl->groups[w->ops[0].group].comm);
    assert_false(
        model_nccl_choice_of(nccl, &w->ops[0], &w->ops[0].config, &choice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_clusters),
        cmocka_unit_test(later_versions_differ_on_amd),
        cmocka_unit_test(small_messages_shrink),
        cmocka_unit_test(observed_channels_are_taken),
        cmocka_unit_test(observed_pairs_are_taken),
        cmocka_unit_test(given_settings_narrow_the_choice),
        cmocka_unit_test(pairs_are_pairwise),
        cmocka_unit_test(complete_ops_ask_nobody),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
