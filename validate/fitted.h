/*
 * fitted.h - which records gave constants to the model, so that for them the
 * table of accuracies shows a fit and no prediction.
 *
 * The file fitted.yaml beside records names them:
 *
 *     fitted:
 *       - {records: stas-h200, collective: all_reduce, gave: "..."}
 *
 * records is a file's name without .csv; without collective it means all of
 * them.
 */
#ifndef VALIDATE_FITTED_H
#define VALIDATE_FITTED_H

#include "model/params.h"
#include "validate/record.h"

struct validate_fit {
    const char *folder;  /* that the file is in, ending with '/', or "" */
    const char *records; /* a name without .csv */
    int kind;            /* enum model_op_kind, or MODEL_UNSET: all */
    const char *gave;    /* what it gave */
};

struct validate_fits {
    struct validate_fit *list;
    int count;
};

/*
 * Read fitted.yaml of each folder of the records, where there is one, and take
 * in what params (may be NULL) were fitted to. Lives in the arena.
 */
enum model_status validate_fits_read(struct model_arena *arena,
                                     const struct validate_records *records,
                                     const struct model_params *params,
                                     struct validate_fits *fits,
                                     struct model_errors *errors);

/* Did the record give a constant? */
bool validate_is_fit(const struct validate_fits *fits,
                     const struct validate_record *record);

#endif
