/*
 * schema.h - one row of a table per key gives reading, defaults, ranges, error
 * messages with a place, suggestions for unknown keys, and `lagom help KEY`.
 *
 * A struct is bound by the table of its fields:
 *
 *     static const struct model_field hbm_fields[] = {
 *         {.key = "rate",
 *          .kind = MODEL_FIELD_QUANTITY,
 *          .dimension = MODEL_RATE,
 *          .offset = offsetof(struct model_gpu, hbm_bytes_per_us),
 *          .required = true,
 *          .sourced = true,
 *          .help = "peak HBM bandwidth"},
 *         {.key = NULL}};
 *
 * Numbers that describe hardware are `sourced`: in the file they are written
 * {value: 696 GB/s, from: datasheet, source: a40-datasheet}, where `source`
 * names an entry of the file's top-level mapping `sources`, or is itself the
 * full text when it holds a blank. datasheet, measured and fitted need a
 * source. A bare scalar is accepted too and counts as a guess without source,
 * or as an override when --set put it there. Every sourced number that was
 * read is recorded in struct model_provenance.
 */
#ifndef MODEL_SCHEMA_H
#define MODEL_SCHEMA_H

#include "model/units.h"
#include "model/yaml.h"

#include <stdbool.h>
#include <stddef.h>

enum model_field_kind {
    MODEL_FIELD_QUANTITY,   /* double, base units of .dimension */
    MODEL_FIELD_COUNT,      /* int */
    MODEL_FIELD_BOOL,       /* bool: true or false */
    MODEL_FIELD_TEXT,       /* const char *, in the arena */
    MODEL_FIELD_CHOICE,     /* int: index into .choices */
    MODEL_FIELD_STRUCT,     /* nested mapping, bound by .fields at .offset */
    MODEL_FIELD_LIST,       /* sequence of mappings, each bound by .fields:
                               struct model_list at .offset */
    MODEL_FIELD_QUANTITIES, /* sequence of scalars of .dimension:
                               struct model_list of double */
    MODEL_FIELD_TEXTS, /* sequence of scalars: model_list of const char * */
    MODEL_FIELD_NODE   /* const struct model_node *: left to the caller */
};

/* items points to count elements in the arena. */
struct model_list {
    void *items;
    int count;
};

/* A table ends with a row whose key is NULL. */
struct model_field {
    const char *key;
    enum model_field_kind kind;
    enum model_dimension dimension;
    size_t offset;
    double min, max; /* inclusive, in base units; both 0: any value >= 0;
                        max below min: no upper limit */
    bool required;
    bool sourced;
    bool one_or_more;                 /* QUANTITIES: a scalar is a list of one,
                                         and an empty list is refused */
    const char *default_text;         /* read as if it stood in the file when
                                         the key is absent; NULL: the target
                                         keeps its value */
    const char *const *choices;       /* ended by NULL */
    const struct model_field *fields; /* STRUCT, LIST */
    size_t item_bytes;                /* LIST: size of one element */
    size_t present_offset;            /* STRUCT: offset + 1 of a bool set when
                                         the mapping was given; 0: none */
    const char *help;
};

enum model_origin {
    MODEL_FROM_DATASHEET, /* stated by its maker or owner, or in its source */
    MODEL_FROM_MEASURED,
    MODEL_FROM_FITTED,
    MODEL_FROM_GUESS,
    MODEL_FROM_OVERRIDE, /* --set */
    MODEL_ORIGINS
};

/* "datasheet", "measured", "fitted", "guess", "override". */
extern const char *const model_origin_names[MODEL_ORIGINS + 1];

/* One sourced number that was read. */
struct model_provenance_entry {
    const char *path; /* "hbm.rate" */
    const char *file;
    enum model_origin origin;
    const char *source; /* full text of the source, or NULL */
    double value;
    enum model_dimension dimension;
    const struct model_field *field; /* its row, for the range */
    struct model_provenance_entry *next;
};

struct model_provenance {
    struct model_provenance_entry *first, *last;
    int count[MODEL_ORIGINS];
};

/* What a binding needs besides the table. All borrowed. */
struct model_binding {
    struct model_arena *arena;
    struct model_errors *errors;
    struct model_provenance *provenance; /* NULL: not wanted */
    const struct model_node *sources;    /* mapping name -> text, or NULL */
    const char *path;                    /* prefix of key paths, or NULL */
};

/*
 * Bind mapping to *target by the table. All faults are reported; returns
 * MODEL_OK when this call found none, else MODEL_BAD_INPUT. Texts are borrowed
 * from the tree. Fields keep what *target held where neither key nor default is
 * given; an absent optional STRUCT still gets the defaults of its rows. NODE
 * rows judge nothing.
 */
enum model_status model_schema_bind(const struct model_binding *binding,
                                    const struct model_field *fields,
                                    const struct model_node *mapping,
                                    void *target);

/*
 * Print the table as help: key, kind with dimension, range, default, text;
 * nested tables indented. path (such as "hbm.rate") narrows it; returns false
 * when there is no such key.
 */
bool model_schema_help(const struct model_field *fields,
                       const char *path,
                       FILE *stream);

/* "from 1 GB/s to 2 TB/s", "of at least 1", or "" for a row without range. */
char *model_schema_range_print(const struct model_field *field,
                               char *buffer,
                               size_t buffer_bytes);

#endif
