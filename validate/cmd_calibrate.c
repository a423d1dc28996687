/*
 * cmd_calibrate.c - `lagom calibrate`: numbers of a GPU and topology from
 * records, into a file for --params.
 */
#include "validate/calibrate_print.h"
#include "validate/commands.h"

#include "sim/load.h"
#include "sim/output.h"
#include "validate/measured.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOLD_OUT     (1.0 / 3.0)
#define HOLD_OUT_MAX 0.9

enum { JOBS_MAX = 256 };

/* Files of records, read one after the other. */
struct sources {
    struct validate_records all;
    struct model_params_records *files;
    int *first_rows; /* of each file */
    int count;
};

static const struct model_place nowhere = {"lagom", 0, 0};

static enum model_status
usage(struct sim_cli *cli, const char *key, const char *hint, const char *what)
{
    return model_errors_add(cli->errors, MODEL_USAGE, nowhere, key, hint, "%s",
                            what);
}

/* -- records -- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static enum model_status
read_file(struct sim_cli *cli, const char *file, struct sources *sources)
{
    struct validate_records one = {.count = 0};
    struct validate_records *all = &sources->all;
    struct validate_record *rows;
    const char *path = validate_records_path(cli, file);
    enum model_status status =
        path != NULL
            ? validate_records_read(cli->arena, path, &one, cli->errors)
            : MODEL_BAD_INPUT;

    if (status != MODEL_OK) {
        return status;
    }
    rows = model_arena_array(cli->arena, (size_t)all->count + (size_t)one.count,
                             sizeof(*rows));
    if (all->count > 0) {
        memcpy(rows, all->rows, (size_t)all->count * sizeof(*rows));
    }
    if (one.count > 0) {
        memcpy(rows + all->count, one.rows, (size_t)one.count * sizeof(*rows));
    }
    sources->first_rows[sources->count] = all->count;
    sources->files[sources->count++] =
        (struct model_params_records){base_name(path), 0, one.hash};
    all->rows = rows;
    all->count += one.count;
    return MODEL_OK;
}

/* A file given twice would have its rows count twice. */
static enum model_status
check_last(struct sim_cli *cli, const struct sources *sources, int first)
{
    const struct model_params_records *last =
        &sources->files[sources->count - 1];

    for (int i = first; i < sources->count - 1; i++) {
        if (sources->files[i].hash == last->hash) {
            return usage(
                cli, NULL, "leave one of them out",
                model_arena_format(cli->arena, "%s holds the same as %s",
                                   last->file, sources->files[i].file));
        }
    }
    return MODEL_OK;
}

static enum model_status read_files(struct sim_cli *cli,
                                    const struct sim_cli_list *files,
                                    struct sources *sources)
{
    int first = sources->count;

    for (int i = 0; i < files->count; i++) {
        enum model_status status = read_file(cli, files->items[i], sources);

        if (status == MODEL_OK) {
            status = check_last(cli, sources, first);
        }
        if (status != MODEL_OK) {
            return status;
        }
    }
    return MODEL_OK;
}

/* Those to fit, then those to hold out. */
static enum model_status
read_records(struct sim_cli *cli, struct sources *sources, int *held_out_from)
{
    const struct sim_options *options = &cli->options;
    size_t files =
        (size_t)options->operands.count + (size_t)options->held_out.count;
    enum model_status status;

    *sources = (struct sources){
        .files = model_arena_array(cli->arena, files, sizeof(*sources->files)),
        .first_rows = model_arena_array(cli->arena, files, sizeof(int))};
    if (options->operands.count == 0) {
        return usage(cli, NULL, "write lagom calibrate my-runs.csv -t ...",
                     "no records given");
    }
    status = read_files(cli, &options->operands, sources);
    *held_out_from = sources->all.count;
    return status == MODEL_OK ? read_files(cli, &options->held_out, sources)
                              : status;
}

/* How many rows of each file were fitted. */
static void count_rows(struct sources *sources,
                       const struct validate_calibration *calibration)
{
    int before = -1;

    for (int i = 0; i < calibration->row_count; i++) {
        const struct validate_calibrated_row *row = &calibration->rows[i];
        int file = sources->count - 1;

        while (sources->first_rows[file] > row->row) {
            file--;
        }
        if (!row->held_out && row->row != before) {
            sources->files[file].rows++;
            before = row->row;
        }
    }
}

/* -- options -- */

static enum model_status read_hold_out(struct sim_cli *cli, double *ratio)
{
    const char *text = cli->options.hold_out;

    return text == NULL ||
                   model_units_parse(text, MODEL_RATIO, ratio, NULL) == MODEL_OK
               ? MODEL_OK
               : usage(cli, "--hold-out", "write 0 to 0.9, or 25 %",
                       model_arena_format(cli->arena, "cannot be %s", text));
}

/* --fit PATH,PATH, as a list. */
static enum model_status
read_patterns(struct sim_cli *cli, struct validate_calibration_options *options)
{
    const struct sim_cli_list *given = &cli->options.fits;
    const char **patterns = NULL;
    int room = 0;

    for (int i = 0; i < given->count; i++) {
        char *state = NULL;
        char *copy = model_arena_text(cli->arena, given->items[i]);

        for (char *name = strtok_r(copy, ",", &state); name != NULL;
             name = strtok_r(NULL, ",", &state)) {
            patterns =
                model_arena_grow(cli->arena, patterns, options->pattern_count,
                                 &room, sizeof(*patterns));
            patterns[options->pattern_count++] = name;
        }
    }
    options->patterns = patterns;
    return given->count > 0 && options->pattern_count == 0
               ? usage(cli, "--fit", "write --fit gpu.channel.rate",
                       "no path given")
               : MODEL_OK;
}

static enum model_status
read_topology(struct sim_cli *cli, struct validate_calibration_options *options)
{
    const struct sim_cli_list *given = &cli->options.topologies;
    struct sim_sets others;
    struct sim_sets sets;

    if (given->count > 1) {
        return usage(cli, "-t", "leave it out where rows name theirs",
                     "this command takes one topology");
    }
    sim_load_split(cli, &sets, &others);
    if (others.count > 0) {
        return usage(cli, "--set", NULL, "there is no workload here");
    }
    options->sets = (const char *const *)sets.items;
    options->set_count = sets.count;
    options->topology = given->count > 0 ? given->items[0] : NULL;
    return options->topology != NULL
               ? sim_load_params_check(cli, options->topology)
               : MODEL_OK;
}

static enum model_status
read_options(struct sim_cli *cli, struct validate_calibration_options *options)
{
    const struct sim_options *given = &cli->options;

    options->seed = given->seed;
    options->jobs = (int)(given->jobs < JOBS_MAX ? given->jobs : JOBS_MAX);
    options->hold_out = given->held_out.count > 0 ? 0.0 : HOLD_OUT;
    if (validate_min_size_read(cli, &options->min_bytes) != MODEL_OK ||
        read_hold_out(cli, &options->hold_out) != MODEL_OK) {
        return MODEL_USAGE;
    }
    if (options->hold_out > HOLD_OUT_MAX) {
        return usage(cli, "--hold-out", "write 0 to 0.9",
                     "too few rows would be left to fit");
    }
    return read_patterns(cli, options) == MODEL_OK ? read_topology(cli, options)
                                                   : MODEL_USAGE;
}

/* -- the file -- */

/* Is a text of the form "dddd-dd-dd" a day of some year? */
static bool is_day(const char *text)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 10 * (text[5] - '0') + text[6] - '0';
    int day = 10 * (text[8] - '0') + text[9] - '0';

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

/* --date, or today by UTC. */
static enum model_status read_date(struct sim_cli *cli, const char **date)
{
    static const char form[] = "dddd-dd-dd";
    const char *given = cli->options.date;
    time_t now = time(NULL);
    struct tm today;
    char text[16];

    if (given == NULL) {
        (void)strftime(text, sizeof(text), "%Y-%m-%d", gmtime_r(&now, &today));
        *date = model_arena_text(cli->arena, text);
        return MODEL_OK;
    }
    for (size_t i = 0; i < sizeof(form); i++) {
        bool digit = given[i] >= '0' && given[i] <= '9';

        if (form[i] == 'd' ? !digit : given[i] != form[i]) {
            return usage(cli, "--date", "write --date 2026-11-30", "not a day");
        }
    }
    *date = given;
    return is_day(given)
               ? MODEL_OK
               : usage(cli, "--date", "write --date 2026-11-30", "not a day");
}

/* The file's name without folder and .yaml. */
static const char *name_of(struct sim_cli *cli)
{
    const char *path = cli->options.output;
    const char *base = path != NULL ? base_name(path) : NULL;
    size_t length = base != NULL ? strlen(base) : 0;

    if (cli->options.name != NULL || length == 0) {
        return cli->options.name != NULL ? cli->options.name : "fit";
    }
    if (length > 5 && strcmp(base + length - 5, ".yaml") == 0) {
        length -= 5;
    }
    return model_arena_text_n(cli->arena, base, length);
}

static struct model_params params_of(struct sim_cli *cli,
                                     const struct sources *sources,
                                     const struct validate_calibration *of,
                                     const char *date)
{
    struct model_params params = {.name = name_of(cli),
                                  .date = date,
                                  .records = sources->files,
                                  .count = of->parameter_count,
                                  .covariance = of->fit.covariance};

    params.list = model_arena_array(cli->arena, (size_t)params.count,
                                    sizeof(*params.list));
    for (int j = 0; j < params.count; j++) {
        const struct validate_calibrated *parameter = &of->parameters[j];

        params.list[j] = (struct model_param){.path = parameter->path,
                                              .dimension = parameter->dimension,
                                              .value = parameter->now,
                                              .low = parameter->low,
                                              .high = parameter->high,
                                              .was = parameter->was,
                                              .from = parameter->from};
    }
    /* Files of which no row was fitted are none that the fit rests on. */
    while (params.record_count < sources->count &&
           sources->files[params.record_count].rows > 0) {
        params.record_count++;
    }
    return params;
}

static enum model_status write_params(struct sim_cli *cli,
                                      const struct model_params *params)
{
    struct sim_output output;
    bool complete;

    if (cli->options.output == NULL) {
        return MODEL_OK;
    }
    if (sim_output_open(cli->arena, cli->options.output, &output,
                        cli->errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    complete =
        model_params_write(cli->arena, params, output.stream) == MODEL_OK;
    return sim_output_close(&output, complete, cli->errors);
}

static enum model_status print(struct sim_cli *cli,
                               const struct validate_calibration *of,
                               const struct model_params *params)
{
    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return validate_calibration_json(cli, of, params);
    case SIM_CSV:
        validate_calibration_csv(cli, of);
        break;
    case SIM_TEXT:
        validate_calibration_text(cli, of, params);
        break;
    }
    return MODEL_OK;
}

/* How many points of the fit were computed, on a terminal. */
struct progress {
    FILE *log;
    int points;
};

static void show_progress(void *context, int points)
{
    struct progress *progress = context;

    progress->points += points;
    (void)fprintf(progress->log, "\r\033[K%d evaluations ", progress->points);
}

static enum model_status calibrate(struct sim_cli *cli,
                                   struct validate_calibration_options *options,
                                   struct validate_calibration *calibration)
{
    struct progress progress = {.log = cli->log};
    enum model_status status;

    if (!cli->options.quiet && isatty(fileno(cli->log)) != 0) {
        options->progress = show_progress;
        options->progress_context = &progress;
    }
    status = validate_calibrate(cli->arena, options, calibration, cli->errors);
    if (options->progress != NULL) {
        (void)fputs("\r\033[K", cli->log);
    }
    return status;
}

enum model_status validate_command_calibrate(struct sim_cli *cli)
{
    struct sources sources;
    struct validate_calibration_options options = {.records = &sources.all};
    struct validate_calibration calibration;
    struct model_params params;
    const char *date = NULL;
    enum model_status status = read_options(cli, &options);

    if (status == MODEL_OK) {
        status = read_date(cli, &date);
    }
    if (status == MODEL_OK) {
        status = read_records(cli, &sources, &options.held_out_from);
    }
    if (status == MODEL_OK) {
        status = calibrate(cli, &options, &calibration);
    }
    if (status != MODEL_OK) {
        return status;
    }
    count_rows(&sources, &calibration);
    params = params_of(cli, &sources, &calibration, date);
    status = print(cli, &calibration, &params);
    return status == MODEL_OK ? write_params(cli, &params) : status;
}
