/*
 * measured.c - options of the commands that take records.
 */
#include "validate/measured.h"

#include "model/files.h"
#include "model/units.h"

static const char MIN_SIZE[] = "1 MiB";

enum model_status validate_min_size_read(struct sim_cli *cli, double *bytes)
{
    const char *text =
        cli->options.min_size != NULL ? cli->options.min_size : MIN_SIZE;
    struct model_place nowhere = {"lagom", 0, 0};

    if (strcmp(text, "0") == 0) {
        *bytes = 0.0;
        return MODEL_OK;
    }
    return model_units_parse(text, MODEL_BYTES, bytes, NULL) == MODEL_OK
               ? MODEL_OK
               : model_errors_add(cli->errors, MODEL_USAGE, nowhere, NULL,
                                  "write such as 64KiB, 1MiB, 0",
                                  "--min-size cannot be %s", text);
}

const char *validate_records_path(struct sim_cli *cli, const char *name)
{
    struct model_place nowhere = {"lagom", 0, 0};

    return model_file_find(cli->arena, VALIDATE_RECORDS_FOLDER, name, nowhere,
                           NULL, cli->errors);
}
