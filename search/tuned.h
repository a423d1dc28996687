/*
 * tuned.h - what the commands of search/ share: inputs, a strategy run on
 * them, progress on a terminal.
 */
#ifndef SEARCH_TUNED_H
#define SEARCH_TUNED_H

#include "search/strategy.h"
#include "sim/json.h"
#include "sim/load.h"

/* An iteration, and its parts (search_busy). */
struct search_times {
    double iteration_us;
    double compute_us, comm_us, exposed_us;
    double spread_us; /* of measured iterations */
};

/* Searches under noise beside the one without (--trials). */
struct search_trials {
    int count;
    int found; /* the same plan, or one that is at most SEARCH_AS_GOOD slower */
    double mean_loss_ratio; /* of an iteration, without noise; < 0: faster */
    double worst_loss_ratio;
};

/* How much slower a plan may be that counts as found again. */
#define SEARCH_AS_GOOD 0.01

/* What a strategy made of an input. */
struct search_tuned {
    struct search_problem problem;
    struct search_outcome outcome;
    const struct search_evaluator_kind *evaluator; /* that searched */
    double searched_us; /* what that says of the outcome's iteration */
    double nccl_us;     /* an iteration with NCCL's own choice */
    /* Simulated, or measured where the evaluator measures. */
    struct search_times times; /* of the outcome */
    struct search_times nccl;  /* of NCCL's own choice */
    double simulated_us;       /* an iteration of the outcome, in any case */
    double simulated_nccl_us;
    struct search_trials trials;
};

/*
 * Run a strategy on an input; progress goes to cli->log. It measures by the
 * evaluator of --evaluator, with the noise of --noise and --repeats; the times
 * of its outcome and of NCCL's choice are those of a real machine where that
 * measures one, otherwise simulated, without noise.
 * With --trials the outcome is that without noise, and tuned->trials says what
 * becomes of it with.
 */
enum model_status search_tune(struct sim_cli *cli,
                              const struct sim_input *input,
                              const struct search_strategy *strategy,
                              struct search_tuned *tuned);

/* Whether the options of the noise make sense, and how much there is; before
 * inputs are read. search_tune calls it, too. */
enum model_status search_tune_check(struct sim_cli *cli, double *noise_ratio);

/* The noise, if there is any, as members of a JSON object. */
void search_put_noise(const struct sim_cli *cli, struct sim_json *object);

/* A strategy to run. */
struct search_entry {
    const struct search_strategy *strategy;
    uint64_t budget; /* evaluations that it may use; 0: as --budget says */
    uint64_t seed;
};

/*
 * The same for several runs, which share what was measured. label comes
 * before a strategy's name in what is shown of the progress. Several threads
 * may do this at once, each with an input and a cli (arena, errors) of its own.
 */
enum model_status search_tune_all(struct sim_cli *cli,
                                  const struct sim_input *input,
                                  const char *label,
                                  const struct search_entry *entries,
                                  int count,
                                  struct search_tuned *const *tuned);

enum model_status search_command_run(struct sim_cli *cli);
enum model_status search_command_explain(struct sim_cli *cli);
enum model_status search_command_tune(struct sim_cli *cli);
enum model_status search_command_compare(struct sim_cli *cli);
enum model_status search_command_perf(struct sim_cli *cli);

#endif
