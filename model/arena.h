/*
 * arena.h - memory by phase: load, lower, run.
 *
 * Objects of one phase are carved from one arena and freed by one call.
 * arena.c is the only file of the testbed that calls malloc.
 *
 * Allocation never returns NULL. When memory runs out the arena leaves by
 * longjmp to the guard that its owner set:
 *
 *     jmp_buf guard;
 *     struct model_arena *arena = model_arena_new();
 *     if (arena == NULL || setjmp(guard) != 0) {
 *         model_arena_free(arena);
 *         return MODEL_FAULT;
 *     }
 *     model_arena_guard(arena, &guard);
 *
 * Without a guard the process aborts. An arena belongs to one thread.
 */
#ifndef MODEL_ARENA_H
#define MODEL_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct model_arena;

/* A new, empty arena, or NULL when memory ran out. The caller frees it. */
struct model_arena *model_arena_new(void);

/* Free the arena and all that it gave out. NULL is allowed. */
void model_arena_free(struct model_arena *arena);

/*
 * Where to go when memory runs out; the guard must outlive its use. Returns
 * the guard before, so that code holding a foreign resource (a descriptor, a
 * libyaml parser) can put its own guard in between, let go, and raise again.
 */
jmp_buf *model_arena_guard(struct model_arena *arena, jmp_buf *guard);

/* Leave through the guard as if memory had run out. */
_Noreturn void model_arena_raise(struct model_arena *arena);

/* Forget all that was given out, keep the memory for reuse. */
void model_arena_reset(struct model_arena *arena);

/* Zeroed memory, aligned for any type. size 0 gives a valid pointer. */
void *model_arena_alloc(struct model_arena *arena, size_t size);

/* Zeroed array of count elements of size bytes; overflow counts as no memory.
 */
void *model_arena_array(struct model_arena *arena, size_t count, size_t size);

/*
 * Room for one more element behind `count` of an array that has `room`: the
 * array itself, or a copy of twice the size, whose room is then set.
 */
void *model_arena_grow(struct model_arena *arena,
                       void *items,
                       int count,
                       int *room,
                       size_t item_bytes);

/* A copy of text (of its first length bytes), ended by NUL. */
char *model_arena_text(struct model_arena *arena, const char *text);
char *
model_arena_text_n(struct model_arena *arena, const char *text, size_t length);

/* Formatted text, as sprintf and vsprintf. */
char *model_arena_format(struct model_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *model_arena_format_list(struct model_arena *arena,
                              const char *format,
                              va_list values)
    __attribute__((format(printf, 2, 0)));

/* Bytes in use, for reports and tests. */
size_t model_arena_used_bytes(const struct model_arena *arena);

/*
 * Tests only: let the next `count` requests to the system succeed and each
 * later one fail; a negative count switches the hook off. Not thread-safe.
 */
void model_arena_fail_after(long count);

#endif
