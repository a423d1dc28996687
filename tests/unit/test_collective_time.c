/*
 * test_collective_time.c - a lone collective's time from its figures, by hand.
 */
#include "model/collective_time.h"

#include "tests/unit/fixture.h"

/*
 * 4 first steps of 1000 bytes. NICs let 100 bytes/us pass, 10 us a step, the
 * other hops 1000, 1 us; a quarter of the steps passes the network. On the mean
 * a step takes 0.75 x 1 + 0.25 x 10 = 3.25 us and its latency, but no less than
 * the NIC does. At 500 bytes/us 2 us of each are progress.
 */
static void steps_over_the_network(void **state)
{
    struct model_collective collective = {.step_bytes = 1000,
                                          .step_latency_us = 20,
                                          .network_ratio = 0.25,
                                          .near_bytes_per_us = 1000,
                                          .first_steps = 4,
                                          .start_us = 7};

    (void)state;
    assert_near(model_collective_fill_us(&collective, 500, 100),
                7 + 4 * (20 + 3.25 - 2), 1e-9);
    collective.step_latency_us = 0.1;
    assert_near(model_collective_fill_us(&collective, 500, 100),
                7 + 4 * (10 - 2), 1e-9);
    /* none passes it: all links are alike */
    collective.network_ratio = 0;
    assert_near(model_collective_fill_us(&collective, 500, 100),
                7 + 4 * (10.1 - 2), 1e-9);
}

/*
 * A first chunk's way of 30 us, or of 4000 bytes at the links' pace, 40 us, of
 * which 1000 bytes are progress, 2 us.
 */
static void a_first_chunk(void **state)
{
    struct model_collective collective = {
        .fill_us = 30, .first_bytes = 1000, .start_us = 7};

    (void)state;
    assert_near(model_collective_fill_us(&collective, 500, 100), 7 + 30 - 2,
                1e-9);
    collective.fill_bytes = 4000;
    assert_near(model_collective_fill_us(&collective, 500, 100), 7 + 40 - 2,
                1e-9);
    /* no less than nothing */
    collective = (struct model_collective){.fill_us = 1, .first_bytes = 1000};
    assert_near(model_collective_fill_us(&collective, 500, 100), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_over_the_network),
        cmocka_unit_test(a_first_chunk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
