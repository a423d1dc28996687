/*
 * test_ranks.c - ranks that differ: the keys `mixed` and `variation`, who has
 * which GPU and speed, what is refused, and the law of jitter.
 */
#include "model/ranks.h"
#include "sim/jitter.h"

#include "tests/unit/fixture.h"

static struct model_topology *
with(struct model_arena *arena, const char *const *sets, int count)
{
    return fixture_topology(arena, "2x4 gpu:a40 nic:1x100Gbit/s", sets, count);
}

/* Ranks 4 to 7 are node 1, rank 2 is on node 0. */
static void a_rank_has_its_gpu(void **state)
{
    static const char *const sets[] = {
        "mixed=[{nodes: [1], gpu: h100}, {ranks: [2], gpu: v100}]"};
    static const char *const names[] = {"a40",  "a40",  "v100", "a40",
                                        "h100", "h100", "h100", "h100"};
    struct model_topology *t = with(*state, sets, 1);

    assert_true(model_ranks_differ(t));
    assert_int_equal(model_ranks_gpu_count(t), 3);
    for (int rank = 0; rank < 8; rank++) {
        assert_string_equal(model_ranks_gpu(t, rank)->name, names[rank]);
    }
    assert_int_equal(model_ranks_gpu_at(t, 1)->sm_count, 132);
    assert_int_equal(model_ranks_gpu_at(t, 2)->sm_count, 80);
    assert_int_equal(t->gpu.sm_count, 84);
}

/* Their numbers have sources and are counted like those of the first GPU. */
static void numbers_of_all_gpus_are_counted(void **state)
{
    static const char *const sets[] = {"mixed=[{ranks: [0], gpu: a40}]"};
    const struct model_topology *one = with(*state, NULL, 0);
    const struct model_topology *two = with(*state, sets, 1);
    int gpu_numbers = 0;
    int more = 0;

    for (const struct model_provenance_entry *e = one->provenance.first;
         e != NULL; e = e->next) {
        gpu_numbers += strncmp(e->path, "gpu.", 4) == 0 ? 1 : 0;
    }
    for (const struct model_provenance_entry *e = two->provenance.first;
         e != NULL; e = e->next) {
        more += strncmp(e->path, "mixed[0].gpu.", 13) == 0 ? 1 : 0;
    }
    assert_true(gpu_numbers > 20);
    assert_int_equal(more, gpu_numbers);
}

static void slow_ranks_and_jitter_are_read(void **state)
{
    static const char *const sets[] = {
        "variation.ranks=[{rank: 3, slow: 1.2}, {rank: 7, slow: 0.9}]",
        "variation.jitter=2%"};
    static const char *const alone[] = {"variation.jitter=0.5%"};
    struct model_topology *t = with(*state, sets, 2);

    assert_true(model_ranks_differ(t));
    assert_near(t->variation.jitter_ratio, 0.02, 1e-15);
    assert_near(model_ranks_slow_ratio(t, 3), 1.2, 0);
    assert_near(model_ranks_slow_ratio(t, 7), 0.9, 0);
    assert_near(model_ranks_slow_ratio(t, 0), 1, 0);
    assert_true(model_ranks_differ(with(*state, alone, 1)));
    assert_false(model_ranks_differ(with(*state, NULL, 0)));
}

static void
expect_refusal(struct model_arena *arena, const char *set, const char *part)
{
    struct model_topology topology;
    struct model_errors errors = {.arena = arena};

    assert_int_equal(model_topology_read(arena, "2x4 gpu:a40 nic:1x100Gbit/s",
                                         &set, 1, &topology, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, part);
}

static void what_does_not_exist_is_refused(void **state)
{
    expect_refusal(*state, "mixed=[{nodes: [2], gpu: h100}]", "no such number");
    expect_refusal(*state, "mixed=[{ranks: [8], gpu: h100}]", "no such number");
    expect_refusal(*state, "mixed=[{gpu: h100}]", "either nodes or ranks");
    expect_refusal(*state, "mixed=[{nodes: [0], ranks: [4], gpu: h100}]",
                   "either nodes or ranks");
    expect_refusal(*state, "mixed=[{nodes: [0]}]", "required key is missing");
    expect_refusal(*state,
                   "mixed=[{nodes: [0], gpu: h100}, {ranks: [3], gpu: v100}]",
                   "rank 3 has a GPU already");
    expect_refusal(*state, "variation.ranks=[{rank: 8, slow: 2}]",
                   "no such rank");
    expect_refusal(*state,
                   "variation.ranks=[{rank: 1, slow: 2}, {rank: 1, slow: 3}]",
                   "rank 1 stands here twice");
    expect_refusal(*state, "variation.ranks=[{rank: 1}]",
                   "required key is missing");
    expect_refusal(*state, "variation.jitter=-1%", "");
    expect_refusal(*state, "variation.jitter=2 us", "");
}

/*
 * Of 20,000 factors with s = 0.1: the mean is 1 (deviation of the mean 0.0007),
 * that of the logarithm -0.005, its deviation 0.1 (0.0005); one in 6.3 is above
 * exp(0.1 - 0.005) = 1.0997 (0.0026 of 0.1587).
 */
static void jitter_is_log_normal(void **state)
{
    enum { COUNT = 20000 };
    double sum = 0;
    double log_sum = 0;
    double square_sum = 0;
    int above = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        double factor = sim_jitter_factor(1, i % 16, i / 16, 0.1);

        sum += factor;
        log_sum += log(factor);
        square_sum += (log(factor) + 0.005) * (log(factor) + 0.005);
        above += factor > exp(0.095) ? 1 : 0;
    }
    assert_near(sum / COUNT, 1, 0.003);
    assert_near(log_sum / COUNT, -0.005, 0.003);
    assert_near(sqrt(square_sum / COUNT), 0.1, 0.002);
    assert_near((double)above / COUNT, 0.1587, 0.01);
}

/* Twice the same; another seed, rank, op or sign of none is another factor. */
static void a_factor_depends_on_seed_rank_and_op(void **state)
{
    double factor = sim_jitter_factor(1, 2, 3, 0.02);

    (void)state;
    assert_near(sim_jitter_factor(1, 2, 3, 0.02), factor, 0);
    assert_true(fabs(sim_jitter_factor(2, 2, 3, 0.02) - factor) > 1e-9);
    assert_true(fabs(sim_jitter_factor(1, 3, 3, 0.02) - factor) > 1e-9);
    assert_true(fabs(sim_jitter_factor(1, 2, 4, 0.02) - factor) > 1e-9);
    assert_true(fabs(sim_jitter_factor(1, 3, 2, 0.02) - factor) > 1e-9);
    /* the same draw, ten times as wide: log f = s z - s^2 / 2 */
    assert_near((log(factor) + 0.0002) * 10,
                log(sim_jitter_factor(1, 2, 3, 0.2)) + 0.02, 1e-12);
    assert_near(sim_jitter_factor(1, 2, 3, 0), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_has_its_gpu),
        cmocka_unit_test(numbers_of_all_gpus_are_counted),
        cmocka_unit_test(slow_ranks_and_jitter_are_read),
        cmocka_unit_test(what_does_not_exist_is_refused),
        cmocka_unit_test(jitter_is_log_normal),
        cmocka_unit_test(a_factor_depends_on_seed_rank_and_op),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
