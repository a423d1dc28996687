/*
 * claim.h - speedups that a publication reports for a workload.
 *
 * In a workload's file,
 *
 *     published:
 *       - {strategy: lagom, over: autoccl, min: 1.03, max: 1.27,
 *          topologies: [lagom-a, lagom-b], source: "..."}
 *
 * says that `strategy` is between min and max times as fast as `over` on each
 * of the topologies. A single claim may stand there without the list; strategy
 * and over are lagom and nccl when left out.
 */
#ifndef MODEL_CLAIM_H
#define MODEL_CLAIM_H

#include "model/schema.h"

struct model_claim {
    const char *strategy;
    const char *over;
    double min_ratio, max_ratio;
    struct model_list topologies; /* of const char *: names */
    const char *source;
    struct model_place place; /* in the file, for messages */
};

/* Keys of a claim, for help. */
extern const struct model_field model_claim_fields[];

/*
 * Read the key `published` of a workload's tree, which may lack it, into a list
 * of struct model_claim. Texts are borrowed from the tree. Faults go to errors.
 */
enum model_status model_claims_read(struct model_arena *arena,
                                    const struct model_node *root,
                                    struct model_list *claims,
                                    struct model_errors *errors);

/* Whether the claim is about the topology of that name. */
bool model_claim_names(const struct model_claim *claim, const char *topology);

#endif
