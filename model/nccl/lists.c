/*
 * lists.c - the lists of NCCL_ALGO and NCCL_PROTO.
 *
 * Words stand between commas, capitals do not count, ^ in front excludes. Until
 * 2.23 a list holds for all functions and unknown words are dropped. From 2.24
 * lists stand between semicolons, each but the first with a function and a
 * colon in front, and what is unknown makes NCCL refuse the communicator.
 */
#include "model/nccl/settings_read.h"

#include <string.h>
#include <strings.h>

struct list {
    const struct model_nccl_reading *reading;
    const char *const *names; /* that the version knows */
    const char *const *all;
    int width;
    bool *allowed;
    bool *set;
};

static const char *words_of(const struct list *list, const char *const *names)
{
    const char *text = names[0];

    for (int i = 1; names[i] != NULL; i++) {
        text = model_arena_format(list->reading->reader->arena, "%s, %s", text,
                                  names[i]);
    }
    return text;
}

static int index_of(const char *const *names, const char *word)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcasecmp(names[i], word) == 0) {
            return i;
        }
    }
    return MODEL_UNSET;
}

static enum model_status
refuse(const struct list *list, const char *const *names, const char *word)
{
    struct model_nccl_reader *reader = list->reading->reader;

    return model_errors_add(
        reader->errors, MODEL_BAD_INPUT, list->reading->place,
        list->reading->variable,
        model_arena_format(reader->arena, "known: %s", words_of(list, names)),
        "NCCL %s refuses \"%s\"", reader->version->release, word);
}

/* A word that the version does not know, of a list for all functions. */
static enum model_status unknown_word(const struct list *list, const char *word)
{
    const struct model_nccl_version *version = list->reading->reader->version;

    if (version->settings.lists_by_function) {
        return refuse(list, list->names, word);
    }
    model_nccl_note_add(list->reading, false,
                        "NCCL %s ignores \"%s\"; it knows %s%s",
                        version->release, word, words_of(list, list->names),
                        strpbrk(word, ";:") != NULL
                            ? " (lists for single functions are of 2.24)"
                            : "");
    return MODEL_OK;
}

/* The words of a list, for one function (MODEL_UNSET: all). */
static enum model_status
read_words(const struct list *list, char *words, int function)
{
    bool exclude = words[0] == '^';
    int first = function == MODEL_UNSET ? 0 : function;
    int last = function == MODEL_UNSET ? MODEL_NCCL_FUNCTIONS - 1 : function;
    char *state = NULL;

    for (int f = first; f <= last; f++) {
        list->set[f] = true;
        for (int i = 0; i < list->width; i++) {
            list->allowed[f * list->width + i] = exclude;
        }
    }
    for (char *word = strtok_r(words + (exclude ? 1 : 0), ",", &state);
         word != NULL; word = strtok_r(NULL, ",", &state)) {
        int index = index_of(list->names, word) != MODEL_UNSET
                        ? index_of(list->all, word)
                        : MODEL_UNSET;

        if (index == MODEL_UNSET) {
            if (unknown_word(list, word) != MODEL_OK) {
                return MODEL_BAD_INPUT;
            }
            continue;
        }
        for (int f = first; f <= last; f++) {
            list->allowed[f * list->width + index] = !exclude;
        }
    }
    return MODEL_OK;
}

/* "list;function:list;..." */
static enum model_status read_by_function(const struct list *list, char *text)
{
    char *state = NULL;
    bool first = true;

    for (char *part = strtok_r(text, ";", &state); part != NULL;
         part = strtok_r(NULL, ";", &state), first = false) {
        char *inner = NULL;
        char *prefix = strtok_r(part, ":", &inner);
        char *words = strtok_r(NULL, ":", &inner);
        int function = MODEL_UNSET;

        if (prefix == NULL || (words == NULL && !first)) {
            return refuse(list, model_nccl_function_names,
                          prefix == NULL ? ":" : prefix);
        }
        if (words == NULL) {
            words = prefix;
        } else {
            function = index_of(model_nccl_function_names, prefix);
            if (function == MODEL_UNSET) {
                return refuse(list, model_nccl_function_names, prefix);
            }
        }
        if (read_words(list, words, function) != MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
    }
    return MODEL_OK;
}

void model_nccl_list_note(const struct model_nccl_reading *reading,
                          const bool *allowed,
                          int width,
                          const char *then)
{
    const char *names = NULL;
    int count = 0;

    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        bool any = false;

        for (int i = 0; i < width; i++) {
            any = any || allowed[f * width + i];
        }
        if (!any) {
            names = model_arena_format(
                reading->reader->arena, "%s%s%s", count > 0 ? names : "",
                count > 0 ? ", " : "", model_nccl_function_names[f]);
            count++;
        }
    }
    if (count > 0) {
        model_nccl_note_add(
            reading, false, "leaves nothing for %s, so NCCL %s",
            count == MODEL_NCCL_FUNCTIONS ? "any collective" : names, then);
    }
}

enum model_status model_nccl_list_read(const struct model_nccl_reading *reading,
                                       const char *const *names,
                                       const char *const *all,
                                       int width,
                                       bool *allowed,
                                       bool *set)
{
    struct list list = {reading, names, all, width, allowed, set};
    char *text = model_arena_text(reading->reader->arena, reading->value);

    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        set[f] = false;
        for (int i = 0; i < width; i++) {
            allowed[f * width + i] = true;
        }
    }
    if (!reading->reader->version->settings.lists_by_function) {
        return read_words(&list, text, MODEL_UNSET);
    }
    return read_by_function(&list, text);
}
