/*
 * notation.c - one line to a YAML tree, by a table of words.
 *
 * Each word is a function that adds nodes to the tree. Values are checked
 * later by the same tables that check a file; here only the shape is.
 */
#include "model/notation.h"

#include "model/units.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct model_arena *arena;
    struct model_errors *errors;
    struct model_node *root;
    struct model_node *node;
    struct model_place place; /* of the current word */
    unsigned seen;            /* bits of words read */
};

/* A scalar child that remembers the word it came from. */
static void put(struct parser *parser,
                struct model_node *parent,
                const char *key,
                const char *text)
{
    struct model_node *child =
        model_node_new(parser->arena, MODEL_SCALAR, parent, key, text);

    child->place = parser->place;
    child->key_place = parser->place;
}

/* An empty list or mapping, with the place of the word. */
static struct model_node *open_node(struct parser *parser,
                                    enum model_node_kind kind,
                                    struct model_node *parent,
                                    const char *key)
{
    struct model_node *node =
        model_node_new(parser->arena, kind, parent, key, NULL);

    node->place = parser->place;
    node->key_place = parser->place;
    return node;
}

/* A mapping below node: with the place of the word. */
static struct model_node *part(struct parser *parser, const char *key)
{
    struct model_node *mapping = model_node_find(parser->node, key);

    return mapping != NULL
               ? mapping
               : open_node(parser, MODEL_MAPPING, parser->node, key);
}

static bool is_count(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static void fault(struct parser *parser, const char *word, const char *hint)
{
    (void)model_errors_add(parser->errors, MODEL_BAD_INPUT, parser->place, NULL,
                           hint, "cannot read \"%s\"", word);
}

static bool word_gpu(struct parser *parser, char *rest)
{
    put(parser, parser->root, "gpu", rest);
    return rest[0] != '\0';
}

/* Split at the first ':'; returns what follows or NULL. */
static char *cut(char *text, char at)
{
    char *found = strchr(text, at);

    if (found != NULL) {
        *found++ = '\0';
    }
    return found;
}

/* 0-1,0-3x2: pairs of GPUs and how many links join them. */
static bool
read_links(struct parser *parser, struct model_node *nvlink, char *text)
{
    struct model_node *list =
        open_node(parser, MODEL_SEQUENCE, nvlink, "links");
    char *state = NULL;

    for (char *word = strtok_r(text, ",", &state); word != NULL;
         word = strtok_r(NULL, ",", &state)) {
        struct model_node *entry =
            open_node(parser, MODEL_SEQUENCE, list, NULL);
        char *count = cut(word, 'x');
        char *to = cut(word, '-');

        if (to == NULL) {
            return false;
        }
        put(parser, entry, NULL, word);
        put(parser, entry, NULL, to);
        put(parser, entry, NULL, count != NULL ? count : "1");
    }
    return true;
}

static bool word_nvlink(struct parser *parser, char *rest)
{
    char *rate = cut(rest, ':');
    struct model_node *nvlink = part(parser, "nvlink");

    put(parser, nvlink, "kind", rest);
    if (strcmp(rest, "links") == 0) {
        char *list = rate;

        rate = list != NULL ? cut(list, ':') : NULL;
        if (list == NULL || rate == NULL || !read_links(parser, nvlink, list)) {
            return false;
        }
    }
    if (rate != NULL) {
        put(parser, nvlink, "rate", rate);
    }
    return rest[0] != '\0';
}

static bool word_nvswitch(struct parser *parser, char *rest)
{
    struct model_node *nvlink = part(parser, "nvlink");

    put(parser, nvlink, "kind", "switch");
    if (rest[0] != '\0') {
        put(parser, nvlink, "rate", rest);
    }
    return true;
}

static bool word_pcie(struct parser *parser, char *rest)
{
    char *per_switch = cut(rest, ':');
    struct model_node *pcie = part(parser, "pcie");

    put(parser, pcie, "generation", rest);
    if (per_switch != NULL) {
        char *word = cut(per_switch, '/');

        if (word == NULL || strcmp(word, "switch") != 0 ||
            !is_count(per_switch)) {
            return false;
        }
        put(parser, pcie, "gpus_per_switch", per_switch);
    }
    return is_count(rest);
}

static bool word_sockets(struct parser *parser, char *rest)
{
    put(parser, part(parser, "host"), "sockets", rest);
    return is_count(rest);
}

static bool word_nic(struct parser *parser, char *rest)
{
    char *rate = cut(rest, 'x');
    struct model_node *nics = part(parser, "nics");

    if (rate == NULL || !is_count(rest)) {
        return false;
    }
    put(parser, nics, "count", rest);
    put(parser, nics, "rate", rate);
    return true;
}

/* KIND[:N/leaf][:OVERSUBSCRIPTION] */
static bool word_net(struct parser *parser, char *rest)
{
    struct model_node *network =
        open_node(parser, MODEL_MAPPING, parser->root, "network");
    char *next = cut(rest, ':');

    put(parser, network, "kind", rest);
    while (next != NULL) {
        char *text = next;
        char *word;

        next = cut(text, ':');
        word = cut(text, '/');
        if (word != NULL && (strcmp(word, "leaf") != 0 || !is_count(text))) {
            return false;
        }
        put(parser, network,
            word != NULL ? "nodes_per_leaf" : "oversubscription", text);
    }
    return rest[0] != '\0';
}

static const struct word {
    const char *name;
    bool (*read)(struct parser *parser, char *rest);
    const char *form;
    unsigned bit; /* words that exclude each other share one */
} words[] = {
    {"gpu", word_gpu, "gpu:a40", 1},
    {"nvlink", word_nvlink,
     "nvlink:pairs, nvlink:pairs:50GB/s or "
     "nvlink:links:0-1,0-3x2:22GB/s",
     2},
    {"nvswitch", word_nvswitch, "nvswitch or nvswitch:370GB/s", 2},
    {"pcie", word_pcie, "pcie:4 or pcie:4:2/switch", 4},
    {"sockets", word_sockets, "sockets:2", 8},
    {"nic", word_nic, "nic:2x400Gbit/s", 16},
    {"net", word_net, "net:rails, net:rails:2 or net:tree:16/leaf:3", 32}};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

static const char *nearest_word(const char *name)
{
    const char *names[WORDS + 1] = {NULL};

    for (int i = 0; i < WORDS; i++) {
        names[i] = words[i].name;
    }
    return model_nearest_name(name, names);
}

static void read_word(struct parser *parser, char *text)
{
    const char *whole = model_arena_text(parser->arena, text);
    char *rest = cut(text, ':');
    char empty[1] = "";
    const char *nearest;

    for (int i = 0; i < WORDS; i++) {
        if (strcmp(words[i].name, text) == 0) {
            if ((parser->seen & words[i].bit) != 0) {
                fault(parser, whole, "say it once");
                return;
            }
            parser->seen |= words[i].bit;
            if (!words[i].read(parser, rest != NULL ? rest : empty)) {
                fault(parser, whole,
                      model_arena_format(parser->arena, "write %s",
                                         words[i].form));
            }
            return;
        }
    }
    nearest = nearest_word(text);
    fault(
        parser, whole,
        nearest != NULL
            ? model_arena_format(parser->arena, "did you mean \"%s\"?", nearest)
            : "write gpu:, nvlink:, nvswitch, pcie:, sockets:, nic: or net:");
}

static void read_size(struct parser *parser, char *text)
{
    const char *whole = model_arena_text(parser->arena, text);
    char *gpus = cut(text, 'x');

    if (gpus == NULL || !is_count(text) || !is_count(gpus)) {
        fault(parser, whole, "write NODESxGPUS first, such as 2x8");
        return;
    }
    put(parser, parser->root, "nodes", text);
    put(parser, parser->node, "gpus", gpus);
}

bool model_notation_is(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits > 0 && text[digits] == 'x' &&
           isdigit((unsigned char)text[digits + 1]) != 0;
}

struct model_node *model_notation_parse(struct model_arena *arena,
                                        const char *text,
                                        struct model_errors *errors)
{
    struct parser parser = {.arena = arena, .errors = errors};
    char *copy = model_arena_text(arena, text);
    int before = errors->count;
    char *state = NULL;

    parser.root = model_node_new(arena, MODEL_MAPPING, NULL, NULL, NULL);
    parser.place = (struct model_place){text, 1, 1};
    parser.root->place = parser.place;
    put(&parser, parser.root, "name", text);
    parser.node =
        model_node_new(arena, MODEL_MAPPING, parser.root, "node", NULL);
    parser.node->place = parser.place;
    for (char *word = strtok_r(copy, " \t", &state); word != NULL;
         word = strtok_r(NULL, " \t", &state)) {
        parser.place.column = (int)(word - copy) + 1;
        if (word == copy) {
            read_size(&parser, word);
        } else {
            read_word(&parser, word);
        }
    }
    model_errors_excerpt(errors, text, text, strlen(text));
    return errors->count == before ? parser.root : NULL;
}

/* Append to buffer, which is large enough for any notation. */
static void append(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strlen(buffer);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

/* A rate without the blank that a notation's word may not hold. */
static void append_rate(char *buffer, size_t size, double bytes_per_us)
{
    char text[64];
    char *blank;

    model_units_print(bytes_per_us, MODEL_RATE, text, sizeof(text));
    blank = strchr(text, ' ');
    if (blank != NULL) {
        memmove(blank, blank + 1, strlen(blank));
    }
    append(buffer, size, "%s", text);
}

/* As it was written, so that a path can be read again. */
static const char *gpu_name(const struct model_topology *topology)
{
    const struct model_node *node = topology->gpu_node;

    return node->kind == MODEL_SCALAR && strpbrk(node->text, " \t:") == NULL
               ? node->text
               : topology->gpu.name;
}

static void
append_nvlink(char *buffer, size_t size, const struct model_topology *topology)
{
    const struct model_nvlink *nvlink = &topology->nvlink;
    int gpus = topology->gpus_per_node;
    const char *separator = "";

    if (nvlink->kind == MODEL_NVLINK_NONE) {
        return;
    }
    if (nvlink->kind == MODEL_NVLINK_SWITCH) {
        append(buffer, size, " nvswitch:");
    } else {
        append(buffer, size, " nvlink:%s:", model_nvlink_names[nvlink->kind]);
    }
    for (int pair = 0; nvlink->links != NULL && pair < gpus * gpus; pair++) {
        int links = nvlink->links[pair];

        if (links > 0 && pair / gpus < pair % gpus) {
            append(buffer, size, "%s%d-%d", separator, pair / gpus,
                   pair % gpus);
            if (links > 1) {
                append(buffer, size, "x%d", links);
            }
            separator = ",";
        }
    }
    append(buffer, size, "%s", separator[0] == ',' ? ":" : "");
    append_rate(buffer, size, nvlink->bytes_per_us);
}

static void
append_network(char *buffer, size_t size, const struct model_network *network)
{
    char ratio[64];

    if (network->kind == MODEL_NETWORK_FLAT) {
        return;
    }
    append(buffer, size, " net:%s", model_network_names[network->kind]);
    if (network->nodes_per_leaf > 0) {
        append(buffer, size, ":%d/leaf", network->nodes_per_leaf);
    }
    append(buffer, size, ":%s",
           model_units_print(network->oversubscription_ratio, MODEL_RATIO,
                             ratio, sizeof(ratio)));
}

/* Letters that any notation of a topology needs at most. */
static size_t notation_bytes(const struct model_topology *topology)
{
    int gpus = topology->gpus_per_node;
    size_t pairs =
        topology->nvlink.links != NULL ? (size_t)(gpus * gpus) / 2 : 0;

    return 512 + strlen(gpu_name(topology)) + 16 * pairs;
}

char *model_notation_print(struct model_arena *arena,
                           const struct model_topology *topology)
{
    size_t size = notation_bytes(topology);
    char *text = model_arena_alloc(arena, size);

    append(text, size, "%dx%d gpu:%s", topology->node_count,
           topology->gpus_per_node, gpu_name(topology));
    append_nvlink(text, size, topology);
    append(text, size, " pcie:%d:%d/switch sockets:%d",
           topology->pcie.generation, topology->pcie.gpus_per_switch,
           topology->host.sockets);
    if (topology->nics.count > 0) {
        append(text, size, " nic:%dx", topology->nics.count);
        append_rate(text, size, topology->nics.bytes_per_us);
    }
    append_network(text, size, &topology->network);
    return text;
}
