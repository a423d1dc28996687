/*
 * test_streaming.c - bytes and operations of streaming kernels by hand.
 */
#include "model/streaming.h"

#include "tests/unit/fixture.h"

/* 1000 elements, two read and one written, of 2 bytes: 6000; 10 flops each. */
static void elementwise_moves_its_operands(void **state)
{
    struct model_streaming s =
        model_streaming_elementwise(MODEL_BF16, 1000, 2, 1);

    (void)state;
    assert_near(s.bytes, 6000, 0);
    assert_near(s.flops, 10000, 0);
    assert_near(model_streaming_elementwise(MODEL_FP32, 1000, 2, 1).bytes,
                12000, 0);
}

/*
 * 10 rows of 100: x and y, 2000 accesses of 2 bytes; mean and rstd of 10 rows,
 * 80 bytes; weight and bias, 200 accesses. 8 operations an element.
 */
static void a_norm_reads_and_writes_once(void **state)
{
    struct model_streaming s =
        model_streaming_norm(MODEL_BF16, 10, 100, false, false);

    (void)state;
    assert_near(s.bytes, 4000 + 80 + 400, 0);
    assert_near(s.flops, 8000, 0);
    /* the other input and the sum: 2000 accesses more, one addition */
    s = model_streaming_norm(MODEL_BF16, 10, 100, true, false);
    assert_near(s.bytes, 8000 + 80 + 400, 0);
    assert_near(s.flops, 9000, 0);
}

/*
 * Backward: x, dy, dx, 3000 accesses; statistics 80; weight and two gradients,
 * 300. With a residual the gradient of the sum, 1000 more.
 */
static void a_norm_backward_reads_two(void **state)
{
    struct model_streaming s =
        model_streaming_norm(MODEL_BF16, 10, 100, false, true);

    (void)state;
    assert_near(s.bytes, 6000 + 80 + 600, 0);
    assert_near(s.flops, 13000, 0);
    s = model_streaming_norm(MODEL_BF16, 10, 100, true, true);
    assert_near(s.bytes, 8000 + 80 + 600, 0);
    assert_near(s.flops, 14000, 0);
}

/*
 * bf16: gradient 2, weight 2, master and two moments 3 x 8: 28 bytes. fp32: the
 * gradient 4, weight and moments 24: 28 too.
 */
static void adamw_keeps_fp32(void **state)
{
    (void)state;
    assert_near(model_streaming_optimizer(MODEL_BF16, 1000).bytes, 28000, 0);
    assert_near(model_streaming_optimizer(MODEL_FP32, 1000).bytes, 28000, 0);
    assert_near(model_streaming_optimizer(MODEL_FP8, 1000).bytes, 26000, 0);
    assert_near(model_streaming_optimizer(MODEL_BF16, 1000).flops, 15000, 0);
}

static void a_copy_reads_and_writes(void **state)
{
    (void)state;
    assert_near(model_streaming_copy(1000).bytes, 2000, 0);
    assert_near(model_streaming_copy(1000).flops, 0, 0);
}

/*
 * 16 loads on each of 10 SMs: 3.2e6 bytes, 20,000 each; no reuse. 8e6 flops:
 * 50,000 each, at 2e6 x 0.8 / 10 = 160,000 flops/us 0.3125 us.
 */
static void its_kernel_is_a_roofline(void **state)
{
    static const struct model_gpu gpu = {
        .sm_count = 10,
        .vector_flops_per_us = 2e6,
        .class_ratio = {[MODEL_CLASS_VECTOR] = 0.8},
        .streaming_cta = {128, 24, 0},
    };
    struct model_streaming s = {.bytes = 3.2e6};
    struct model_kernel kernel = model_streaming_kernel(&gpu, &s, 0);

    (void)state;
    assert_int_equal(kernel.loads, 160);
    assert_near(kernel.load_us, 0, 0);
    assert_near_ratio(kernel.load_bytes, 20000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 20000, 1e-12);
    assert_near(kernel.working_set_bytes, 0, 0);
    assert_int_equal(kernel.cta_threads, 128);
    assert_int_equal(kernel.cta_registers, 24);
    assert_int_equal(kernel.ctas_per_sm, 0); /* what fits */
    s.flops = 8e6;
    kernel = model_streaming_kernel(&gpu, &s, 4);
    assert_near_ratio(kernel.load_us, 0.3125, 1e-12);
    assert_int_equal(kernel.sm_limit, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_moves_its_operands),
        cmocka_unit_test(a_norm_reads_and_writes_once),
        cmocka_unit_test(a_norm_backward_reads_two),
        cmocka_unit_test(adamw_keeps_fp32),
        cmocka_unit_test(a_copy_reads_and_writes),
        cmocka_unit_test(its_kernel_is_a_roofline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
