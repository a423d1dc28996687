/*
 * explain_words.h - what an explanation says in sentences (internal to the
 * command). Each sentence is computed: it is left out, or NULL, when the
 * numbers do not bear it. Texts live in the arena.
 */
#ifndef SEARCH_EXPLAIN_WORDS_H
#define SEARCH_EXPLAIN_WORDS_H

#include "search/explain.h"

/* What is below this share of a whole is not worth a word. */
extern const double search_worth_ratio;

/* "955.9 ms", "12.3 us"; "6 MiB"; "612 GB/s"; "7 %". */
const char *search_words_time(struct model_arena *arena, double time_us);
const char *search_words_bytes(struct model_arena *arena, double bytes);
const char *search_words_rate(struct model_arena *arena, double bytes_per_us);
const char *search_words_share(struct model_arena *arena, double ratio);

/* What a resource is, by its name: "NVLink", "a NIC"; a static text. */
const char *search_words_resource(const char *name);

/* The label of a part without what all parts of its window begin with. */
const char *search_words_label(const struct search_explanation *it,
                               const struct sim_part *part);

/* Iteration, computation, communication, and what is the least. */
const char *search_words_headline(struct model_arena *arena,
                                  const struct search_explanation *it);

/* A window's time, and what bounds it. */
const char *search_words_window(struct model_arena *arena,
                                const struct search_explanation *it,
                                const struct sim_window *window);

/*
 * "HBM 0.60 ms (6.9 %), ..." of what counts in a whole of count instances, or
 * "". Losses of kernels and of collectives have names of their own.
 */
const char *search_words_losses(struct model_arena *arena,
                                const struct sim_lost *lost,
                                bool kernels,
                                double whole_us,
                                int count);

/* Is a part kernels of that window? */
bool search_is_kernel_of(const struct search_explanation *it,
                         const struct sim_part *part,
                         int window);

/* How much its kernels lose to whom, or NULL when it is little. */
const char *search_words_kernels(struct model_arena *arena,
                                 const struct sim_window *window);

/* X and Y by Lagom's cost model beside those simulated, or NULL. */
const char *search_words_model(struct model_arena *arena,
                               const struct search_explanation *it,
                               int window);

/* The windows that a search finds, a line each; ended by NULL. */
const char *const *search_words_found(struct model_arena *arena,
                                      const struct search_explanation *it);

/* What bounds the longest kernel of a window when it runs alone. */
const char *search_words_alone(struct model_arena *arena,
                               const struct search_explanation *it,
                               int window);

/* Numbers behind a loss of the kernels of a window to SMs, L2, HBM. */
const char *search_words_sms(struct model_arena *arena,
                             const struct search_explanation *it,
                             int window);
const char *search_words_l2(struct model_arena *arena,
                            const struct search_explanation *it,
                            int window);
const char *search_words_hbm(struct model_arena *arena,
                             const struct search_explanation *it,
                             int window);

/* How fast a collective is, and those that are alike; what sets its pace, what
 * it loses. */
const char *search_words_collective(struct model_arena *arena,
                                    const struct search_explanation *it,
                                    const struct sim_part *part);

/* Do two collectives of a window differ in no more than their kind? */
bool search_words_alike(const struct search_explanation *it,
                        const struct sim_part *a,
                        const struct sim_part *b);

/* "HBM 44 %, L2 31 %": to whom a part lost its time. */
const char *search_words_reasons(struct model_arena *arena,
                                 const struct search_explanation *it,
                                 const struct sim_part *part);

#endif
