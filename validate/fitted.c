/*
 * fitted.c - reads fitted.yaml, and matches records with it.
 */
#include "validate/fitted.h"

#include "model/files.h"
#include "model/workload.h"

#include <string.h>

struct fit_row {
    const char *records, *gave;
    int collective; /* enum model_collective_kind */
};

static const struct model_field row_fields[] = {
    {.key = "records",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct fit_row, records),
     .required = true,
     .help = "name of a file of records, without .csv"},
    {.key = "collective",
     .kind = MODEL_FIELD_CHOICE,
     .offset = offsetof(struct fit_row, collective),
     .choices = model_collective_names,
     .help = "only this"},
    {.key = "gave",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct fit_row, gave),
     .required = true,
     .help = "the constants that it gave"},
    {.key = NULL}};

struct fit_file {
    const struct model_node *fitted;
};

static const struct model_field file_fields[] = {
    {.key = "fitted",
     .kind = MODEL_FIELD_NODE,
     .offset = offsetof(struct fit_file, fitted),
     .required = true,
     .fields = row_fields,
     .help = "records that gave constants to the model"},
    {.key = NULL}};

struct fit_reader {
    struct model_arena *arena;
    struct model_errors *errors;
    struct validate_fits *fits;
    int room;
};

static void add_fit(struct fit_reader *reader, struct validate_fit fit)
{
    struct validate_fits *fits = reader->fits;

    fits->list = model_arena_grow(reader->arena, fits->list, fits->count,
                                  &reader->room, sizeof(*fits->list));
    fits->list[fits->count++] = fit;
}

static void read_item(struct fit_reader *reader,
                      const char *folder,
                      const struct model_node *item,
                      int index)
{
    struct model_binding binding = {
        .arena = reader->arena,
        .errors = reader->errors,
        .path = model_arena_format(reader->arena, "fitted[%d]", index)};
    struct fit_row row = {.collective = MODEL_UNSET};

    if (model_schema_bind(&binding, row_fields, item, &row) == MODEL_OK) {
        add_fit(reader, (struct validate_fit){
                            .folder = folder,
                            .records = row.records,
                            .kind = row.collective != MODEL_UNSET
                                        ? row.collective + MODEL_OP_ALL_GATHER
                                        : MODEL_UNSET,
                            .gave = row.gave});
    }
}

static void read_folder(struct fit_reader *reader, const char *folder)
{
    struct model_binding binding = {.arena = reader->arena,
                                    .errors = reader->errors};
    const char *path =
        model_arena_format(reader->arena, "%sfitted.yaml", folder);
    struct fit_file file = {.fitted = NULL};
    const struct model_node *root;
    int index = 0;

    if (!model_file_exists(path)) {
        return;
    }
    root = model_yaml_read_file(reader->arena, path, reader->errors);
    if (root == NULL ||
        model_schema_bind(&binding, file_fields, root, &file) != MODEL_OK) {
        return;
    }
    if (file.fitted->kind != MODEL_SEQUENCE) {
        (void)model_errors_add(
            reader->errors, MODEL_BAD_INPUT, file.fitted->place, "fitted",
            "write - {records: NAME, gave: WHAT} lines", "not a list");
        return;
    }
    for (const struct model_node *item = file.fitted->first; item != NULL;
         item = item->next) {
        read_item(reader, folder, item, index++);
    }
}

/* "a/b/" of "a/b/c.csv". */
static const char *folder_of(struct model_arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL
               ? model_arena_text_n(arena, file, (size_t)(slash - file) + 1)
               : "";
}

static bool is_in_folder(const char *file, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(file, folder, length) == 0 &&
           strchr(file + length, '/') == NULL;
}

/* Has a row before that one the same folder? */
static bool
is_known(const struct validate_records *records, int row, const char *folder)
{
    for (int i = 0; i < row; i++) {
        if (is_in_folder(records->rows[i].place.file, folder)) {
            return true;
        }
    }
    return false;
}

/* Is `text` the file `name`, with or without folder and .csv? */
static bool is_file(const char *text, const char *name)
{
    const char *slash = strrchr(text, '/');
    const char *stem = slash != NULL ? slash + 1 : text;
    size_t length = strlen(name);

    return strncmp(stem, name, length) == 0 &&
           (stem[length] == '\0' || strcmp(stem + length, ".csv") == 0);
}

/* The name of a file without folder and .csv. */
static const char *bare_file(struct model_arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *stem = slash != NULL ? slash + 1 : file;
    size_t length = strlen(stem);

    length -= length > 4 && strcmp(stem + length - 4, ".csv") == 0 ? 4 : 0;
    return model_arena_text_n(arena, stem, length);
}

enum model_status validate_fits_read(struct model_arena *arena,
                                     const struct validate_records *records,
                                     const struct model_params *params,
                                     struct validate_fits *fits,
                                     struct model_errors *errors)
{
    struct fit_reader reader = {.arena = arena, .errors = errors, .fits = fits};
    int before = errors->count;

    *fits = (struct validate_fits){.count = 0};
    for (int i = 0; i < records->count; i++) {
        const char *file = records->rows[i].place.file;

        if (i == 0 || records->rows[i - 1].place.file != file) {
            const char *folder = folder_of(arena, file);

            if (!is_known(records, i, folder)) {
                read_folder(&reader, folder);
            }
        }
    }
    for (int i = 0; params != NULL && i < params->record_count; i++) {
        add_fit(&reader,
                (struct validate_fit){
                    .records = bare_file(arena, params->records[i].file),
                    .kind = MODEL_UNSET,
                    .gave = params->file});
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

bool validate_is_fit(const struct validate_fits *fits,
                     const struct validate_record *record)
{
    for (int i = 0; i < fits->count; i++) {
        const struct validate_fit *fit = &fits->list[i];
        const char *file = record->place.file;

        if (is_file(file, fit->records) &&
            (fit->kind == MODEL_UNSET || fit->kind == record->kind) &&
            (fit->folder == NULL || is_in_folder(file, fit->folder))) {
            return true;
        }
    }
    return false;
}
