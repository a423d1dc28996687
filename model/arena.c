/*
 * arena.c - memory that is given out piece by piece and freed all at once.
 *
 * An arena is a list of blocks. A request is served from the current block, or
 * from the first later one with room (they are there after a reset), or from a
 * new block put behind the current one; blocks double up to 1 MiB. Under
 * AddressSanitizer each piece gets a block of its own, so that a write past
 * its end is seen. This file knows nothing of what is stored.
 */
#include "model/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_SANITIZED 1
#endif
#endif
#ifndef ARENA_SANITIZED
#define ARENA_SANITIZED 0
#endif

enum {
    ARENA_ALIGNMENT = alignof(max_align_t),
    ARENA_BLOCK_MIN = 1 << 10,
    ARENA_BLOCK_MAX = 1 << 20
};

/* No machine has as much; sums of sizes below it cannot overflow. */
static const size_t arena_piece_max = SIZE_MAX >> 24;

struct arena_block {
    struct arena_block *next;
    size_t capacity;
    size_t used;
    max_align_t data[];
};

struct model_arena {
    struct arena_block *first;
    struct arena_block *current;
    size_t block_bytes; /* capacity of the next block */
    size_t used_bytes;
    jmp_buf *guard;
};

static long arena_requests_left = -1; /* test hook; negative: off */

static void *arena_system_alloc(size_t size)
{
    if (arena_requests_left == 0) {
        return NULL;
    }
    if (arena_requests_left > 0) {
        arena_requests_left--;
    }
    return malloc(size);
}

struct model_arena *model_arena_new(void)
{
    struct model_arena *arena = arena_system_alloc(sizeof *arena);
    if (arena != NULL) {
        *arena = (struct model_arena){.block_bytes = ARENA_BLOCK_MIN};
    }
    return arena;
}

void model_arena_free(struct model_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    struct arena_block *block = arena->first;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

jmp_buf *model_arena_guard(struct model_arena *arena, jmp_buf *guard)
{
    jmp_buf *before = arena->guard;
    arena->guard = guard;
    return before;
}

_Noreturn void model_arena_raise(struct model_arena *arena)
{
    if (arena->guard == NULL) {
        abort();
    }
    longjmp(*arena->guard, 1);
}

void model_arena_reset(struct model_arena *arena)
{
    for (struct arena_block *b = arena->first; b != NULL; b = b->next) {
        b->used = 0;
    }
    arena->current = arena->first;
    arena->used_bytes = 0;
}

static size_t arena_block_room(const struct arena_block *block)
{
    return block->capacity - block->used;
}

static size_t arena_block_capacity(struct model_arena *arena, size_t size)
{
    if (ARENA_SANITIZED || size >= arena->block_bytes) {
        return size;
    }
    size_t capacity = arena->block_bytes;
    if (capacity < ARENA_BLOCK_MAX) {
        arena->block_bytes *= 2;
    }
    return capacity;
}

/* A new block behind the current one, with room for size bytes. */
static struct arena_block *arena_block_new(struct model_arena *arena,
                                           size_t size)
{
    size_t capacity = arena_block_capacity(arena, size);
    struct arena_block *block = arena_system_alloc(sizeof *block + capacity);
    if (block == NULL) {
        model_arena_raise(arena);
    }
    struct arena_block **link =
        arena->current == NULL ? &arena->first : &arena->current->next;
    *block = (struct arena_block){.next = *link, .capacity = capacity};
    *link = block;
    return block;
}

/*
 * The block to serve a request. A request as large as a whole block does not
 * move `current`, or what is left of the block would be lost to small ones.
 */
static struct arena_block *arena_block_find(struct model_arena *arena,
                                            size_t size)
{
    struct arena_block *block = arena->current;
    while (block != NULL && arena_block_room(block) < size) {
        block = block->next;
    }
    if (block == NULL) {
        block = arena_block_new(arena, size);
    }
    if (ARENA_SANITIZED || arena->current == NULL || size < ARENA_BLOCK_MAX) {
        arena->current = block;
    }
    return block;
}

void *model_arena_alloc(struct model_arena *arena, size_t size)
{
    if (size > arena_piece_max) {
        model_arena_raise(arena);
    }
    /* Rounding would hide short overruns from AddressSanitizer; there each
     * piece starts a block and needs none. */
    size_t need = size == 0 ? 1 : size;
    if (!ARENA_SANITIZED) {
        need = (need + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    }
    struct arena_block *block = arena_block_find(arena, need);
    char *piece = (char *)block->data + block->used;
    block->used = ARENA_SANITIZED ? block->capacity : block->used + need;
    arena->used_bytes += need;
    return memset(piece, 0, size);
}

void *model_arena_array(struct model_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        model_arena_raise(arena);
    }
    return model_arena_alloc(arena, count * size);
}

char *
model_arena_text_n(struct model_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        model_arena_raise(arena);
    }
    char *copy = model_arena_alloc(arena, length + 1);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

void *model_arena_grow(struct model_arena *arena,
                       void *items,
                       int count,
                       int *room,
                       size_t item_bytes)
{
    void *larger;

    if (count < *room) {
        return items;
    }
    *room = *room == 0 ? 16 : 2 * *room;
    larger = model_arena_array(arena, (size_t)*room, item_bytes);
    if (count > 0) {
        memcpy(larger, items, (size_t)count * item_bytes);
    }
    return larger;
}

char *model_arena_text(struct model_arena *arena, const char *text)
{
    return model_arena_text_n(arena, text, strlen(text));
}

char *model_arena_format_list(struct model_arena *arena,
                              const char *format,
                              va_list values)
{
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        model_arena_raise(arena);
    }
    char *text = model_arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, values);
    return text;
}

char *model_arena_format(struct model_arena *arena, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = model_arena_format_list(arena, format, values);
    va_end(values);
    return text;
}

size_t model_arena_used_bytes(const struct model_arena *arena)
{
    return arena->used_bytes;
}

void model_arena_fail_after(long count)
{
    arena_requests_left = count;
}
