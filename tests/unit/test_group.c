/*
 * test_group.c - ranks of communicators: lists, patterns, families that hold
 * every rank once; which of them reach over nodes.
 */
#include "model/group.h"

#include "tests/unit/fixture.h"

static struct model_group family_of(int size, int stride)
{
    return (struct model_group){
        .name = "g", .count = size, .stride = stride, .family = true};
}

static void
expect_ranks(const struct model_group *group, const int *ranks, int count)
{
    assert_int_equal(group->count, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(model_group_rank(group, i), ranks[i]);
        assert_int_equal(model_group_member(group, ranks[i]), i);
    }
}

/* A stride of 0, as in {.count = n}, counts as 1. */
static void a_pattern_is_counted(void **state)
{
    struct model_group world = {.name = "world", .count = 4};
    struct model_group apart = {
        .name = "apart", .first = 3, .count = 3, .stride = 4};

    (void)state;
    expect_ranks(&world, (const int[]){0, 1, 2, 3}, 4);
    expect_ranks(&apart, (const int[]){3, 7, 11}, 3);
    assert_int_equal(model_group_member(&world, 4), -1);
    assert_int_equal(model_group_member(&world, -1), -1);
    assert_int_equal(model_group_member(&apart, 0), -1);
    assert_int_equal(model_group_member(&apart, 5), -1);
    assert_int_equal(model_group_member(&apart, 15), -1);
    assert_int_equal(model_group_instances(&apart, 16), 1);
    assert_int_equal(model_group_instance_of(&apart, 7), 0);
}

static void a_list_is_searched(void **state)
{
    static const int ranks[] = {0, 2, 3, 9};
    struct model_group list = {.name = "list", .ranks = ranks, .count = 4};

    (void)state;
    expect_ranks(&list, ranks, 4);
    assert_int_equal(model_group_member(&list, 1), -1);
    assert_int_equal(model_group_member(&list, 8), -1);
    assert_int_equal(model_group_member(&list, 10), -1);
    assert_int_equal(model_group_instances(&list, 16), 1);
    assert_ptr_equal(model_group_instance(&list, 0).ranks, ranks);
}

/*
 * {size: 4, stride: 2} of 16 ranks, as group.h has it: 0 2 4 6 | 1 3 5 7 |
 * 8 10 12 14 | 9 11 13 15.
 */
static void a_family_by_hand(void **state)
{
    static const int groups[4][4] = {
        {0, 2, 4, 6}, {1, 3, 5, 7}, {8, 10, 12, 14}, {9, 11, 13, 15}};
    struct model_group family = family_of(4, 2);

    (void)state;
    assert_int_equal(model_group_instances(&family, 16), 4);
    for (int i = 0; i < 4; i++) {
        struct model_group one = model_group_instance(&family, i);

        assert_false(one.family);
        expect_ranks(&one, groups[i], 4);
        for (int j = 0; j < 4; j++) {
            assert_int_equal(model_group_instance_of(&family, groups[i][j]), i);
            assert_int_equal(model_group_member(&family, groups[i][j]), j);
        }
    }
}

/* Each rank is in exactly one group, whose members are in order. */
static void check_family(const struct model_group *family, int ranks)
{
    int instances = model_group_instances(family, ranks);
    int seen = 0;

    assert_int_equal(instances * family->count, ranks);
    for (int i = 0; i < instances; i++) {
        struct model_group one = model_group_instance(family, i);

        for (int member = 0; member < one.count; member++) {
            int rank = model_group_rank(&one, member);

            assert_in_range(rank, 0, ranks - 1);
            assert_int_equal(model_group_instance_of(family, rank), i);
            assert_int_equal(model_group_member(&one, rank), member);
            assert_int_equal(model_group_member(family, rank), member);
            seen++;
        }
    }
    assert_int_equal(seen, ranks);
}

/* Its groups one by one, and their ranks. */
static bool spans(const struct model_group *family, int ranks, int gpus)
{
    for (int i = 0; i < model_group_instances(family, ranks); i++) {
        struct model_group one = model_group_instance(family, i);

        for (int member = 1; member < one.count; member++) {
            if (model_group_rank(&one, member) / gpus !=
                model_group_rank(&one, 0) / gpus) {
                return true;
            }
        }
    }
    return false;
}

static void all_families_of_few_ranks(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 48; ranks++) {
        for (int size = 1; size <= ranks; size++) {
            for (int stride = 1; size * stride <= ranks; stride++) {
                struct model_group family = family_of(size, stride);

                if (ranks % (size * stride) != 0) {
                    continue;
                }
                check_family(&family, ranks);
                for (int gpus = 1; gpus <= ranks; gpus++) {
                    if (ranks % gpus == 0 &&
                        model_group_spans_nodes(&family, gpus) !=
                            spans(&family, ranks, gpus)) {
                        fail_msg("size %d, stride %d, %d GPUs a node", size,
                                 stride, gpus);
                    }
                }
            }
        }
    }
}

static void single_groups_reach_over_nodes(void **state)
{
    static const int within[] = {8, 9, 15};
    static const int beyond[] = {9, 15, 16};
    struct model_group world = {.name = "world", .count = 8};
    struct model_group near = {.name = "near", .ranks = within, .count = 3};
    struct model_group far = {.name = "far", .ranks = beyond, .count = 3};

    (void)state;
    assert_false(model_group_spans_nodes(&world, 8));
    assert_true(model_group_spans_nodes(&world, 4));
    assert_false(model_group_spans_nodes(&near, 8));
    assert_true(model_group_spans_nodes(&far, 8));
}

/*
 * Groups of 4 on nodes of 8 do, groups of 16 too, those of 3 do not: ranks 6, 7
 * and 8 are on two nodes. {size: 4, stride: 6} has blocks of 24, 3 nodes.
 */
static void what_can_be_folded(void **state)
{
    static const int ranks[] = {0, 1};
    static const struct {
        int size, stride;
        bool folds;
    } rows[] = {{4, 1, true},  {4, 2, true},  {2, 8, true},   {16, 1, true},
                {8, 8, true},  {3, 1, false}, {3, 2, false},  {6, 1, false},
                {2, 3, false}, {4, 6, true},  {12, 1, false}, {1, 1, true}};
    struct model_group list = {.name = "list", .ranks = ranks, .count = 2};
    struct model_group world = {.name = "world", .count = 24};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_group family = family_of(rows[i].size, rows[i].stride);

        assert_int_equal(model_group_folds(&family, 8), rows[i].folds);
    }
    assert_false(model_group_folds(&list, 8));
    assert_true(model_group_folds(&world, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_is_counted),
        cmocka_unit_test(a_list_is_searched),
        cmocka_unit_test(a_family_by_hand),
        cmocka_unit_test(all_families_of_few_ranks),
        cmocka_unit_test(single_groups_reach_over_nodes),
        cmocka_unit_test(what_can_be_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
