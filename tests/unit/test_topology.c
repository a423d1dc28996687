/*
 * test_topology.c - reading topologies: shipped files, base files, defaults,
 * overrides with their provenance, and what the tables cannot say.
 */
#include "model/topology.h"

#include "tests/unit/fixture.h"

/* Read what may be wrong. */
static enum model_status read_text(struct model_arena *arena,
                                   const char *yaml,
                                   struct model_topology *topology,
                                   struct model_errors *errors)
{
    struct fixture_file file = fixture_file_open(yaml);
    enum model_status status = model_topology_read(
        arena, model_arena_text(arena, file.path), NULL, 0, topology, errors);

    fixture_file_close(&file);
    return status;
}

static void expect_fault(struct model_arena *arena,
                         const char *text,
                         const char *const *sets,
                         int set_count,
                         const char *key,
                         const char *message)
{
    struct model_topology topology;
    struct model_errors errors = {.arena = arena};

    assert_int_equal(
        model_topology_read(arena, text, sets, set_count, &topology, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, key, message);
}

/* Counts and data-sheet numbers of lagom-a.yaml and a40.yaml. */
static void lagom_a_is_as_written(void **state)
{
    const struct model_topology *t =
        fixture_topology(*state, "lagom-a", NULL, 0);

    assert_string_equal(t->name, "lagom-a");
    assert_int_equal(t->node_count, 2);
    assert_int_equal(t->gpus_per_node, 8);
    assert_int_equal(model_topology_rank_count(t), 16);
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_PAIRS);
    assert_near(t->nvlink.bytes_per_us, 50000, 1e-9); /* 400 Gbit/s */
    assert_int_equal(t->pcie.gpus_per_switch, 1);
    assert_int_equal(t->pcie.generation, 4);
    assert_int_equal(t->host.sockets, 2);
    assert_int_equal(t->nics.count, 2);
    assert_near(t->nics.bytes_per_us, 50000, 1e-9);
    assert_true(t->nics.gpudirect);
    assert_false(t->observed.present);
    assert_string_equal(t->nccl.version, "2.18");
    assert_string_equal(t->gpu.name, "a40");
    assert_int_equal(t->gpu.sm_count, 84);
    assert_near(t->gpu.peak_flops_per_us[MODEL_BF16], 149.7e6, 1);
    assert_near(t->gpu.peak_flops_per_us[MODEL_FP8], 0, 0);
    assert_near(t->gpu.l2_bytes, 6291456, 0);
}

/* A file with base: changes what it names, all else is the base's. */
static void a_base_is_changed_by_key(void **state)
{
    const struct model_topology *one =
        fixture_topology(*state, "lagom-b-1node", NULL, 0);
    const struct model_topology *two =
        fixture_topology(*state, "lagom-b", NULL, 0);

    assert_string_equal(one->name, "lagom-b-1node");
    assert_int_equal(one->node_count, 1);
    assert_int_equal(two->node_count, 2);
    assert_int_equal(one->gpus_per_node, 8);
    assert_int_equal(one->pcie.gpus_per_switch, 2);
    assert_near(one->pcie.p2p_bytes_per_us, two->pcie.p2p_bytes_per_us, 0);
    assert_int_equal(one->pcie.p2p, MODEL_PATH_SYS);
    assert_false(one->nics.gpudirect);
}

static void every_shipped_topology_reads(void **state)
{
    static const char *const names[] = {"lagom-a",
                                        "lagom-a-1node",
                                        "lagom-b",
                                        "lagom-b-1node",
                                        "dgx-h100",
                                        "dgx1-v100",
                                        "p3.16xlarge",
                                        "1x8 gpu:a40",
                                        "1x8 gpu:a100 nvswitch",
                                        "1x8 gpu:h100 nvswitch",
                                        "1x8 gpu:v100 nvlink:mesh",
                                        "topologies/lagom-a.yaml"};

    for (int i = 0; i < FIXTURE_COUNT(names); i++) {
        (void)fixture_topology(*state, names[i], NULL, 0);
    }
}

/* Keys nearer to the user win: own, then base, then the shipped base. */
static void bases_chain(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(
        read_text(*state,
                  "name: mine\n"
                  "base: lagom-a-1node\n"
                  "node:\n"
                  "  nics: {count: 1}\n"
                  "  pcie: {p2p_rate: {value: 1 GB/s, from: measured, "
                  "source: my own test}}\n",
                  &t, &errors),
        MODEL_OK);
    assert_string_equal(t.name, "mine");
    assert_int_equal(t.node_count, 1); /* of lagom-a-1node */
    assert_int_equal(t.nics.count, 1);
    assert_near(t.nics.bytes_per_us, 50000, 1e-9); /* of lagom-a */
    assert_near(t.pcie.p2p_bytes_per_us, 1000, 0);
    assert_near(t.pcie.shm_bytes_per_us, 32500, 1e-9);
}

/* A new number does not inherit the source of the one it replaces. */
static void a_new_number_has_its_own_source(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};
    bool found = false;

    assert_int_equal(
        read_text(*state,
                  "name: mine\n"
                  "base: lagom-a\n"
                  "node: {pcie: {shm_rate: {value: 2 GB/s, from: guess}}}\n",
                  &t, &errors),
        MODEL_OK);
    assert_near(t.pcie.shm_bytes_per_us, 2000, 0);
    for (const struct model_provenance_entry *entry = t.provenance.first;
         entry != NULL; entry = entry->next) {
        if (strcmp(entry->path, "node.pcie.shm_rate") == 0) {
            assert_int_equal(entry->origin, MODEL_FROM_GUESS);
            assert_null(entry->source);
            found = true;
        }
    }
    assert_true(found);
}

static void a_base_that_is_not_there(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(
        read_text(*state, "name: x\nbase: lagom-aa\n", &t, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "base", "no file \"lagom-aa\"");
    assert_non_null(strstr(errors.list[0].hint, "lagom-a"));
    assert_int_equal(errors.list[0].place.line, 2);
    errors.count = 0;
    assert_int_equal(
        read_text(*state, "name: x\nbase: [lagom-a]\n", &t, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "base", "base is not a name");
}

/* A file that has itself for a base ends in a message, not in a loop. */
static void a_base_in_a_circle(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};
    char path[] = "/tmp/lagom-circle-XXXXXX";
    int descriptor = mkstemp(path);
    const char *text =
        model_arena_format(*state, "name: x\nbase: %s\ngpu: a40\n", path);
    size_t length = strlen(text);

    assert_true(descriptor >= 0);
    assert_true(write(descriptor, text, length) == (ssize_t)length);
    assert_int_equal(model_topology_read(*state, path, NULL, 0, &t, &errors),
                     MODEL_BAD_INPUT);
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(unlink(path), 0);
    fixture_expect_error(&errors, "base", "in a circle");
}

/* NVLink's rate and latency are the GPU's where the topology says nothing. */
static void nvlink_defaults_to_the_gpu(void **state)
{
    static const char *const sets[] = {
        "gpu.nvlink={rate: 123 GB/s, latency: 0.7 us}"};
    const struct model_topology *t =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", sets, 1);

    assert_near(t->nvlink.bytes_per_us, 123000, 1e-9);
    assert_near(t->nvlink.latency_us, 0.7, 0);
    t = fixture_topology(*state, "1x8 gpu:h100 nvswitch:100GB/s", sets, 1);
    assert_near(t->nvlink.bytes_per_us, 100000, 1e-9);
    assert_near(t->nvlink.latency_us, 0.7, 0);
    t = fixture_topology(*state, "1x8 gpu:h100", sets, 1);
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_NONE);
}

static double pcie_rate(struct model_arena *arena, const char *text)
{
    return fixture_topology(arena, text, NULL, 0)->pcie.bytes_per_us;
}

/* The rate of PCIe doubles, within a tenth, by generation. */
static void defaults_follow_what_is_wired(void **state)
{
    const struct model_topology *t =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    double generation_3 = pcie_rate(*state, "1x8 gpu:h100 pcie:3");
    double generation_4 = pcie_rate(*state, "1x8 gpu:h100 pcie:4");
    double generation_5 = pcie_rate(*state, "1x8 gpu:h100 pcie:5");

    assert_false(t->observed.present);
    t = fixture_topology(*state, "1x8 gpu:h100", NULL, 0);
    assert_int_equal(t->host.sockets, 1);
    assert_int_equal(t->pcie.gpus_per_switch, 1);
    assert_near_ratio(generation_4, 2 * generation_3, 0.1);
    assert_near_ratio(generation_5, 2 * generation_4, 0.1);
    /* 16 lanes of 16 GT/s are 32 GB/s less encoding: no payload is above */
    assert_true(generation_4 < 32000 && generation_4 > 20000);
}

/* -- paths and networks -- */

/* P2P goes as far as NCCL lets it by the maker of the CPUs, unless said. */
static void p2p_follows_the_cpu(void **state)
{
    static const struct {
        const char *topology, *set;
        enum model_path p2p;
    } rows[] = {{"1x8 gpu:a40", "node.host.cpu=amd", MODEL_PATH_SYS},
                {"1x8 gpu:a40", "node.host.cpu=intel", MODEL_PATH_PXB},
                {"1x8 gpu:a40", "node.host.cpu=arm", MODEL_PATH_PXB},
                {"lagom-a", "nodes=1", MODEL_PATH_SYS},
                {"lagom-b", "node.pcie.p2p=phb", MODEL_PATH_PHB},
                {"dgx1-v100", "nodes=1", MODEL_PATH_PXB}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_topology *t =
            fixture_topology(*state, rows[i].topology, &rows[i].set, 1);

        assert_int_equal(t->pcie.p2p, rows[i].p2p);
    }
}

/* NCCL's GPUDirect goes as far as PCIe switches; a topology may say else. */
static void gpudirect_has_a_level(void **state)
{
    static const char *const sets[] = {"node.nics.gpudirect_level=phb",
                                       "node.nics.pxn=false"};
    const char *text = "2x8 gpu:a40 nic:2x1GB/s";
    const struct model_topology *t = fixture_topology(*state, text, NULL, 0);

    assert_int_equal(t->nics.gpudirect_level, MODEL_PATH_PXB);
    assert_true(t->nics.pxn);
    assert_int_equal(t->nics.at, MODEL_NICS_AUTO);
    t = fixture_topology(*state, text, sets, 2);
    assert_int_equal(t->nics.gpudirect_level, MODEL_PATH_PHB);
    assert_false(t->nics.pxn);
}

/* Where nothing is said the network is flat and counts no number. */
static void networks_have_defaults(void **state)
{
    static const char *const sets[] = {"network.kind=tree",
                                       "network.nodes_per_leaf=4"};
    const char *text = "8x8 gpu:a40 nic:2x1GB/s";
    const struct model_topology *flat = fixture_topology(*state, text, NULL, 0);
    const struct model_topology *tree = fixture_topology(*state, text, sets, 2);

    assert_int_equal(flat->network.kind, MODEL_NETWORK_FLAT);
    assert_true(flat->network.cross_nic);
    assert_int_equal(tree->network.kind, MODEL_NETWORK_TREE);
    assert_int_equal(tree->network.nodes_per_leaf, 4);
    assert_near(tree->network.oversubscription_ratio, 1, 0);
    assert_true(tree->network.switch_latency_us > 0);
    assert_int_equal(tree->provenance.count[MODEL_FROM_GUESS],
                     flat->provenance.count[MODEL_FROM_GUESS] + 2);
}

/* A base's links are taken over; p3.16xlarge changes the NICs of a DGX-1. */
static void links_come_from_the_base(void **state)
{
    const struct model_topology *dgx1 =
        fixture_topology(*state, "dgx1-v100", NULL, 0);
    const struct model_topology *p3 =
        fixture_topology(*state, "p3.16xlarge", NULL, 0);

    assert_int_equal(p3->nvlink.kind, MODEL_NVLINK_LINKS);
    assert_memory_equal(p3->nvlink.links, dgx1->nvlink.links, 64 * sizeof(int));
    assert_int_equal(p3->nvlink.links[0 * 8 + 3], 2);
    assert_int_equal(p3->nvlink.links[3 * 8 + 0], 2);
    assert_int_equal(p3->nvlink.links[0 * 8 + 5], 0);
    assert_near(p3->nvlink.bytes_per_us, 22000, 1e-9);
    assert_int_equal(p3->nics.count, 1);
    assert_false(p3->nics.gpudirect);
    assert_int_equal(dgx1->nics.count, 4);
}

/* -- overrides -- */

static void overrides_change_what_they_name(void **state)
{
    static const char *const sets[] = {
        "nodes=4",
        "node.nics.rate=200Gbit/s",
        "node.pcie.gpus_per_switch=2",
        "gpu.sm.count=40",
        "gpu.hbm.rate=1 TB/s",
        "gpu.l2={value: 1 MiB, from: guess}",
    };
    const struct model_topology *t =
        fixture_topology(*state, "lagom-a", sets, FIXTURE_COUNT(sets));

    assert_int_equal(t->node_count, 4);
    assert_near(t->nics.bytes_per_us, 25000, 1e-9);
    assert_int_equal(t->pcie.gpus_per_switch, 2);
    assert_int_equal(t->gpu.sm_count, 40);
    assert_near(t->gpu.hbm_bytes_per_us, 1e6, 1e-6);
    assert_near(t->gpu.l2_bytes, 1048576, 0);
    /* and leave the rest */
    assert_int_equal(t->gpus_per_node, 8);
    assert_int_equal(t->gpu.attention_rows, 128);
}

/* An override comes before the defaults, which follow it. */
static void defaults_follow_an_override(void **state)
{
    static const char *const sets[] = {"node.pcie.generation=5"};
    const struct model_topology *before =
        fixture_topology(*state, "lagom-a", NULL, 0);
    const struct model_topology *after =
        fixture_topology(*state, "lagom-a", sets, 1);

    /* lagom-a.yaml says p2p_rate, not rate */
    assert_near(after->pcie.bytes_per_us,
                pcie_rate(*state, "1x8 gpu:a40 pcie:5"), 0);
    assert_near(after->pcie.p2p_bytes_per_us, before->pcie.p2p_bytes_per_us, 0);
}

/* Another GPU altogether, and a change of it. */
static void the_gpu_can_be_overridden(void **state)
{
    static const char *const sets[] = {"gpu=h100", "gpu.sm.count=100"};
    const struct model_topology *t =
        fixture_topology(*state, "lagom-a", sets, 2);

    assert_string_equal(t->gpu.name, "h100");
    assert_int_equal(t->gpu.sm_count, 100);
    assert_near(t->nvlink.bytes_per_us, 50000, 1e-9); /* of lagom-a */
}

static int sum_of_origins(const struct model_topology *t)
{
    int sum = 0;

    for (int i = 0; i < MODEL_ORIGINS; i++) {
        sum += t->provenance.count[i];
    }
    return sum;
}

/* Where a number came from; the test fails when it has no entry. */
static enum model_origin origin_of(const struct model_topology *t,
                                   const char *path)
{
    for (const struct model_provenance_entry *entry = t->provenance.first;
         entry != NULL; entry = entry->next) {
        if (strcmp(entry->path, path) == 0) {
            return entry->origin;
        }
    }
    fail_msg("no entry for %s", path);
    return MODEL_ORIGINS;
}

/* Each override of a sourced number moves it from its origin to "override". */
static void provenance_counts_overrides(void **state)
{
    static const char *const sets[] = {
        "gpu.sm.count=40",
        "gpu.launch.interval=1 us",
        "gpu.channel.rate=9GB/s",
        "node.nics.rate=1 GB/s",
        "nodes=3", /* no hardware number: counts nowhere */
    };
    static const char *const paths[] = {"gpu.sm.count", "gpu.launch.interval",
                                        "gpu.channel.rate", "node.nics.rate"};
    const struct model_topology *before =
        fixture_topology(*state, "lagom-a", NULL, 0);
    const struct model_topology *after =
        fixture_topology(*state, "lagom-a", sets, FIXTURE_COUNT(sets));
    int expected[MODEL_ORIGINS];

    for (int i = 0; i < MODEL_ORIGINS; i++) {
        expected[i] = before->provenance.count[i];
    }
    assert_int_equal(expected[MODEL_FROM_OVERRIDE], 0);
    for (int i = 0; i < FIXTURE_COUNT(paths); i++) {
        expected[origin_of(before, paths[i])]--;
        expected[MODEL_FROM_OVERRIDE]++;
        assert_int_equal(origin_of(after, paths[i]), MODEL_FROM_OVERRIDE);
    }
    for (int i = 0; i < MODEL_ORIGINS; i++) {
        assert_int_equal(after->provenance.count[i], expected[i]);
    }
    assert_int_equal(origin_of(before, "gpu.sm.count"), MODEL_FROM_DATASHEET);
}

/* Entries are as many as the counts, with a path, and "gpu." before the GPU's.
 */
static void provenance_lists_what_it_counts(void **state)
{
    static const char *const sets[] = {"gpu.sm.count=40"};
    const struct model_topology *t =
        fixture_topology(*state, "lagom-a", sets, 1);
    int count = 0;
    bool found = false;

    for (const struct model_provenance_entry *entry = t->provenance.first;
         entry != NULL; entry = entry->next) {
        count++;
        if (strcmp(entry->path, "gpu.sm.count") == 0) {
            found = true;
            assert_int_equal(entry->origin, MODEL_FROM_OVERRIDE);
            assert_near(entry->value, 40, 0);
        }
    }
    assert_true(found);
    assert_int_equal(count, sum_of_origins(t));
}

static void overrides_can_be_wrong(void **state)
{
    static const struct {
        const char *set, *key, *message;
    } rows[] = {
        {"gpu.sm.cuont=3", "gpu.sm.cuont", "unknown key"},
        {"node.nics.rate=5", "node.nics.rate", "no unit"},
        {"node.nics.rate=5 GB", "node.nics.rate", "a rate is wanted"},
        {"gpu.sm.count=-1", "gpu.sm.count", "negative"},
        {"gpu.sm.count=0", "gpu.sm.count", ""},
        {"gpu.achieved.gemm=1.5", "gpu.achieved.gemm", ""},
        {"nodes=0", "nodes", ""},
        {"gpu=a41", "gpu", "no file \"a41\""},
        {"node.nvlink.kind=ring", "node.nvlink.kind", ""},
        {"nodes", NULL, "no \"=\""},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_topology t;
        struct model_errors errors = {.arena = *state};

        assert_int_not_equal(model_topology_read(*state, "lagom-a",
                                                 &rows[i].set, 1, &t, &errors),
                             MODEL_OK);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

/* -- checks -- */

static void several_nodes_need_a_nic(void **state)
{
    expect_fault(*state, "2x8 gpu:a40", NULL, 0, "node.nics",
                 "several nodes but no NIC");
}

static void pairs_need_even_gpus(void **state)
{
    expect_fault(*state, "1x7 gpu:a40 nvlink:pairs", NULL, 0, "node.gpus",
                 "even number of GPUs");
}

/* 6 GPUs on 4 sockets; 8 on 2 sockets with 3 or 8 below a switch. */
static void gpus_divide_over_sockets_and_switches(void **state)
{
    expect_fault(*state, "1x6 gpu:a40 sockets:4", NULL, 0, "node.gpus",
                 "over the sockets");
    expect_fault(*state, "1x8 gpu:a40 pcie:4:3/switch sockets:2", NULL, 0,
                 "node.pcie", "over its PCIe switches");
    expect_fault(*state, "1x8 gpu:a40 pcie:4:8/switch sockets:2", NULL, 0,
                 "node.pcie", "over its PCIe switches");
    (void)fixture_topology(*state, "1x8 gpu:a40 pcie:4:4/switch sockets:2",
                           NULL, 0);
}

/* All faults of a topology in one go. */
static void all_faults_are_reported(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(model_topology_read(*state,
                                         "2x7 gpu:a40 nvlink:pairs sockets:2",
                                         NULL, 0, &t, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "node.nics", "no NIC");
    fixture_expect_error(&errors, "node.gpus", "even number");
    fixture_expect_error(&errors, "node.gpus", "sockets");
    assert_int_equal(errors.count, 3);
}

static void the_number_of_gpus_has_a_limit(void **state)
{
    (void)fixture_topology(*state, "1048576x16 gpu:a40 nic:1x100Gbit/s", NULL,
                           0);
    expect_fault(*state, "1048576x17 gpu:a40 nic:1x100Gbit/s", NULL, 0, "nodes",
                 "more GPUs than");
}

static void a_file_needs_its_keys(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(read_text(*state, "name: x\nnodes: 1\n", &t, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "gpu", "required key is missing");
    errors.count = 0;
    assert_int_equal(
        read_text(*state, "name: x\ngpu: a40\nnode: {gpu: 8}\n", &t, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "nodes", "required");
    fixture_expect_error(&errors, "node.gpus", "required");
    fixture_expect_error(&errors, "node.gpu", "unknown key");
    errors.count = 0;
    assert_int_equal(read_text(*state, "- a\n- b\n", &t, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, "not a mapping");
}

static void an_unknown_name_has_a_neighbour(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(
        model_topology_read(*state, "lagom-c", NULL, 0, &t, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, "no file \"lagom-c\"");
    assert_non_null(strstr(errors.list[0].hint, "did you mean \"lagom-"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lagom_a_is_as_written),
        cmocka_unit_test(a_base_is_changed_by_key),
        cmocka_unit_test(every_shipped_topology_reads),
        cmocka_unit_test(bases_chain),
        cmocka_unit_test(a_new_number_has_its_own_source),
        cmocka_unit_test(a_base_that_is_not_there),
        cmocka_unit_test(a_base_in_a_circle),
        cmocka_unit_test(nvlink_defaults_to_the_gpu),
        cmocka_unit_test(defaults_follow_what_is_wired),
        cmocka_unit_test(p2p_follows_the_cpu),
        cmocka_unit_test(gpudirect_has_a_level),
        cmocka_unit_test(networks_have_defaults),
        cmocka_unit_test(links_come_from_the_base),
        cmocka_unit_test(overrides_change_what_they_name),
        cmocka_unit_test(defaults_follow_an_override),
        cmocka_unit_test(the_gpu_can_be_overridden),
        cmocka_unit_test(provenance_counts_overrides),
        cmocka_unit_test(provenance_lists_what_it_counts),
        cmocka_unit_test(overrides_can_be_wrong),
        cmocka_unit_test(several_nodes_need_a_nic),
        cmocka_unit_test(pairs_need_even_gpus),
        cmocka_unit_test(gpus_divide_over_sockets_and_switches),
        cmocka_unit_test(all_faults_are_reported),
        cmocka_unit_test(the_number_of_gpus_has_a_limit),
        cmocka_unit_test(a_file_needs_its_keys),
        cmocka_unit_test(an_unknown_name_has_a_neighbour),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
