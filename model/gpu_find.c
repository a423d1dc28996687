/*
 * gpu_find.c - a look into each GPU file.
 */
#include "model/gpu_find.h"

#include "model/files.h"
#include "model/node_merge.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* A GPU's file as it stands, without its base; or NULL. */
static const struct model_node *read_file(struct model_arena *arena,
                                          const char *name)
{
    struct model_errors ignored = {.arena = arena};
    struct model_place nowhere = {"lagom", 0, 0};
    const char *path =
        model_file_find(arena, "topologies/gpu", name, nowhere, NULL, &ignored);
    const struct model_node *root =
        path != NULL ? model_yaml_read_file(arena, path, &ignored) : NULL;

    return model_node_is_mapping(root) ? root : NULL;
}

/* device_ids are not inherited: a base is another product. */
static bool has_id(const struct model_node *root, const char *pci_id)
{
    const struct model_node *ids = model_node_find(root, "device_ids");

    if (ids == NULL || ids->kind != MODEL_SEQUENCE) {
        return false;
    }
    for (const struct model_node *id = ids->first; id != NULL; id = id->next) {
        if (id->kind == MODEL_SCALAR && strcmp(id->text, pci_id) == 0) {
            return true;
        }
    }
    return false;
}

/* The compute capability of a file or of its base, or 0. */
static int capability_of(struct model_arena *arena,
                         const struct model_node *root)
{
    const char *text = model_node_text_at(root, "compute_capability", NULL);
    const char *base = model_node_text_at(root, "base", NULL);

    if (text == NULL && base != NULL) {
        root = read_file(arena, base);
        text = root != NULL
                   ? model_node_text_at(root, "compute_capability", NULL)
                   : NULL;
    }
    return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

/* The names of a folder, sorted, each once; sets *count. */
static const char **sorted_names(struct model_arena *arena, size_t *count)
{
    const char *const *names = model_file_names(arena, "topologies/gpu");
    const char **sorted;
    size_t all = 0;

    while (names[all] != NULL) {
        all++;
    }
    sorted = model_arena_array(arena, all + 1, sizeof(*sorted));
    for (size_t i = 0; i < all; i++) {
        sorted[i] = names[i];
    }
    qsort(sorted, all, sizeof(*sorted), compare_names);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        if (*count == 0 || strcmp(sorted[*count - 1], sorted[i]) != 0) {
            sorted[(*count)++] = sorted[i];
        }
    }
    return sorted;
}

static const char *
append(struct model_arena *arena, const char *list, const char *name)
{
    return list[0] == '\0' ? name
                           : model_arena_format(arena, "%s, %s", list, name);
}

struct model_gpu_found model_gpu_find(struct model_arena *arena,
                                      struct model_gpu_sought sought)
{
    struct model_gpu_found found = {NULL, ""};
    size_t count;
    const char **names = sorted_names(arena, &count);
    const char *every = "";
    const char *last = NULL;
    int alike = 0;

    for (size_t i = 0; i < count; i++) {
        const struct model_node *root = read_file(arena, names[i]);

        if (root == NULL) {
            continue;
        }
        if (sought.pci_id != NULL && has_id(root, sought.pci_id)) {
            return (struct model_gpu_found){names[i], names[i]};
        }
        every = append(arena, every, names[i]);
        if (sought.compute_capability != 0 &&
            capability_of(arena, root) == sought.compute_capability) {
            found.candidates = append(arena, found.candidates, names[i]);
            last = names[i];
            alike++;
        }
    }
    if (alike == 1 && sought.pci_id == NULL) {
        found.name = last;
    }
    if (alike == 0) {
        found.candidates = every;
    }
    return found;
}
