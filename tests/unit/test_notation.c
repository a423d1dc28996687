/*
 * test_notation.c - the one-line topology: each word, each fault with its
 * column, and print(parse(print(x))) = print(x).
 */
#include "model/notation.h"

#include "tests/unit/fixture.h"

static const char *print(struct model_arena *arena, const char *text)
{
    return model_notation_print(arena, fixture_topology(arena, text, NULL, 0));
}

static void words_set_their_keys(void **state)
{
    const struct model_topology *t = fixture_topology(
        *state,
        "2x8 gpu:a40 nvlink:pairs:50GB/s pcie:5:2/switch sockets:2 "
        "nic:4x400Gbit/s",
        NULL, 0);

    assert_int_equal(t->node_count, 2);
    assert_int_equal(t->gpus_per_node, 8);
    assert_string_equal(t->gpu.name, "a40");
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_PAIRS);
    assert_near(t->nvlink.bytes_per_us, 50000, 1e-9);
    assert_int_equal(t->pcie.generation, 5);
    assert_int_equal(t->pcie.gpus_per_switch, 2);
    assert_int_equal(t->host.sockets, 2);
    assert_int_equal(t->nics.count, 4);
    assert_near(t->nics.bytes_per_us, 50000, 1e-9);
}

static void nvlinks_are_listed(void **state)
{
    const struct model_topology *t = fixture_topology(
        *state, "1x3 gpu:v100 nvlink:links:0-1,2-1x3:22GB/s", NULL, 0);
    static const int links[] = {0, 1, 0, 1, 0, 3, 0, 3, 0};

    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_LINKS);
    assert_near(t->nvlink.bytes_per_us, 22000, 1e-9);
    assert_memory_equal(t->nvlink.links, links, sizeof links);
    assert_string_equal(
        model_notation_print(*state, t),
        "1x3 gpu:v100 nvlink:links:0-1,1-2x3:22GB/s pcie:3:1/switch "
        "sockets:1");
}

static void networks_are_words(void **state)
{
    static const struct {
        const char *word;
        enum model_network_kind kind;
        int nodes_per_leaf;
        double oversubscription_ratio;
        const char *printed;
    } rows[] = {
        {"", MODEL_NETWORK_FLAT, 0, 0, ""},
        {" net:flat", MODEL_NETWORK_FLAT, 0, 0, ""},
        {" net:rails", MODEL_NETWORK_RAILS, 0, 1, " net:rails:1"},
        {" net:rails:2.5", MODEL_NETWORK_RAILS, 0, 2.5, " net:rails:2.5"},
        {" net:rails:4/leaf:2", MODEL_NETWORK_RAILS, 4, 2,
         " net:rails:4/leaf:2"},
        {" net:tree:3:16/leaf", MODEL_NETWORK_TREE, 16, 3,
         " net:tree:16/leaf:3"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_topology *t = fixture_topology(
            *state,
            model_arena_format(*state, "32x1 gpu:a40 nic:1x1GB/s%s",
                               rows[i].word),
            NULL, 0);

        assert_int_equal(t->network.kind, rows[i].kind);
        assert_int_equal(t->network.nodes_per_leaf, rows[i].nodes_per_leaf);
        assert_near(t->network.oversubscription_ratio,
                    rows[i].oversubscription_ratio, 1e-12);
        assert_string_equal(
            model_notation_print(*state, t),
            model_arena_format(
                *state, "32x1 gpu:a40 pcie:4:1/switch sockets:1 nic:1x1GB/s%s",
                rows[i].printed));
    }
}

static void words_come_in_any_order(void **state)
{
    const char *one = "4x4 gpu:a100 nvswitch:200GB/s pcie:4:2/switch sockets:2 "
                      "nic:1x100Gbit/s";
    const char *other = "4x4  nic:1x100Gbit/s\tsockets:2 pcie:4:2/switch "
                        "nvswitch:200GB/s gpu:a100 ";

    assert_string_equal(print(*state, one), print(*state, other));
}

/* What a notation leaves out is printed as its default. */
static void printing_is_complete(void **state)
{
    /* the A40's own 50 GB/s, PCIe 4, root ports, one socket */
    assert_string_equal(
        print(*state, "1x8 gpu:a40 nvswitch"),
        "1x8 gpu:a40 nvswitch:50GB/s pcie:4:1/switch sockets:1");
    assert_string_equal(print(*state, "1x8 gpu:a40 nvlink:mesh:90GB/s"),
                        "1x8 gpu:a40 nvlink:mesh:90GB/s pcie:4:1/switch "
                        "sockets:1");
    /* 100 Gbit/s is 12.5 GB/s */
    assert_string_equal(
        print(*state, "4x8 gpu:a40 pcie:4:2/switch nic:1x100Gbit/s"),
        "4x8 gpu:a40 pcie:4:2/switch sockets:1 nic:1x12.5GB/s");
    assert_string_equal(
        print(*state, "lagom-a"),
        "2x8 gpu:a40 nvlink:pairs:50GB/s pcie:4:1/switch sockets:2 "
        "nic:2x50GB/s");
}

static void printing_again_prints_the_same(void **state)
{
    static const char *const texts[] = {
        "1x1 gpu:a40",
        "1x8 gpu:h100 nvswitch nic:8x400Gbit/s",
        "2x8 gpu:a40 nvlink:pairs:50GB/s pcie:4:2/switch nic:2x400Gbit/s",
        "4x8 gpu:a40 pcie:4:2/switch nic:1x100Gbit/s",
        "1x4 gpu:v100 nvlink:mesh:33.3GB/s pcie:3 sockets:2",
        "lagom-a",
        "lagom-b-1node"};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        const char *once = print(*state, texts[i]);

        assert_string_equal(print(*state, once), once);
    }
}

static void what_is_notation(void **state)
{
    (void)state;
    assert_true(model_notation_is("1x8 gpu:a40"));
    assert_true(model_notation_is("16x8"));
    assert_false(model_notation_is("lagom-a"));
    assert_false(model_notation_is("x8 gpu:a40"));
    assert_false(model_notation_is("8 gpu:a40"));
    assert_false(model_notation_is("2xlarge.yaml"));
    assert_false(model_notation_is(""));
    assert_false(model_notation_is("./1x8"));
}

/* Columns count from 1: the first letter of the word that is wrong. */
static void faults_have_their_column(void **state)
{
    static const struct {
        const char *text;
        int column;
        const char *word, *hint;
    } rows[] = {
        {"2x8 gpu:a40 nvlnk:pairs", 13, "nvlnk:pairs",
         "did you mean \"nvlink\"?"},
        {"2x8 gpu:", 5, "gpu:", "write gpu:a40"},
        {"1x8 gpu:a40 pcie:four", 13, "pcie:four", "pcie:4"},
        {"1x8 gpu:a40 pcie:4:2", 13, "pcie:4:2", "/switch"},
        {"1x8 gpu:a40 pcie:4:2/lane", 13, "pcie:4:2/lane", "/switch"},
        {"1x8 gpu:a40 pcie:4:x/switch", 13, "pcie:4:x/switch", "/switch"},
        {"1x8 gpu:a40 sockets:two", 13, "sockets:two", "sockets:2"},
        {"1x8 gpu:a40 nic:400Gbit/s", 13, "nic:400Gbit/s", "nic:2x400Gbit/s"},
        {"1x8 gpu:a40 nic:ax400Gbit/s", 13, "nic:ax400Gbit/s",
         "nic:2x400Gbit/s"},
        {"1x8 gpu:a40 nvlink:", 13, "nvlink:", "nvlink:pairs"},
        {"1x8 gpu:a40 zzzzzz", 13, "zzzzzz", "write gpu:, nvlink:"},
        {"1x8a gpu:a40", 1, "1x8a", "NODESxGPUS"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};

        assert_null(model_notation_parse(*state, rows[i].text, &errors));
        assert_int_equal(errors.count, 1);
        assert_int_equal(errors.list[0].place.line, 1);
        assert_int_equal(errors.list[0].place.column, rows[i].column);
        assert_non_null(strstr(errors.list[0].message, rows[i].word));
        assert_non_null(strstr(errors.list[0].hint, rows[i].hint));
        assert_string_equal(errors.list[0].excerpt, rows[i].text);
        assert_int_equal(errors.list[0].caret_column, rows[i].column);
    }
}

static void all_words_are_judged(void **state)
{
    struct model_errors errors = {.arena = *state};

    assert_null(model_notation_parse(
        *state, "1x8 gpu: pcie:x nic:2 sockets:", &errors));
    assert_int_equal(errors.count, 4);
}

/* Values are judged by the tables, at the word they came from. */
static void values_are_judged_at_their_word(void **state)
{
    static const struct {
        const char *text, *key;
        int column;
    } rows[] = {
        {"1x8 gpu:a40 nvlink:ring", "node.nvlink.kind", 13},
        {"1x8 gpu:a40 nvswitch:50GB", "node.nvlink.rate", 13},
        {"1x8 gpu:a40 pcie:9", "node.pcie.generation", 13},
        {"1x8 gpu:a40 nic:2x400", "node.nics.rate", 13},
        {"1x8 gpu:a40 nic:0x400Gbit/s", "node.nics.count", 13},
        {"0x8 gpu:a40", "nodes", 1},
        {"1x0 gpu:a40", "node.gpus", 1},
        {"1x8 gpu:a41", "gpu", 5},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_topology t;
        struct model_errors errors = {.arena = *state};

        assert_int_equal(
            model_topology_read(*state, rows[i].text, NULL, 0, &t, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, "");
        assert_int_equal(errors.list[0].place.column, rows[i].column);
    }
}

static void a_gpu_is_needed(void **state)
{
    struct model_topology t;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(
        model_topology_read(*state, "1x8 nvswitch", NULL, 0, &t, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "gpu", "required key is missing");
}

/* A word twice says two things: a fault, not the first or the last of them. */
static void a_word_twice_is_a_fault(void **state)
{
    static const char *const texts[] = {
        "1x8 gpu:a40 gpu:h100", "1x8 gpu:a40 nvswitch nvlink:pairs",
        "1x8 gpu:a40 pcie:4 pcie:5", "1x8 gpu:a40 nic:1x1GB/s nic:2x1GB/s"};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        struct model_topology t;
        struct model_errors errors = {.arena = *state};

        if (model_topology_read(*state, texts[i], NULL, 0, &t, &errors) ==
            MODEL_OK) {
            fail_msg("%s is read as %s", texts[i],
                     model_notation_print(*state, &t));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_set_their_keys),
        cmocka_unit_test(nvlinks_are_listed),
        cmocka_unit_test(networks_are_words),
        cmocka_unit_test(words_come_in_any_order),
        cmocka_unit_test(printing_is_complete),
        cmocka_unit_test(printing_again_prints_the_same),
        cmocka_unit_test(what_is_notation),
        cmocka_unit_test(faults_have_their_column),
        cmocka_unit_test(all_words_are_judged),
        cmocka_unit_test(values_are_judged_at_their_word),
        cmocka_unit_test(a_gpu_is_needed),
        cmocka_unit_test(a_word_twice_is_a_fault),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
