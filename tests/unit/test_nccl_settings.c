/*
 * test_nccl_settings.c - variables of NCCL as its versions read them.
 *
 * Expectations follow NCCL's source by hand: misc/param.cc (numbers),
 * graph/tuning.cc (lists, threads), graph/paths.cc (levels), init.cc (CTAs,
 * policies), graph/connect.cc (channels).
 */
#include "model/nccl/settings_read.h"
#include "model/nccl/variables.h"

#include "tests/unit/fixture.h"

struct job {
    struct model_nccl_version version;
    struct model_nccl_settings settings;
    struct model_errors errors;
    struct model_nccl_reader reader;
};

static struct job *job_new(struct model_arena *arena, const char *version)
{
    struct job *job = model_arena_alloc(arena, sizeof(*job));
    struct model_place place = {"test", 0, 0};

    job->errors.arena = arena;
    job->settings = model_nccl_settings_none();
    assert_int_equal(model_nccl_version_read(arena, version, place, NULL,
                                             &job->version, &job->errors),
                     MODEL_OK);
    job->reader = (struct model_nccl_reader){.arena = arena,
                                             .version = &job->version,
                                             .settings = &job->settings,
                                             .errors = &job->errors};
    return job;
}

static enum model_status give(struct job *job, const char *assignment)
{
    return model_nccl_settings_read(&job->reader, assignment,
                                    (struct model_place){"test", 0, 0});
}

/* One assignment by itself; the last note's text, or "". */
static struct job *
job_of(struct model_arena *arena, const char *version, const char *assignment)
{
    struct job *job = job_new(arena, version);

    if (give(job, assignment) != MODEL_OK) {
        fixture_no_errors(&job->errors);
    }
    return job;
}

static const char *note_of(const struct job *job)
{
    return job->reader.last != NULL ? job->reader.last->text : "";
}

static void assert_note(const struct job *job, const char *part)
{
    if (strstr(note_of(job), part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", note_of(job), part);
    }
}

/* What is left, as letters: TRdcNnP of algorithms, or 18S of protocols. */
static const char *left(struct model_arena *arena, const bool *allowed, int n)
{
    static const char letters[] = "TRdcNnP";
    char *text = model_arena_alloc(arena, 16);

    for (int i = 0; i < n; i++) {
        text[i] = allowed[i] ? (n == 3 ? "18S"[i] : letters[i]) : '-';
    }
    return text;
}

static void assert_algorithms(struct model_arena *arena,
                              const struct job *job,
                              int function,
                              const char *expected)
{
    assert_string_equal(left(arena, job->settings.algorithm_allowed[function],
                             MODEL_NCCL_ALGORITHMS),
                        expected);
}

static void assert_protocols(struct model_arena *arena,
                             const struct job *job,
                             int function,
                             const char *expected)
{
    assert_string_equal(left(arena, job->settings.protocol_allowed[function],
                             MODEL_NCCL_PROTOCOLS),
                        expected);
}

static void numbers_are_read_as_strtoll_does(void **state)
{
    static const struct {
        const char *text;
        int value;
        const char *note;
    } rows[] = {{"NCCL_NVLS_ENABLE=1", 1, ""},
                {"NCCL_NVLS_ENABLE=0x2", 2, ""},
                {"NCCL_NVLS_ENABLE= 2", 2, ""},
                /* base 0: a leading 0 is octal, 8 + 7 */
                {"NCCL_NVLS_ENABLE=017", 15, "octal, which is 15"},
                {"NCCL_NVLS_ENABLE=07", 7, ""},
                {"NCCL_NVLS_ENABLE=1yes", 1, "NCCL reads \"1yes\" as 1"},
                /* no digits: strtoll gives 0 and sets no error */
                {"NCCL_NVLS_ENABLE=yes", 0, "NCCL reads \"yes\" as 0"},
                {"NCCL_NVLS_ENABLE=", MODEL_UNSET, ""},
                /* NCCL's own mark for "not set" */
                {"NCCL_NVLS_ENABLE=-2", MODEL_UNSET, ""},
                {"NCCL_NVLS_ENABLE=99999999999999999999", MODEL_UNSET,
                 "out of range, NCCL uses its default"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct job *job = job_of(*state, "2.18", rows[i].text);

        assert_int_equal(job->settings.nvls_enable, rows[i].value);
        assert_note(job, rows[i].note);
        assert_true(rows[i].note[0] != '\0' || job->reader.last == NULL);
    }
}

static void each_field_gets_its_variable(void **state)
{
    struct job *job = job_new(*state, "2.30");
    static const char *const given[] = {"NCCL_NTHREADS=256",
                                        "NCCL_LL128_NTHREADS=320",
                                        "NCCL_MIN_NCHANNELS=3",
                                        "NCCL_MAX_NCHANNELS=5",
                                        "NCCL_MIN_CTAS=2",
                                        "NCCL_MAX_CTAS=6",
                                        "NCCL_NVLS_NCHANNELS=12",
                                        "NCCL_MIN_P2P_NCHANNELS=4",
                                        "NCCL_MAX_P2P_NCHANNELS=7",
                                        "NCCL_NCHANNELS_PER_NET_PEER=9",
                                        "NCCL_BUFFSIZE=8388608",
                                        "NCCL_LL_BUFFSIZE=131072",
                                        "NCCL_LL128_BUFFSIZE=122880",
                                        "NCCL_P2P_NET_CHUNKSIZE=262144",
                                        "NCCL_P2P_PCI_CHUNKSIZE=65536",
                                        "NCCL_P2P_NVL_CHUNKSIZE=1048576",
                                        "NCCL_P2P_LL_THRESHOLD=0",
                                        "NCCL_NVLS_CHUNKSIZE=32768",
                                        "NCCL_NVLSTREE_MAX_CHUNKSIZE=65536",
                                        "NCCL_PAT_ENABLE=1",
                                        "NCCL_NET_OVERHEAD=1500",
                                        "NCCL_CROSS_NIC=1",
                                        "NCCL_PXN_DISABLE=1",
                                        "NCCL_SHM_DISABLE=0",
                                        "NCCL_P2P_DIRECT_DISABLE=1",
                                        "NCCL_THREAD_THRESHOLDS=1 2 3 4 -1 6"};
    const struct model_nccl_settings *s = &job->settings;

    for (int i = 0; i < FIXTURE_COUNT(given); i++) {
        assert_int_equal(give(job, given[i]), MODEL_OK);
    }
    assert_null(job->reader.first);
    assert_int_equal(s->threads, 256);
    assert_int_equal(s->ll128_threads, 320);
    assert_int_equal(s->min_channels, 3);
    assert_int_equal(s->max_channels, 5);
    assert_int_equal(s->min_ctas, 2);
    assert_int_equal(s->max_ctas, 6);
    assert_int_equal(s->nvls_channels, 12);
    assert_int_equal(s->min_p2p_channels, 4);
    assert_int_equal(s->max_p2p_channels, 7);
    assert_int_equal(s->channels_per_net_peer, 9);
    assert_true(s->buffer_bytes[MODEL_NCCL_SIMPLE] == 8388608.0);
    assert_true(s->buffer_bytes[MODEL_NCCL_LL] == 131072.0);
    assert_true(s->buffer_bytes[MODEL_NCCL_LL128] == 122880.0);
    assert_true(s->p2p_net_chunk_bytes == 262144.0);
    assert_true(s->p2p_pci_chunk_bytes == 65536.0);
    assert_true(s->p2p_nvl_chunk_bytes == 1048576.0);
    assert_true(s->p2p_ll_threshold_bytes == 0.0);
    assert_true(s->nvls_chunk_bytes == 32768.0);
    assert_true(s->nvls_tree_chunk_bytes == 65536.0);
    assert_int_equal(s->pat_enable, 1);
    assert_true(s->net_overhead_us == 1.5); /* 1500 ns */
    assert_int_equal(s->cross_nic, 1);
    assert_int_equal(s->pxn_disable, 1);
    assert_int_equal(s->shm_disable, 0);
    assert_int_equal(s->p2p_direct_disable, 1);
    assert_true(s->thread_threshold_bytes[0][MODEL_NCCL_LL] == 1.0);
    assert_true(s->thread_threshold_bytes[0][MODEL_NCCL_SIMPLE] == 3.0);
    assert_true(s->thread_threshold_bytes[1][MODEL_NCCL_LL] == 4.0);
    assert_true(s->thread_threshold_bytes[1][MODEL_NCCL_LL128] == -1.0);
    assert_true(s->thread_threshold_bytes[1][MODEL_NCCL_SIMPLE] == 6.0);
}

/* A list holds for all; Ring is taken from AllReduce alone. */
static void lists_before_2_24(void **state)
{
    struct job *job = job_of(*state, "2.18", "NCCL_ALGO=tree,CollnetChain");

    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "T--c---");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_GATHER, "TR-c---");
    assert_true(job->settings.algorithm_set[MODEL_NCCL_ALL_GATHER]);
    assert_null(job->reader.first);

    job = job_of(*state, "2.18", "NCCL_ALGO=^RING");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "T-dcNnP");

    /* An unknown word is dropped: here nothing is left. */
    job = job_of(*state, "2.18", "NCCL_ALGO=rings");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "-------");
    assert_non_null(strstr(job->reader.first->text, "ignores \"rings\""));
    assert_note(job, "leaves nothing for AllReduce");

    job = job_of(*state, "2.18", "NCCL_ALGO=ring;allreduce:tree");
    assert_non_null(strstr(job->reader.first->text,
                           "lists for single functions are of 2.24"));

    job = job_of(*state, "2.18", "NCCL_ALGO=PAT,Tree");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "T------");
    assert_note(job, "ignores \"PAT\"");

    /* An empty text is an empty list. */
    job = job_of(*state, "2.18", "NCCL_PROTO=");
    assert_protocols(*state, job, MODEL_NCCL_BROADCAST, "---");

    job = job_of(*state, "2.18", "NCCL_PROTO=^LL");
    assert_protocols(*state, job, MODEL_NCCL_BROADCAST, "-8S");
    assert_true(job->settings.protocol_set[MODEL_NCCL_BROADCAST]);
}

/* NCCL's own examples. */
static void lists_by_function(void **state)
{
    struct job *job = job_of(*state, "2.30",
                             "NCCL_ALGO=ring,collnetdirect;"
                             "allreduce:tree,collnetdirect;broadcast:ring");

    assert_algorithms(*state, job, MODEL_NCCL_ALL_GATHER, "-Rd----");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "T-d----");
    assert_algorithms(*state, job, MODEL_NCCL_BROADCAST, "-R-----");

    job = job_of(*state, "2.30", "NCCL_PROTO=LL,Simple;allreduce:^LL");
    assert_protocols(*state, job, MODEL_NCCL_REDUCE, "1-S");
    assert_protocols(*state, job, MODEL_NCCL_ALL_REDUCE, "-8S");

    /* Functions that are not named keep NCCL's own choice. */
    job = job_of(*state, "2.30", "NCCL_PROTO=AllReduce:LL128");
    assert_protocols(*state, job, MODEL_NCCL_ALL_REDUCE, "-8-");
    assert_protocols(*state, job, MODEL_NCCL_REDUCE, "18S");
    assert_true(job->settings.protocol_set[MODEL_NCCL_ALL_REDUCE]);
    assert_false(job->settings.protocol_set[MODEL_NCCL_REDUCE]);

    /* Ring may go from all. */
    job = job_of(*state, "2.30", "NCCL_ALGO=^ring");
    assert_algorithms(*state, job, MODEL_NCCL_ALL_GATHER, "T-dcNnP");

    job = job_of(*state, "2.30", "NCCL_ALGO=");
    assert_false(job->settings.algorithm_set[MODEL_NCCL_ALL_REDUCE]);
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "TRdcNnP");
}

static void unknown_words_are_refused_since_2_24(void **state)
{
    static const char *const refused[] = {"NCCL_ALGO=rings",
                                          "NCCL_ALGO=ring;tree",
                                          "NCCL_ALGO=ring;gather:tree",
                                          "NCCL_ALGO=allreduce:",
                                          "NCCL_PROTO=simple ",
                                          "NCCL_ALGO=ring;:tree"};

    for (int i = 0; i < FIXTURE_COUNT(refused); i++) {
        struct job *job = job_new(*state, "2.30");

        assert_int_equal(give(job, refused[i]), MODEL_BAD_INPUT);
        assert_non_null(strstr(job->errors.list[0].message, "refuses"));
    }
}

static void the_last_assignment_counts(void **state)
{
    struct job *job = job_of(*state, "2.30", "NCCL_ALGO=allreduce:tree");

    assert_int_equal(give(job, "NCCL_ALGO=broadcast:ring"), MODEL_OK);
    assert_algorithms(*state, job, MODEL_NCCL_ALL_REDUCE, "TRdcNnP");
    assert_int_equal(give(job, "NCCL_NTHREADS=128"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_NTHREADS="), MODEL_OK);
    assert_int_equal(job->settings.threads, MODEL_UNSET);
}

/* connect.cc: MAXCHANNELS is 32 in 2.18 and 64 in 2.30; at least 0 and 1. */
static void channels_are_brought_into_range(void **state)
{
    struct job *job = job_of(*state, "2.18", "NCCL_MIN_NCHANNELS=48");

    assert_int_equal(job->settings.min_channels, 32);
    assert_note(job, "takes 32 instead of 48");
    job = job_of(*state, "2.30", "NCCL_MIN_NCHANNELS=48");
    assert_int_equal(job->settings.min_channels, 48);
    job = job_of(*state, "2.18", "NCCL_MAX_NCHANNELS=0");
    assert_int_equal(job->settings.max_channels, 1);
    job = job_of(*state, "2.30", "NCCL_MAX_CTAS=0");
    assert_int_equal(job->settings.max_ctas, MODEL_UNSET);
    assert_note(job, "not heeded");
    job = job_of(*state, "2.18", "NCCL_MAX_CTAS=0");
    assert_int_equal(job->settings.max_ctas, 1);
    assert_note(job, "fails");
}

static void an_older_name_is_heeded_alone(void **state)
{
    struct job *job = job_of(*state, "2.18", "NCCL_MAX_NRINGS=4");

    assert_int_equal(job->settings.max_channels, 4);
    assert_int_equal(give(job, "NCCL_MAX_NCHANNELS=8"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_MAX_NRINGS=2"), MODEL_OK);
    assert_int_equal(job->settings.max_channels, 8);
    assert_note(job, "NCCL heeds NCCL_MAX_NCHANNELS instead");
}

static void levels_have_names_and_old_numbers(void **state)
{
    static const struct {
        const char *version, *text;
        int level;
        bool local;
    } rows[] = {{"2.18", "NVL", MODEL_PATH_NVL, false},
                {"2.18", "PXB", MODEL_PATH_PXB, false},
                {"2.18", "SYS", MODEL_PATH_SYS, false},
                {"2.18", "LOC", MODEL_UNSET, true},
                {"2.18", "0", MODEL_UNSET, true},
                {"2.18", "1", MODEL_PATH_PIX, false},
                {"2.18", "3", MODEL_PATH_PHB, false},
                {"2.18", "12", MODEL_PATH_SYS, false},
                {"2.30", "P2C", MODEL_PATH_PXB, false},
                /* strcmp: capitals count */
                {"2.30", "pxb", MODEL_UNSET, false},
                {"2.18", "P2C", MODEL_UNSET, false},
                {"2.18", "NET", MODEL_UNSET, false}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct job *job = job_of(
            *state, rows[i].version,
            model_arena_format(*state, "NCCL_P2P_LEVEL=%s", rows[i].text));

        assert_int_equal(job->settings.p2p_level, rows[i].level);
        assert_int_equal(job->settings.p2p_level_local, rows[i].local);
        assert_int_equal(job->reader.last != NULL,
                         rows[i].level == MODEL_UNSET && !rows[i].local);
    }
}

static void policies(void **state)
{
    struct job *job = job_of(*state, "2.30", "NCCL_CTA_POLICY=zero|EFFICIENCY");

    assert_int_equal(job->settings.cta_policy, 3); /* bits 2 and 1 */
    job = job_of(*state, "2.30", "NCCL_CTA_POLICY=12");
    assert_int_equal(job->settings.cta_policy, 1); /* the first digit */
    job = job_of(*state, "2.30", "NCCL_CTA_POLICY=none");
    assert_int_equal(job->settings.cta_policy, MODEL_UNSET);
    job = job_of(*state, "2.18", "NCCL_CTA_POLICY=1");
    assert_int_equal(job->settings.cta_policy, MODEL_UNSET);
    assert_note(job, "does not know it (since 2.27)");
}

static void dangerous_values_are_said(void **state)
{
    static const struct {
        const char *text, *note;
    } rows[] = {{"NCCL_NTHREADS=480", "issues/698"},
                {"NCCL_NTHREADS=100", "takes 512 instead"},
                {"NCCL_NTHREADS=1024", "takes 512 instead"},
                {"NCCL_NTHREADS=32", "takes 64 instead"},
                {"NCCL_LL128_NTHREADS=128", "takes 160 instead"},
                {"NCCL_BUFFSIZE=1000000", "issues/698"},
                {"NCCL_LL128_BUFFSIZE=131072", "issues/1739"},
                {"NCCL_COLLNET_ENABLE=1", "not simulated"},
                {"NCCL_SHM_DISABLE=1", "not simulated"},
                {"NCCL_PAT_ENABLE=1", "does not know it (since 2.23)"},
                {"NCCL_IB_HCA=mlx5", "not simulated"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct job *job = job_of(*state, "2.18", rows[i].text);

        assert_note(job, rows[i].note);
        assert_false(job->reader.last->quiet);
    }
    assert_true(job_of(*state, "2.18", "NCCL_DEBUG=INFO")->reader.last->quiet);
}

static void typos_are_refused(void **state)
{
    struct job *job = job_new(*state, "2.18");

    assert_int_equal(give(job, "NCCL_BUFSIZE=4194304"), MODEL_BAD_INPUT);
    assert_string_equal(job->errors.list[0].hint,
                        "did you mean \"NCCL_BUFFSIZE\"?");
    assert_int_equal(give(job, "nccl_algo=ring"), MODEL_BAD_INPUT);
    assert_string_equal(job->errors.list[1].hint,
                        "did you mean \"NCCL_ALGO\"?");
    assert_int_equal(give(job, "BUFFSIZE=4194304"), MODEL_BAD_INPUT);
    assert_string_equal(job->errors.list[2].hint,
                        "did you mean \"NCCL_BUFFSIZE\"?");
    /* Near to others by "NCCL_" alone. */
    assert_int_equal(give(job, "NCCL_FOO=1"), MODEL_BAD_INPUT);
    assert_string_equal(job->errors.list[3].hint, "lagom help nccl lists them");
    assert_int_equal(give(job, "NCCL_ALGO"), MODEL_BAD_INPUT);
    assert_int_equal(give(job, "=ring"), MODEL_BAD_INPUT);
    /* 4M is read as 4 bytes. */
    assert_int_equal(give(job, "NCCL_BUFFSIZE=4M"), MODEL_BAD_INPUT);
}

static void routes_follow(void **state)
{
    struct model_topology *topology = fixture_topology(
        *state, "2x8 gpu:a100 nvswitch nic:8x200Gbit/s", NULL, 0);
    struct job *job = job_new(*state, "2.18");

    model_nccl_settings_apply(&job->settings, topology);
    assert_int_equal(topology->nvlink.kind, MODEL_NVLINK_SWITCH);
    assert_true(topology->nics.pxn && topology->network.cross_nic);
    assert_int_equal(give(job, "NCCL_P2P_LEVEL=SYS"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_NET_GDR_LEVEL=PHB"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_PXN_DISABLE=1"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_CROSS_NIC=0"), MODEL_OK);
    model_nccl_settings_apply(&job->settings, topology);
    assert_int_equal(topology->pcie.p2p, MODEL_PATH_SYS);
    assert_int_equal(topology->nics.gpudirect_level, MODEL_PATH_PHB);
    assert_true(topology->nics.gpudirect);
    assert_false(topology->nics.pxn || topology->network.cross_nic);

    /* NCCL_P2P_DISABLE goes before the level. */
    assert_int_equal(give(job, "NCCL_P2P_DISABLE=1"), MODEL_OK);
    assert_int_equal(give(job, "NCCL_NET_GDR_LEVEL=LOC"), MODEL_OK);
    model_nccl_settings_apply(&job->settings, topology);
    assert_int_equal(topology->nvlink.kind, MODEL_NVLINK_NONE);
    assert_int_equal(topology->pcie.p2p, MODEL_PATH_NVL);
    assert_false(topology->nics.gpudirect);
}

/* The table itself: names differ, each has help, each is found. */
static void the_table_is_whole(void **state)
{
    const char *const *names = model_nccl_variable_names(*state);
    int count = 0;

    for (; names[count] != NULL; count++) {
        const char *name = model_arena_format(*state, "NCCL_%s", names[count]);
        const struct model_nccl_variable *row =
            model_nccl_variable_find(*state, name, strlen(name));

        assert_non_null(row);
        assert_true(row->help != NULL && row->help[0] != '\0');
        for (int i = 0; i < count; i++) {
            assert_string_not_equal(names[i], names[count]);
        }
    }
    assert_true(count > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_strtoll_does),
        cmocka_unit_test(each_field_gets_its_variable),
        cmocka_unit_test(lists_before_2_24),
        cmocka_unit_test(lists_by_function),
        cmocka_unit_test(unknown_words_are_refused_since_2_24),
        cmocka_unit_test(the_last_assignment_counts),
        cmocka_unit_test(channels_are_brought_into_range),
        cmocka_unit_test(an_older_name_is_heeded_alone),
        cmocka_unit_test(levels_have_names_and_old_numbers),
        cmocka_unit_test(policies),
        cmocka_unit_test(dangerous_values_are_said),
        cmocka_unit_test(typos_are_refused),
        cmocka_unit_test(routes_follow),
        cmocka_unit_test(the_table_is_whole),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
