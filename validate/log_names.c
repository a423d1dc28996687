/*
 * log_names.c - what the ranks of a log name: hosts, processes, devices.
 */
#include "validate/log_parts.h"

#include <string.h>

/* A cluster's GPUs are alike; more kinds than this make no report better. */
enum { NAMES_TOLD = 8 };

void validate_log_name(struct model_arena *arena,
                       struct validate_log_names *names,
                       const char *name)
{
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->list[i].text, name) == 0) {
            names->list[i].times++;
            return;
        }
    }
    names->list = model_arena_grow(arena, names->list, names->count,
                                   &names->room, sizeof(*names->list));
    names->list[names->count].text = model_arena_text(arena, name);
    names->list[names->count++].times = 1;
}

const char *validate_log_names_text(struct model_arena *arena,
                                    const struct validate_log_names *names)
{
    const char *text = names->count > 0 ? names->list[0].text : "";
    int told = names->count < NAMES_TOLD ? names->count : NAMES_TOLD;

    for (int i = 1; i < told; i++) {
        text = model_arena_format(arena, "%s, %s", text, names->list[i].text);
    }
    return names->count > told ? model_arena_format(arena, "%s and %d more",
                                                    text, names->count - told)
                               : text;
}
