/*
 * files.h - where shipped data files are.
 *
 * A user names a topology or workload by path or by the bare name of a shipped
 * one ("lagom-a"). Searched, in order: the text as a path, $LAGOM_DATA, the
 * working directory, the source tree or prefix that the program runs from, the
 * prefix that it was built for.
 */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include "model/arena.h"
#include "model/error.h"

#include <stdbool.h>

/*
 * The path of `name` (with or without ".yaml" or ".csv") as written or in
 * `folder` ("topologies", "topologies/gpu", "workloads", "validate/records") of
 * a search place. Returns
 * NULL after reporting the fault at `place` (key may be NULL), with the
 * nearest shipped name as hint. "-" stands for itself.
 */
const char *model_file_find(struct model_arena *arena,
                            const char *folder,
                            const char *name,
                            struct model_place place,
                            const char *key,
                            struct model_errors *errors);

/* The shipped names in a folder, ended by NULL; some may stand twice. */
const char *const *model_file_names(struct model_arena *arena,
                                    const char *folder);

/* The path of a program beside the one that runs, or NULL; it need not be
 * there.
 */
const char *model_file_beside(struct model_arena *arena, const char *program);

/*
 * The paths of the files with that ending in a folder of the first search place
 * that has some, in the order of their names; ended by NULL.
 */
const char *const *model_file_shipped(struct model_arena *arena,
                                      const char *folder,
                                      const char *ending);

/* True when the text names something in the file system. */
bool model_file_exists(const char *path);

#endif
