/*
 * perf_options.c - names and sizes as nccl-tests' command line has them.
 */
#include "search/perf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct search_perf_kind kinds[] = {
    {"all_reduce", MODEL_OP_ALL_REDUCE, false, true, false},
    {"all_gather", MODEL_OP_ALL_GATHER, true, false, false},
    {"reduce_scatter", MODEL_OP_REDUCE_SCATTER, true, true, false},
    {"broadcast", MODEL_OP_BROADCAST, false, false, true},
    {"reduce", MODEL_OP_REDUCE, false, true, true},
    {"alltoall", MODEL_OP_ALL_TO_ALL, true, false, false},
    {"sendrecv", MODEL_OP_SEND_RECV, false, true, false}};

static const struct {
    const char *name;
    int64_t bytes;
} types[] = {{"int8", 1},   {"uint8", 1},    {"int32", 4},  {"uint32", 4},
             {"int64", 8},  {"uint64", 8},   {"half", 2},   {"float", 4},
             {"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1}};

static const char *const reductions[] = {"sum", "prod",   "max", "min",
                                         "avg", "mulsum", NULL};

enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0]),
    TYPES = sizeof(types) / sizeof(types[0])
};

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

/* Not one of the names: the nearest, or all of them. */
static enum model_status unknown(struct sim_cli *cli,
                                 const char *what,
                                 const char *word,
                                 const char *const *names)
{
    const char *nearest = model_nearest_name(word, names);
    const char *list = names[0];

    for (int i = 1; names[i] != NULL; i++) {
        list = model_arena_format(cli->arena, "%s, %s", list, names[i]);
    }
    return usage(
        cli,
        nearest != NULL
            ? model_arena_format(cli->arena, "did you mean \"%s\"?", nearest)
            : model_arena_format(cli->arena, "write one of %s", list),
        model_arena_format(cli->arena, "no such %s: %s", what, word));
}

/* Small letters alone, without "_perf": "AllReduce", "all_reduce_perf". */
static char *bare_name(struct model_arena *arena, const char *name)
{
    char *bare = model_arena_text(arena, name);
    char *end = bare;

    for (const char *at = bare; *at != '\0'; at++) {
        if (strcmp(at, "_perf") == 0) {
            break;
        }
        if (isalpha((unsigned char)*at)) {
            *end++ = (char)tolower((unsigned char)*at);
        }
    }
    *end = '\0';
    return bare;
}

static enum model_status read_kind(struct sim_cli *cli,
                                   struct search_perf *perf)
{
    const char *names[KINDS + 1] = {NULL};
    const char *word;
    const char *bare;

    for (int i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
    }
    if (cli->options.operands.count == 0) {
        return usage(cli, "write lagom perf all_reduce -t TOPOLOGY",
                     "no collective given");
    }
    word = cli->options.operands.items[0];
    bare = bare_name(cli->arena, word);
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(bare, bare_name(cli->arena, kinds[i].name)) == 0) {
            perf->kind = &kinds[i];
            return MODEL_OK;
        }
    }
    return unknown(cli, "collective", word, names);
}

static enum model_status read_names(struct sim_cli *cli,
                                    struct search_perf *perf)
{
    const char *names[TYPES + 1] = {NULL};
    const char *type =
        cli->options.data_type != NULL ? cli->options.data_type : "float";
    const char *reduction =
        cli->options.reduction != NULL ? cli->options.reduction : "sum";

    for (int i = 0; i < TYPES; i++) {
        names[i] = types[i].name;
        if (strcmp(types[i].name, type) == 0) {
            perf->type = types[i].name;
            perf->type_bytes = types[i].bytes;
        }
    }
    for (int i = 0; reductions[i] != NULL; i++) {
        if (strcmp(reductions[i], reduction) == 0) {
            perf->reduction = reductions[i];
        }
    }
    if (perf->type == NULL) {
        return unknown(cli, "type", type, names);
    }
    return perf->reduction != NULL
               ? MODEL_OK
               : unknown(cli, "reduction", reduction, reductions);
}

/*
 * A number, and K, M, G or T for powers of 1024, with "B" or "iB" behind. As
 * nccl-tests, which look at the first letter alone, 1M, 1MB and 1MiB are one.
 */
static bool parse_size(const char *text, int64_t *bytes)
{
    static const char letters[] = "kmgt";
    char *end;
    double size = strtod(text, &end);
    const char *letter;

    if (end == text || !(isdigit((unsigned char)text[0]) || text[0] == '.')) {
        return false;
    }
    end += strspn(end, " ");
    letter =
        *end != '\0' ? strchr(letters, tolower((unsigned char)*end)) : NULL;
    if (letter != NULL) {
        for (const char *at = letters; at <= letter; at++) {
            size *= 1024.0;
        }
        end++;
        end += *end == 'i' ? 1 : 0;
    }
    end += *end == 'B' || *end == 'b' ? 1 : 0;
    if (*end != '\0' || !(size < 1e16)) {
        return false;
    }
    *bytes = (int64_t)size;
    return true;
}

static enum model_status read_size(struct sim_cli *cli,
                                   const char *option,
                                   const char *text,
                                   int64_t otherwise,
                                   int64_t *bytes)
{
    *bytes = otherwise;
    if (text == NULL || (parse_size(text, bytes) && *bytes > 0)) {
        return MODEL_OK;
    }
    return usage(
        cli, "write bytes, or such as 64K, 128M, 1G",
        model_arena_format(cli->arena, "--%s cannot be %s", option, text));
}

static enum model_status read_factor(struct sim_cli *cli,
                                     struct search_perf *perf)
{
    const char *text = cli->options.step_factor;
    char *end;

    if (text == NULL) {
        perf->step_factor = cli->options.step_bytes == NULL ? 2 : 0;
        return MODEL_OK;
    }
    if (cli->options.step_bytes != NULL) {
        return usage(cli, "leave one of them out",
                     "both --stepfactor and --stepbytes are given");
    }
    errno = 0;
    perf->step_factor = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || perf->step_factor < 2) {
        return usage(
            cli, "write a whole number of at least 2",
            model_arena_format(cli->arena, "--stepfactor cannot be %s", text));
    }
    return MODEL_OK;
}

enum model_status search_perf_options(struct sim_cli *cli,
                                      struct search_perf *perf)
{
    const struct sim_options *options = &cli->options;
    enum model_status status = read_kind(cli, perf);

    if (status == MODEL_OK) {
        status = read_names(cli, perf);
    }
    if (status == MODEL_OK) {
        status =
            read_size(cli, "minbytes", options->min_bytes, 8, &perf->min_bytes);
    }
    if (status == MODEL_OK) {
        status = read_size(cli, "maxbytes", options->max_bytes,
                           (int64_t)1 << 30, &perf->max_bytes);
    }
    if (status == MODEL_OK) {
        status = read_size(cli, "stepbytes", options->step_bytes, 0,
                           &perf->step_bytes);
    }
    if (status == MODEL_OK) {
        status = read_factor(cli, perf);
    }
    if (status == MODEL_OK && perf->min_bytes > perf->max_bytes) {
        status = usage(cli, "write the smaller as -b, the larger as -e",
                       "--minbytes is larger than --maxbytes");
    }
    return status;
}

/* -- who takes part -- */

bool search_perf_parse_ranks(const char *text, long *first, long *second)
{
    char *end;

    errno = 0;
    *second = 0;
    *first = strtol(text, &end, 10);
    if (end == text || *first < 1) {
        return false;
    }
    if (*end == 'x') {
        text = end + 1;
        *second = strtol(text, &end, 10);
        if (end == text || *second < 1) {
            return false;
        }
    }
    return errno == 0 && *end == '\0';
}

enum model_status search_perf_ranks(struct sim_cli *cli,
                                    const struct model_topology *topology,
                                    struct search_perf *perf)
{
    const char *text = cli->options.gpus;
    int gpus = topology->gpus_per_node;
    long first;
    long second;

    perf->nodes = topology->node_count;
    perf->gpus_per_node = gpus;
    if (text == NULL) {
        return MODEL_OK;
    }
    if (!search_perf_parse_ranks(text, &first, &second)) {
        return usage(
            cli, "write 4, or 2x4 for 4 GPUs of each of 2 nodes",
            model_arena_format(cli->arena, "--ranks cannot be %s", text));
    }
    if (second == 0 && first > gpus && first % gpus != 0) {
        return usage(
            cli,
            model_arena_format(
                cli->arena, "write up to %d, a multiple of it, or NODESxGPUS",
                gpus),
            model_arena_format(cli->arena,
                               "%ld ranks do not fill nodes of %d GPUs", first,
                               gpus));
    }
    if (second == 0) {
        second = first < gpus ? first : gpus;
        first = first < gpus ? 1 : first / gpus;
    }
    if (first > topology->node_count || second > gpus) {
        return usage(cli,
                     model_arena_format(cli->arena, "there are %dx%d",
                                        topology->node_count, gpus),
                     "more GPUs than the topology has");
    }
    perf->nodes = (int)first;
    perf->gpus_per_node = (int)second;
    return MODEL_OK;
}
