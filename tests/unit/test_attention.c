/*
 * test_attention.c - fused attention by hand: CTAs, flops, bytes with and
 * without reuse, the working set, and causal imbalance.
 */
#include "model/attention.h"

#include "tests/unit/fixture.h"

/* 10 SMs of 100,000 flops/us for attention, and CTAs of 128 rows. */
static const struct model_gpu gpu = {
    .sm_count = 10,
    .peak_flops_per_us = {[MODEL_BF16] = 2e6},
    .class_ratio = {[MODEL_CLASS_ATTENTION] = 0.5},
    .attention_rows = 128,
    .attention_cta = {128, 255, 49152},
    .l2_bytes = 1e9,
};

/* 2 sequences, 8 heads over 2 kv heads, 512 queries and keys, width 64. */
static const struct model_attention shape = {.batch = 2,
                                             .heads = 8,
                                             .kv_heads = 2,
                                             .sequence = 512,
                                             .keys = 512,
                                             .head_width = 64};

static struct model_attention causal_shape(bool backward)
{
    struct model_attention a = shape;

    a.causal = true;
    a.backward = backward;
    return a;
}

static struct model_kernel kernel_of(const struct model_attention *a)
{
    return model_attention_kernel(&gpu, MODEL_BF16, a, MODEL_WAVES, 0);
}

/*
 * 4 x 2 x 8 x 512 x 512 x 64 = 1,073,741,824 flops; causal half; backward 2.5
 * times.
 */
static void flops_of_both_products(void **state)
{
    struct model_attention a = shape;

    (void)state;
    assert_near_ratio(model_attention_flops(&a), 1073741824, 1e-15);
    a = causal_shape(false);
    assert_near_ratio(model_attention_flops(&a), 536870912, 1e-15);
    a = causal_shape(true);
    assert_near_ratio(model_attention_flops(&a), 1342177280, 1e-15);
}

/*
 * 512 queries after 1536 earlier tokens: the first sees 1536, the last 2048,
 * the mean 1792 = 2048 - 512 / 2.
 */
static void later_queries_see_earlier_keys(void **state)
{
    struct model_attention a = causal_shape(false);

    (void)state;
    a.keys = 2048;
    assert_near_ratio(model_attention_flops(&a), 4.0 * 2 * 8 * 512 * 1792 * 64,
                      1e-15);
}

/*
 * Q and O have 2 x 8 x 512 x 64 = 524,288 elements each, K and V 2 x 2 x 512 x
 * 64 = 131,072: (1,048,576 + 262,144) x 2 bytes; log-sums of 8192 rows: 32,768.
 */
static void forward_moves_each_operand_once(void **state)
{
    (void)state;
    assert_near_ratio(model_attention_bytes(&shape, MODEL_BF16),
                      1310720 * 2 + 32768, 1e-15);
}

/*
 * Backward, per element of Q: O, dO; Q, dO; dQ: 10 bytes, and the fp32 sum
 * cleared, read, written, read: 16. K, V, dK, dV 8 bytes. A row's log-sum is
 * read, its row sum written and read: 12.
 */
static void backward_sums_dq_in_fp32(void **state)
{
    struct model_attention a = causal_shape(true);

    (void)state;
    assert_near_ratio(model_attention_bytes(&a, MODEL_BF16),
                      524288 * 26.0 + 131072 * 8.0 + 8192 * 12.0, 1e-15);
}

/*
 * 2 x 8 x 4 = 64 CTAs of 16,777,216 flops: 167.77 us. Without L2 each loads K
 * and V of its head, 512 x 64 x 2 x 2 = 131,072 bytes; its part of Q, O and
 * log-sums is (2,097,152 + 32,768) / 64 = 33,280. With L2 K and V come once:
 * 524,288 / 64 = 8192. 10 SMs work on 2.5 heads, less than the 4 that share K
 * and V: one of them.
 */
static void a_forward_grid(void **state)
{
    struct model_kernel kernel = kernel_of(&shape);

    (void)state;
    assert_int_equal(kernel.loads, 64);
    assert_near_ratio(kernel.load_us, 167.77216, 1e-12);
    assert_near_ratio(kernel.load_bytes, 33280 + 8192, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 33280 + 131072, 1e-12);
    assert_near_ratio(kernel.working_set_bytes, 131072, 1e-12);
    assert_int_equal(kernel.cta_threads, 128);
    assert_int_equal(kernel.cta_registers, 255);
    assert_near(kernel.cta_shared_bytes, 49152, 0);
    assert_int_equal(kernel.ctas_per_sm, 1);
    /* in bytes and rows alone: 513 queries need a fifth CTA */
    struct model_attention longer = shape;
    longer.sequence = 513;
    assert_int_equal(kernel_of(&longer).loads, 80);
}

/*
 * Causal: blocks of 128 see 128, 256, 384, 512 keys, 320 in the mean: without
 * L2 320 x 256 = 81,920 bytes.
 */
static void a_causal_cta_loads_what_it_sees(void **state)
{
    struct model_attention a = causal_shape(false);
    struct model_kernel kernel = kernel_of(&a);

    (void)state;
    assert_near_ratio(kernel.load_bytes, 33280 + 8192, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 33280 + 81920, 1e-12);
}

/*
 * 64 causal CTAs in 7 waves of 10: the mean, 83.89 us. Of one sequence and one
 * head, 4 CTAs in one wave: the last sees 512 keys, 1.6 times the mean of 320:
 * 134.2 us. In two waves, on 2 SMs, half of that, so the mean.
 */
static void few_causal_ctas_wait_for_the_longest(void **state)
{
    struct model_attention a = causal_shape(false);

    (void)state;
    assert_near_ratio(kernel_of(&a).load_us, 83.88608, 1e-12);
    a.batch = 1;
    a.heads = 1;
    a.kv_heads = 1;
    assert_int_equal(kernel_of(&a).loads, 4);
    assert_near_ratio(kernel_of(&a).load_us, 1.6 * 83.88608, 1e-12);
    assert_near_ratio(
        model_attention_kernel(&gpu, MODEL_BF16, &a, MODEL_WAVES, 2).load_us,
        83.88608, 1e-12);
}

/*
 * Backward: as many CTAs, 2.5 times the flops. Each goes over Q and dO and adds
 * to the sums of dQ: 512 x 64 x (2 x 2 + 2 x 4) = 393,216 bytes a head. 2.5
 * heads in a wave. Of the 14,778,368 bytes in all 16 x 393,216 = 6,291,456 are
 * these.
 */
static void a_backward_grid(void **state)
{
    struct model_attention a = shape;
    struct model_kernel kernel;

    (void)state;
    a.backward = true;
    kernel = kernel_of(&a);
    assert_int_equal(kernel.loads, 64);
    assert_near_ratio(kernel.load_us, 2.5 * 167.77216, 1e-12);
    assert_near_ratio(kernel.load_bytes, 14778368 / 64.0, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes,
                      (14778368 - 6291456) / 64.0 + 393216, 1e-12);
    assert_near_ratio(kernel.working_set_bytes, 2.5 * 393216, 1e-12);
}

/*
 * 16,384 keys of a head, 4 MiB, with an L2 of 1 MB: 128 CTAs of each of 4 heads
 * that share them, 10 at a time: 51.2 waves, each of which loads them.
 */
static void what_l2_cannot_hold_is_loaded_by_each_wave(void **state)
{
    struct model_gpu g = gpu;
    struct model_attention a = shape;
    struct model_kernel kept;
    struct model_kernel lost;

    (void)state;
    a.sequence = 16384;
    a.keys = 16384;
    kept = model_attention_kernel(&g, MODEL_BF16, &a, MODEL_WAVES, 0);
    g.l2_bytes = 1e6;
    lost = model_attention_kernel(&g, MODEL_BF16, &a, MODEL_WAVES, 0);
    assert_near_ratio(kept.working_set_bytes, 4194304, 1e-12);
    /* 2 sequences x 2 kv heads x 4 MiB over 2048 CTAs: 8192 bytes */
    assert_near_ratio(lost.load_bytes - kept.load_bytes, 50.2 * 8192, 1e-12);
    assert_near_ratio(lost.load_no_reuse_bytes, kept.load_no_reuse_bytes,
                      1e-12);
}

/* Neither bound crosses the other, whatever the shape. */
static void reuse_never_costs(void **state)
{
    static const double sizes[] = {1, 100, 129, 1000, 5000};

    (void)state;
    for (int i = 0; i < 5 * 5 * 8; i++) {
        struct model_attention a = {.batch = 1 + i % 2,
                                    .heads = 4,
                                    .kv_heads = i % 3 == 0 ? 1 : 4,
                                    .sequence = sizes[i % 5],
                                    .keys = sizes[i / 5 % 5],
                                    .head_width = 64,
                                    .causal = i / 25 % 2 == 0,
                                    .backward = i / 50 % 2 == 0};
        struct model_kernel kernel;

        if (a.causal && a.keys < a.sequence) {
            a.keys = a.sequence;
        }
        kernel = kernel_of(&a);
        assert_true(kernel.loads >= 1 && kernel.load_us > 0);
        assert_true(kernel.load_bytes > 0 &&
                    kernel.load_bytes <= kernel.load_no_reuse_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flops_of_both_products),
        cmocka_unit_test(later_queries_see_earlier_keys),
        cmocka_unit_test(forward_moves_each_operand_once),
        cmocka_unit_test(backward_sums_dq_in_fp32),
        cmocka_unit_test(a_forward_grid),
        cmocka_unit_test(a_causal_cta_loads_what_it_sees),
        cmocka_unit_test(few_causal_ctas_wait_for_the_longest),
        cmocka_unit_test(a_backward_grid),
        cmocka_unit_test(what_l2_cannot_hold_is_loaded_by_each_wave),
        cmocka_unit_test(reuse_never_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
