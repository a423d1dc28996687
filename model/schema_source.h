/*
 * schema_source.h - where in the tables a binding stands, its faults, and
 * where its numbers come from (internal to schema*.c).
 */
#ifndef MODEL_SCHEMA_SOURCE_H
#define MODEL_SCHEMA_SOURCE_H

#include "model/schema.h"

/* More rows than any table has; only the list of known keys is cut there. */
enum { MODEL_SCHEMA_ROWS_MAX = 128 };

/* One link of the chain from the root to the value being bound. */
struct model_schema_at {
    const struct model_binding *binding;
    const struct model_schema_at *up;
    const char *name; /* key; NULL: entry `index` of a list, or no prefix */
    int index;
    const struct model_field *field;
    enum model_origin origin; /* of sourced rows */
    const char *source;       /* its full text, or NULL */
};

/* Binds node to the field at target. */
typedef void model_schema_reader(const struct model_schema_at *at,
                                 const struct model_node *node,
                                 void *target);

/* Report a fault at the key path of at. hint may be NULL. */
void model_schema_fault(const struct model_schema_at *at,
                        struct model_place place,
                        const char *hint,
                        const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* Report that node's key is none of names (ended by NULL). */
void model_schema_unknown_report(const struct model_schema_at *at,
                                 const struct model_node *node,
                                 const char *const *names);

/* Set *index to node's place in words (ended by NULL), or report. */
bool model_schema_word_read(const struct model_schema_at *at,
                            const struct model_node *node,
                            const char *const *words,
                            int *index);

/*
 * Take the long form of a sourced row apart: sets origin and source in at and
 * returns the node of the value; a bare value is returned as it is. NULL when
 * there is no value.
 */
const struct model_node *model_schema_claim_read(struct model_schema_at *at,
                                                 const struct model_node *node);

/* Note a number of a sourced row in the provenance, if that is wanted. */
void model_schema_record(const struct model_schema_at *at,
                         const struct model_node *node,
                         double value,
                         enum model_dimension dimension);

#endif
