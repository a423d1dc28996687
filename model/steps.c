/*
 * steps.c - how many steps an iteration has, and which of them are listed.
 *
 * The micro-batches of an iteration are alike but for the first, which begins
 * on an idle machine, and the last, beside which gradients may be reduced. So
 * of many steps four are listed: the first, two in a row, and the last. The
 * second of the two is the workload's cycle and stands for all between.
 */
#include "model/transformer.h"

#include <string.h>

enum { LISTED = 4 };

int model_steps_listed(const struct model_transformer *t)
{
    return t->simulate == MODEL_SIMULATE_ALL || t->steps <= LISTED ? t->steps
                                                                   : LISTED;
}

int model_steps_begin(struct model_builder *builder,
                      const struct model_transformer *t,
                      int index)
{
    struct model_workload *workload = builder->workload;
    struct model_cycle *cycle = &workload->cycle;
    int left_out = t->steps - model_steps_listed(t);

    if (left_out == 0 || index < LISTED - 2) {
        return index;
    }
    if (index == LISTED - 2) {
        *cycle = (struct model_cycle){.first = workload->op_count,
                                      .repeats = left_out + 1,
                                      .steps = t->steps};
        return index;
    }
    cycle->end = workload->op_count;
    return index + left_out;
}

/* -- the form -- */

static bool is_override(const struct model_node *node)
{
    return node != NULL && strcmp(node->place.file, "--set") == 0;
}

static enum model_status fault(struct model_errors *errors,
                               const struct model_node *node,
                               const char *key,
                               const char *message)
{
    return model_errors_add(errors, MODEL_BAD_INPUT, node->place, key,
                            "write steps, or global: sequences of all replicas",
                            "%s", message);
}

enum model_status model_steps_check(const struct model_node *root,
                                    struct model_transformer *t,
                                    int replicas,
                                    struct model_errors *errors)
{
    const struct model_node *batch = model_node_find(root, "batch");
    const struct model_node *steps = model_node_find(batch, "steps");
    const struct model_node *global = model_node_find(batch, "global");
    double at_once = (double)t->micro_batch * replicas;

    /* What --set says takes the place of the other. */
    if (t->steps > 0 && t->global > 0) {
        if (is_override(steps) == is_override(global)) {
            return fault(errors, global, "batch.global",
                         "there are steps, too: one follows from the other");
        }
        t->steps = is_override(steps) ? t->steps : 0;
        t->global = is_override(steps) ? 0 : t->global;
    }
    if (t->steps == 0 && t->global == 0) {
        return fault(errors, batch, "batch.steps", "required key is missing");
    }
    if (t->global == 0) {
        return MODEL_OK;
    }
    t->steps = (int)(t->global / at_once);
    if (t->steps * at_once < t->global || t->steps == 0) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, global->place, "batch.global",
            "write a multiple",
            "%d sequences do not divide over %d replicas with %d a step",
            t->global, replicas, t->micro_batch);
    }
    return MODEL_OK;
}
