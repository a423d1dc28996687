/*
 * lagom_reading.c - the table of readings, and "NAME=VALUE" looked up in it.
 */
#include "search/lagom_reading.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct search_reading, member)

const struct search_reading_row search_readings[] = {
    {"lr",
     "how far the next step goes, of x before and x' after the last one",
     {"gain", "share", "printed", NULL},
     {"(x - x') / x': the printed fraction, but positive",
      "(x - x') / x: AutoCCL's, whose x is a bandwidth",
      "(x' - x) / x': never above 0, so every step is the least"},
     AT(lr)},
    {"most",
     "the largest step; the least is always 0.01",
     {"tenth", "third", "all", NULL},
     {"0.1, ten times the first: near the least settings x falls to a part in "
      "a step, and lr would jump over all others",
      "0.33", "1: no bound"},
     AT(most)},
    {"scale",
     "what lr is a part of",
     {"range", "linear", "value", NULL},
     {"the range: channels by their logarithm, as their effect is; threads and "
      "chunk evenly",
      "the range, evenly", "the value itself, and a grid step at least"},
     AT(scale)},
    {"first",
     "what the least settings are compared with",
     {"skip", "nccl", NULL},
     {"nothing: there is no earlier step",
      "NCCL's own: slower than them, a class is done at once"},
     AT(first)},
    {"worse",
     "what ends a class as no better than before",
     {"little", "longer", NULL},
     {"a gain below 0.1 %: more resources for less than that help nobody",
      "only a longer time"},
     AT(worse)},
    {"keep",
     "what is kept when X' < Y' ends a class",
     {"new", "old", NULL},
     {"the settings for which it holds", "those before, as printed"},
     AT(keep)},
    {"balance",
     "of what X' and Y' are the times",
     {"window", "iteration", NULL},
     {"the class's window: the paper has one", "all windows"},
     AT(balance)},
    {"turns",
     "how windows share evaluations",
     {"together", "window", NULL},
     {"a step of each in one: every iteration runs them all, and none is "
      "beside another",
      "one window after another"},
     AT(turns)},
    {"spaces",
     "which subspaces are climbed",
     {"transports", "own", "all", NULL},
     {"NCCL's algorithm and protocol over each transport", "NCCL's own alone",
      "all that AutoCCL's generator has"},
     AT(spaces)},
    {"native",
     "whether NCCL's own settings stay in the choice",
     {"stays", "out", NULL},
     {"they do, as in AutoCCL, inside which Lagom runs", "they do not"},
     AT(native)},
    {.name = NULL}};

static int *value_at(struct search_reading *reading, size_t offset)
{
    return (int *)(void *)((char *)reading + offset);
}

static enum model_status
fault(struct model_errors *errors, const char *hint, const char *text)
{
    return model_errors_add(errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "no such reading: %s", text);
}

/* "write lr=gain, lr=share or lr=printed" */
static const char *list_values(struct model_arena *arena,
                               const struct search_reading_row *row)
{
    const char *text = "write";

    for (int i = 0; row->values[i] != NULL; i++) {
        text = model_arena_format(arena, "%s%s%s=%s", text,
                                  i == 0                       ? " "
                                  : row->values[i + 1] == NULL ? " or "
                                                               : ", ",
                                  row->name, row->values[i]);
    }
    return text;
}

enum model_status search_reading_set(const char *text,
                                     struct search_reading *reading,
                                     struct model_errors *errors)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);

    for (const struct search_reading_row *row = search_readings;
         row->name != NULL; row++) {
        if (strlen(row->name) != length ||
            strncmp(row->name, text, length) != 0) {
            continue;
        }
        for (int i = 0; equals != NULL && row->values[i] != NULL; i++) {
            if (strcmp(row->values[i], equals + 1) == 0) {
                *value_at(reading, row->offset) = i;
                return MODEL_OK;
            }
        }
        return fault(errors, list_values(errors->arena, row), text);
    }
    return fault(errors, "lagom help readings lists them", text);
}
