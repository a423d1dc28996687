/*
 * test_arena.c - memory by phase: alignment, zeroing, reuse, and the way out
 * when memory ends.
 */
#include "model/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_zero_and_aligned(void **state)
{
    (void)state;
    struct model_arena *arena = model_arena_new();
    for (size_t size = 1; size < 5000; size += 37) {
        unsigned char *piece = model_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(piece[i], 0);
        }
        memset(piece, 0xFF, size);
    }
    model_arena_free(arena);
}

static void size_zero_gives_a_pointer(void **state)
{
    (void)state;
    struct model_arena *arena = model_arena_new();
    assert_non_null(model_arena_alloc(arena, 0));
    assert_non_null(model_arena_array(arena, 0, 8));
    assert_non_null(model_arena_array(arena, 8, 0));
    model_arena_free(arena);
    model_arena_free(NULL);
}

static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    struct model_arena *arena = model_arena_new();
    unsigned char *piece[COUNT];
    for (int i = 0; i < COUNT; i++) {
        /* every 50th is larger than any block */
        size_t size = i % 50 == 49 ? (size_t)2 << 20 : (size_t)(i + 1);
        piece[i] = model_arena_alloc(arena, size);
        memset(piece[i], i % 251, size);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(piece[i][0], i % 251);
        assert_int_equal(piece[i][i % 50 == 49 ? (2 << 20) - 1 : i], i % 251);
    }
    model_arena_free(arena);
}

/* A reset arena serves the same requests without asking the system. */
static void reset_reuses_memory(void **state)
{
    (void)state;
    struct model_arena *arena = model_arena_new();
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i < 300; i++) {
            char *piece = model_arena_alloc(arena, (size_t)i * 16);
            assert_int_equal(piece[0], 0);
            memset(piece, 1, (size_t)i * 16);
        }
        /* 16 * (1 + ... + 299) = 16 * 44850 */
        assert_int_equal(model_arena_used_bytes(arena), 717600);
        model_arena_reset(arena);
        assert_int_equal(model_arena_used_bytes(arena), 0);
        model_arena_fail_after(0);
    }
    model_arena_fail_after(-1);
    model_arena_free(arena);
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct model_arena *arena = model_arena_new();
    char word[] = "abcdef";
    char *whole = model_arena_text(arena, word);
    char *part = model_arena_text_n(arena, word, 3);
    word[0] = 'x';
    assert_string_equal(whole, "abcdef");
    assert_string_equal(part, "abc");
    assert_string_equal(model_arena_text_n(arena, NULL, 0), "");
    assert_string_equal(model_arena_format(arena, "%d-%s", 7, part), "7-abc");
    char *wide = model_arena_format(arena, "%5000d", 1);
    assert_int_equal(strlen(wide), 5000);
    model_arena_free(arena);
}

static bool overflow_leaves(size_t count, size_t size)
{
    jmp_buf guard;
    struct model_arena *arena = model_arena_new();
    if (setjmp(guard) != 0) {
        model_arena_free(arena);
        return true;
    }
    model_arena_guard(arena, &guard);
    model_arena_array(arena, count, size);
    model_arena_free(arena);
    return false;
}

static void overflow_counts_as_no_memory(void **state)
{
    (void)state;
    /* 2^33 * 2^33 = 2^66 wraps to 4 in 64 bits */
    assert_true(overflow_leaves((size_t)1 << 33, ((size_t)1 << 33) + 1));
    assert_true(overflow_leaves(SIZE_MAX, 1));
    assert_true(overflow_leaves(SIZE_MAX - 40, 1));
    assert_false(overflow_leaves(3, 5));
}

/* Allocation number `fail` of the system fails; true when all succeeded. */
static bool many_pieces_succeed(long fail)
{
    jmp_buf guard;
    model_arena_fail_after(fail);
    struct model_arena *arena = model_arena_new();
    if (arena == NULL || setjmp(guard) != 0) {
        model_arena_fail_after(-1);
        model_arena_free(arena);
        return false;
    }
    assert_null(model_arena_guard(arena, &guard));
    for (int i = 0; i < 100; i++) {
        model_arena_format(arena, "%200d", i);
    }
    model_arena_fail_after(-1);
    assert_ptr_equal(model_arena_guard(arena, NULL), &guard);
    model_arena_free(arena);
    return true;
}

static void each_failure_ends_in_the_guard(void **state)
{
    (void)state;
    long fail = 0;
    while (!many_pieces_succeed(fail)) {
        fail++;
    }
    /* the arena itself, and 100 pieces of 208 bytes in blocks of 1, 2, 4 .. KiB
     * (or, under AddressSanitizer, 100 blocks) */
    assert_true(fail >= 6 && fail <= 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_and_aligned),
        cmocka_unit_test(size_zero_gives_a_pointer),
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(reset_reuses_memory),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(overflow_counts_as_no_memory),
        cmocka_unit_test(each_failure_ends_in_the_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
