/*
 * verdict_text.c - a verdict for people: the table, then the worst rows.
 */
#include "validate/verdict_print.h"

#include "search/paragraph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 42, TEXT_BYTES_MAX = 160 };

/* A text of somebody's file, of which many bytes help nobody. */
static void put_cut(FILE *out, const char *text)
{
    char start[TEXT_BYTES_MAX + 1];

    (void)snprintf(start, sizeof(start), "%s", text);
    model_text_print(start, out);
    (void)fputs(strlen(text) > TEXT_BYTES_MAX ? ".." : "", out);
}

/* Names of UTF-8 letters are padded by bytes: sets are named in ASCII. */
static void put_name(FILE *out, const char *indent, const char *name)
{
    (void)fprintf(out, "%s", indent);
    if (strlen(indent) + strlen(name) > NAME_WIDTH) {
        /* A line of its own, so that the columns stay where they are. */
        put_cut(out, name);
        (void)fputc('\n', out);
        name = "";
        indent = "";
    }
    model_text_print(name, out);
    (void)fprintf(out, "%*s",
                  (int)fmax(0.0, NAME_WIDTH - (double)strlen(indent) -
                                     (double)strlen(name)),
                  "");
}

static void put_rank(FILE *out, double value)
{
    if (isnan(value)) {
        (void)fputs("      -", out);
    } else {
        (void)fprintf(out, "  %5.2f", value);
    }
}

static void put_line(FILE *out,
                     const char *indent,
                     const char *name,
                     const struct validate_line *line,
                     bool shapes)
{
    const struct validate_accuracy *accuracy = &line->accuracy;

    if (accuracy->count == 0) {
        return;
    }
    put_name(out, indent, name);
    (void)fprintf(out, " %5d %7.1f%% %7.1f%% %7.1f%% %+7.1f%%", accuracy->count,
                  100.0 * accuracy->median_ratio, 100.0 * accuracy->p95_ratio,
                  100.0 * accuracy->worst_ratio, 100.0 * accuracy->bias_ratio);
    put_rank(out, accuracy->spearman);
    put_rank(out, accuracy->kendall);
    (void)fprintf(out, "%s%s\n", shapes ? "  " : "",
                  shapes ? line->shapes : "");
}

static const char *starred(struct model_arena *arena,
                           const char *name,
                           const struct validate_line *line)
{
    return line->fit ? model_arena_format(arena, "%s *", name) : name;
}

/* A set of one operation takes one line, of several one more. */
static void put_set(struct sim_cli *cli,
                    const struct validate_verdict *verdict,
                    const struct validate_line *set)
{
    const struct validate_lines *parts = &verdict->parts;
    const struct validate_line *only = NULL;
    int count = 0;

    for (int i = 0; i < parts->count; i++) {
        if (strcmp(parts->list[i].set, set->set) == 0) {
            only = &parts->list[i];
            count++;
        }
    }
    if (count == 1) {
        put_line(cli->out, "",
                 starred(cli->arena,
                         model_arena_format(cli->arena, "%s %s", set->set,
                                            only->operation),
                         set),
                 set, true);
        return;
    }
    put_line(cli->out, "", starred(cli->arena, set->set, set), set, true);
    for (int i = 0; i < parts->count; i++) {
        if (strcmp(parts->list[i].set, set->set) == 0) {
            put_line(
                cli->out, "  ",
                starred(cli->arena, parts->list[i].operation, &parts->list[i]),
                &parts->list[i], true);
        }
    }
}

static void put_table(struct sim_cli *cli,
                      const struct validate_verdict *verdict)
{
    (void)fprintf(cli->out, "%-*s %5s %8s %8s %8s %8s  %5s  %5s  %s\n",
                  NAME_WIDTH, "records", "rows", "median", "p95", "worst",
                  "bias", "rho", "tau", "nodes x GPUs");
    for (int i = 0; i < verdict->sets.count; i++) {
        put_set(cli, verdict, &verdict->sets.list[i]);
    }
    (void)fputc('\n', cli->out);
    for (int i = 0; i < verdict->gpus.count; i++) {
        put_line(cli->out, "", verdict->gpus.list[i].gpu,
                 &verdict->gpus.list[i], false);
    }
    put_line(cli->out, "", "all of the fit *", &verdict->fitted, false);
    put_line(cli->out, "", "all others", &verdict->others, false);
    if (verdict->median_count > 1) {
        (void)fprintf(cli->out, "%-*s %5d %7.1f%%\n", NAME_WIDTH,
                      "median of the others' medians", verdict->median_count,
                      100.0 * verdict->median_of_medians);
    }
}

static void put_left_out(struct sim_cli *cli,
                         const struct validate_verdict *verdict)
{
    for (int i = 0; i < verdict->left_out_count; i++) {
        (void)fprintf(cli->out, "left out: %d row%s, ",
                      verdict->left_out[i].rows,
                      verdict->left_out[i].rows == 1 ? "" : "s");
        put_cut(cli->out, verdict->left_out[i].reason);
        (void)fputc('\n', cli->out);
    }
}

static void put_rows(struct sim_cli *cli,
                     const struct validate_verdict *verdict)
{
    (void)fprintf(cli->out, "\n%-*s %-14s %-6s %12s %12s %12s %8s  %s\n",
                  NAME_WIDTH, "rows", "operation", "ranks", "bytes",
                  "measured us", "model us", "error", "settings");
    for (int i = 0; i < verdict->pairs.count; i++) {
        const struct validate_pair *pair = &verdict->pairs.list[i];
        const struct validate_record *row = &verdict->records->rows[pair->row];
        const struct model_config *config =
            &verdict->predictions[pair->row].config;
        char text[96];

        (void)fprintf(cli->out,
                      "%-*s %-14s %-6s %12.0f %12.2f %12.2f %+7.1f%%  %s\n",
                      NAME_WIDTH,
                      model_arena_format(cli->arena, "%s:%d", row->place.file,
                                         row->place.line),
                      validate_operation(verdict->records, pair),
                      model_arena_format(cli->arena, "%dx%d", row->nodes,
                                         row->gpus / row->nodes),
                      row->size_bytes, pair->measured_us, pair->predicted_us,
                      100.0 * pair->error_ratio,
                      row->kind != MODEL_UNSET
                          ? model_config_print(config, text, sizeof(text))
                          : row->computation);
    }
}

void validate_print_text(struct sim_cli *cli,
                         const struct validate_verdict *verdict,
                         const struct validate_worsts *worsts)
{
    if (verdict->pairs.count > 0) {
        put_table(cli, verdict);
    }
    put_left_out(cli, verdict);
    if (worsts->count > 0) {
        (void)fprintf(cli->out, "\nthe worst %d\n", worsts->count);
    }
    for (int i = 0; i < worsts->count; i++) {
        search_paragraph(
            cli->out, 2,
            validate_worst_words(cli->arena, verdict, &worsts->list[i]));
    }
    if (cli->options.verbose) {
        put_rows(cli, verdict);
    }
}
