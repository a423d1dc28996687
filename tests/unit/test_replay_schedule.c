/*
 * test_replay_schedule.c - a workload as one rank launches it, and what NCCL
 * is told by the environment for it.
 */
#include "tests/unit/replay.h"

#include "validate/replay/environment.h"

#define NODE "1x8 gpu:h100 nvswitch"

static void test_equal_ops_share_a_work(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    (void)replay_read(
        *state, NODE,
        "name: w\nops:\n"
        "  - {id: a, kind: gemm, m: 64, n: 32, k: 16, stream: x}\n"
        "  - {id: b, kind: gemm, m: 64, n: 32, k: 16, stream: x}\n"
        "  - {id: c, kind: gemm, m: 64, n: 32, k: 17, stream: x}\n"
        "  - {id: d, kind: memory, hbm: 3 MB, stream: y, after: [a, b]}\n",
        0, false, &schedule, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(schedule.item_count, 3);
    assert_int_equal(schedule.launch_count, 4);
    assert_int_equal(schedule.launches[0].item, schedule.launches[1].item);
    assert_int_equal(schedule.launches[3].after_count, 2);
    assert_int_equal(schedule.launches[3].after[1], 1);
    /* Stream 0 is the held one. */
    assert_int_equal(schedule.launches[0].stream, 1);
    assert_int_equal(schedule.launches[3].stream, 2);
    assert_int_equal(schedule.stream_count, 3);
    assert_string_equal(replay_work_text(*state, &schedule.items[0].work),
                        "{kind: gemm, m: 64, n: 32, k: 16, type: bf16}");
    assert_string_equal(replay_work_text(*state, &schedule.items[2].work),
                        "{kind: memory, hbm: 3 MB}");
}

/* The text of a record must be an op of a workload, and the same one. */
static void test_texts_read_back(void **state)
{
    static const char *const texts[] = {
        "{kind: gemm, m: 64, n: 32, k: 16, batch: 3, type: fp16}",
        "{kind: gemm, m: 64, n: 32, k: 16, sm_limit: 20, type: fp8}",
        "{kind: grouped_gemm, rows: [5, 0, 7], n: 32, k: 16, type: bf16}",
        "{kind: kernel, ctas: 132, ctas_per_sm: 2, cta_threads: 256, "
        "cta_shared: 96 KiB, flops: 2.2 TFLOP, hbm: 400 MB, class: vector, "
        "type: fp32}",
        "{kind: kernel, ctas: 8, hbm: 400 MB}",
        "{kind: memory, hbm: 1 GiB}"};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        struct model_errors errors = {.arena = *state};
        struct replay_schedule schedule;
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "name: w\nops:\n  - {id: a, stream: s, %s\n",
                       texts[i] + 1);
        (void)replay_read(*state, NODE, text, 0, false, &schedule, &errors);
        fixture_no_errors(&errors);
        assert_string_equal(replay_work_text(*state, &schedule.items[0].work),
                            texts[i]);
    }
}

/*
 * On one GPU of 8: all_gather sends (n - 1) / n of the buffer from each rank,
 * all_reduce twice as much, send_recv all.
 */
static void test_one_gpu_stands_in(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    (void)replay_read(*state, NODE,
                      "name: w\nops:\n"
                      "  - {id: a, kind: all_gather, size: 8 MB, stream: x,"
                      " channels: 4, threads: 256, chunk: 64 KiB}\n"
                      "  - {id: b, kind: all_reduce, size: 8 MB, stream: x,"
                      " channels: 4}\n"
                      "  - {id: c, kind: send_recv, size: 8 MB, stream: x,"
                      " channels: 4}\n",
                      0, true, &schedule, &errors);
    fixture_no_errors(&errors);
    for (int i = 0; i < 3; i++) {
        static const double sizes[] = {7e6, 14e6, 8e6};
        const struct replay_item *item = &schedule.items[i];

        assert_int_equal(item->work.kind, REPLAY_RING_STEP);
        assert_int_equal(item->work.collective, MODEL_RING_STEP);
        assert_near(item->work.size_bytes, sizes[i], 1e-6);
        assert_int_equal(item->work.channels, 4);
        /* What nobody fixed, NCCL's model does. */
        assert_true(item->work.threads > 0);
        assert_true(item->work.chunk_bytes > 0.0);
    }
    /* gpu/h100.yaml: channel.shared */
    assert_near(schedule.items[0].work.shared_bytes, 87500.0, 1e-9);
    assert_int_equal(schedule.items[0].work.threads, 256);
    assert_string_equal(schedule.items[1].replaced, "all_reduce");
}

/* On real ranks NCCL itself chooses what nobody fixed. */
static void test_nccl_chooses(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    (void)replay_read(*state, NODE,
                      "name: w\ngroups: {pair: [1, 5]}\n"
                      "ops:\n"
                      "  - {id: a, kind: all_gather, size: 8 MB, stream: x}\n"
                      "  - {id: b, kind: all_gather, size: 8 MB, stream: x,"
                      " group: pair}\n",
                      3, false, &schedule, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(schedule.item_count, 2);
    assert_int_equal(schedule.items[0].work.channels, 0);
    assert_int_equal(schedule.items[0].config.algorithm, MODEL_UNSET);
    assert_false(schedule.items[0].absent);
    assert_true(schedule.items[1].absent); /* rank 3 is not in the pair */
}

/* Ranks 1, 3, 5, 7 make the second group of size 4, stride 2. */
static void test_groups_of_a_rank(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;
    const struct replay_group *group;

    (void)replay_read(*state, NODE,
                      "name: w\ngroups: {odd: {size: 4, stride: 2}}\nops:\n"
                      "  - {id: a, kind: all_gather, size: 8 MB, stream: x,"
                      " group: odd}\n",
                      5, false, &schedule, &errors);
    fixture_no_errors(&errors);
    group = &schedule.groups[schedule.items[0].work.group];
    assert_int_equal(group->count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(group->ranks[i], 1 + 2 * i);
    }
}

static void test_what_cannot_be_replayed(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    assert_int_equal(
        replay_read(*state, NODE,
                    "name: w\nops:\n"
                    "  - {id: a, kind: memory, hbm: 1 MB, start: 3 us}\n",
                    0, false, &schedule, &errors),
        MODEL_BAD_INPUT);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.list[0].key, "start");
    errors.count = 0;
    assert_int_equal(
        replay_read(
            *state, NODE,
            "name: w\nops:\n"
            "  - {id: a, kind: memory, hbm: 1 MB, stream: x, after: [b]}\n"
            "  - {id: b, kind: memory, hbm: 1 MB, stream: y}\n",
            0, false, &schedule, &errors),
        MODEL_BAD_INPUT);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.list[0].key, "after");
}

/* Whoever is before it on the same stream needs no event. */
static void test_a_stream_keeps_its_order(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    (void)replay_read(
        *state, NODE,
        "name: w\nops:\n"
        "  - {id: a, kind: memory, hbm: 1 MB, stream: x}\n"
        "  - {id: b, kind: memory, hbm: 1 MB, stream: y}\n"
        "  - {id: c, kind: memory, hbm: 1 MB, stream: x, after: [a, b]}\n",
        0, false, &schedule, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(schedule.launches[2].after_count, 1);
    assert_int_equal(schedule.launches[2].after[0], 1);
}

/* Steps that stand for an all_gather and a reduce_scatter are equal work, but
   records of their own. */
static void test_each_kind_is_named(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_schedule schedule;

    (void)replay_read(*state, NODE,
                      "name: w\nops:\n"
                      "  - {id: a, kind: all_gather, size: 8 MB, channels: 2,"
                      " threads: 512, chunk: 64 KiB}\n"
                      "  - {id: b, kind: reduce_scatter, size: 8 MB,"
                      " channels: 2, threads: 512, chunk: 64 KiB}\n",
                      0, true, &schedule, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(schedule.item_count, 2);
    assert_true(
        replay_work_same(&schedule.items[0].work, &schedule.items[1].work));
    assert_string_equal(schedule.items[0].replaced, "all_gather");
    assert_string_equal(schedule.items[1].replaced, "reduce_scatter");
}

/* Environments of a schedule, each as "A=1 B=2". */
static const char *environments(struct model_arena *arena,
                                const char *text,
                                struct replay_environment_request *request,
                                struct model_list *notes,
                                struct model_errors *errors)
{
    struct replay_schedule *schedule =
        model_arena_alloc(arena, sizeof(*schedule));
    struct replay_environments list;
    const char *all = "";

    (void)replay_read(arena, NODE, text, 0, false, schedule, errors);
    fixture_no_errors(errors);
    request->schedule = schedule;
    (void)replay_environments_make(arena, request, &list, notes, errors);
    for (int i = 0; i < list.count; i++) {
        for (int j = 0; j < list.list[i].count; j++) {
            all = model_arena_format(arena, "%s%s%s", all, j > 0 ? " " : "",
                                     list.list[i].variables[j]);
        }
        all = model_arena_format(arena, "%s|", all);
    }
    return all;
}

#define AG(id, keys)                                                           \
    "  - {id: " id ", kind: all_gather, size: 8 MB, stream: x" keys "}\n"
#define AR(id, keys)                                                           \
    "  - {id: " id ", kind: all_reduce, size: 9 MB, stream: x" keys "}\n"

/*
 * A ring's chunk is 4 of 8 slots, a tree's one: 512 KiB are a buffer of 1 MiB
 * or of 4 MiB. LL's slots are half flags: 16 x 32 KiB = 512 KiB, the default.
 * 576,000 B of LL128 are 8 x 614,400 = 4,915,200 B, its default, too.
 */
static void test_environment_of_each(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_list notes;
    struct replay_environment_request request = {.version = 21803};

    assert_string_equal(
        environments(*state,
                     "name: w\nops:\n" AG("a", "") AG("b", ", channels: 3")
                         AG("c", ", algorithm: ring, protocol: simple,"
                                 " chunk: 512 KiB, threads: 256")
                             AR("d", ", algorithm: tree, protocol: simple,"
                                     " chunk: 512 KiB")
                                 AR("e", ", protocol: ll, chunk: 32 KiB") AR(
                                     "f", ", protocol: ll128, chunk: 576000 B,"
                                          " threads: 640, transport: shm"),
                     &request, &notes, &errors),
        "|"
        "NCCL_ALGO=Ring NCCL_PROTO=Simple NCCL_NTHREADS=256 "
        "NCCL_BUFFSIZE=1048576|"
        "NCCL_ALGO=Tree NCCL_PROTO=Simple NCCL_BUFFSIZE=4194304|"
        "NCCL_PROTO=LL NCCL_LL_BUFFSIZE=524288|"
        "NCCL_PROTO=LL128 NCCL_LL128_NTHREADS=640 "
        "NCCL_LL128_BUFFSIZE=4915200 NCCL_P2P_DISABLE=1|");
    fixture_no_errors(&errors);
}

static void test_environment_by_function(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_list notes;
    struct replay_environment_request request = {.version = 22400, .one = true};
    static const char text[] = "name: w\nops:\n" AG("a", ", algorithm: ring")
        AR("b", ", algorithm: tree") AG("c", ", algorithm: ring");

    assert_string_equal(environments(*state, text, &request, &notes, &errors),
                        "NCCL_ALGO=AllGather:Ring;AllReduce:Tree|");
    fixture_no_errors(&errors);

    /* Before 2.24 one list is for all. */
    request.version = 21803;
    (void)environments(*state, text, &request, &notes, &errors);
    assert_true(errors.count > 0);
    assert_non_null(strstr(errors.list[0].message, "NCCL_ALGO"));
}

/* Two all_gathers of 8 MB with 128 threads outweigh one of 9 MB. */
static void test_nearest(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_list notes;
    struct replay_environment_request request = {.version = 22809, .one = true};
    static const char text[] = "name: w\nops:\n" AG("a", ", threads: 128")
        AR("b", ", threads: 512") AG("c", ", threads: 128, channels: 2");

    (void)environments(*state, text, &request, &notes, &errors);
    assert_int_equal(errors.count, 1);

    errors.count = 0;
    request.nearest = true;
    assert_string_equal(environments(*state, text, &request, &notes, &errors),
                        "NCCL_NTHREADS=128|");
    fixture_no_errors(&errors);
    assert_int_equal(notes.count, 1);
    assert_string_equal(((const char **)notes.items)[0],
                        "b runs with NCCL_NTHREADS=128, not 512");
}

static void test_what_nccl_does_not_take(void **state)
{
    static const struct {
        const char *keys, *key;
    } rows[] = {{", threads: 96, protocol: ll128", "threads"},
                {", threads: 576", "threads"},
                {", chunk: 1000 B", "chunk"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_list notes;
        struct replay_environment_request request = {.version = 22809};
        char text[256];

        (void)snprintf(text, sizeof(text), "name: w\nops:\n" AG("a", "%s"),
                       rows[i].keys);
        (void)environments(*state, text, &request, &notes, &errors);
        assert_int_equal(errors.count, 1);
        assert_string_equal(errors.list[0].key, rows[i].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ops_share_a_work),
        cmocka_unit_test(test_texts_read_back),
        cmocka_unit_test(test_one_gpu_stands_in),
        cmocka_unit_test(test_nccl_chooses),
        cmocka_unit_test(test_groups_of_a_rank),
        cmocka_unit_test(test_what_cannot_be_replayed),
        cmocka_unit_test(test_a_stream_keeps_its_order),
        cmocka_unit_test(test_each_kind_is_named),
        cmocka_unit_test(test_environment_of_each),
        cmocka_unit_test(test_environment_by_function),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_what_nccl_does_not_take),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
