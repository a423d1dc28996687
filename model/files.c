/*
 * files.c - search places and the nearest shipped name.
 */
#include "model/files.h"

#include "build/version.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES_MAX = 7, NAMES_MAX = 512 };

bool model_file_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

/* The folder of the running program, or NULL. */
static const char *program_folder(struct model_arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (length <= 0) {
        return NULL;
    }
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL) {
        return NULL;
    }
    *slash = '\0';
    return model_arena_text(arena, path);
}

const char *model_file_beside(struct model_arena *arena, const char *program)
{
    const char *folder = program_folder(arena);

    return folder != NULL ? model_arena_format(arena, "%s/%s", folder, program)
                          : NULL;
}

/* The folder that holds a folder, or NULL. */
static const char *folder_above(struct model_arena *arena, const char *folder)
{
    const char *slash = folder != NULL ? strrchr(folder, '/') : NULL;

    return slash != NULL && slash > folder
               ? model_arena_text_n(arena, folder, (size_t)(slash - folder))
               : NULL;
}

/* Fill places with the search places; returns how many. */
static int search_places(struct model_arena *arena, const char **places)
{
    const char *data = getenv("LAGOM_DATA");
    const char *above = folder_above(arena, program_folder(arena));
    const char *higher = folder_above(arena, above);
    int count = 0;

    if (data != NULL && data[0] != '\0') {
        places[count++] = data;
    }
    places[count++] = ".";
    if (above != NULL) {
        places[count++] = above;
        places[count++] = model_arena_format(arena, "%s/share/lagom", above);
    }
    if (higher != NULL) {
        places[count++] = higher;
    }
    places[count++] = LAGOM_DATA_FOLDER;
    return count;
}

/* Where a data file's ending begins in its name, or NULL. */
static const char *ending_of(const char *name)
{
    const char *dot = strstr(name, ".yaml");

    return dot != NULL ? dot : strstr(name, ".csv");
}

/* The shipped names in a folder, without their ending, ended by NULL. */
static const char *const *shipped_names(struct model_arena *arena,
                                        const char *const *places,
                                        int place_count,
                                        const char *folder)
{
    const char **names =
        model_arena_array(arena, NAMES_MAX + 1, sizeof(*names));
    int count = 0;

    for (int i = 0; i < place_count; i++) {
        DIR *listing =
            opendir(model_arena_format(arena, "%s/%s", places[i], folder));
        struct dirent *entry;

        while (listing != NULL && count < NAMES_MAX &&
               (entry = readdir(listing)) != NULL) {
            const char *dot = ending_of(entry->d_name);

            if (dot != NULL) {
                names[count++] = model_arena_text_n(
                    arena, entry->d_name, (size_t)(dot - entry->d_name));
            }
        }
        if (listing != NULL) {
            (void)closedir(listing);
        }
    }
    return names;
}

/* The file in one search place, or NULL. */
static const char *in_place(struct model_arena *arena,
                            const char *place,
                            const char *folder,
                            const char *name)
{
    static const char *const endings[] = {".yaml", ".csv", ""};

    for (int i = 0; i < 3; i++) {
        const char *path = model_arena_format(arena, "%s/%s/%s%s", place,
                                              folder, name, endings[i]);

        if (model_file_exists(path)) {
            return strncmp(path, "./", 2) == 0 ? path + 2 : path;
        }
    }
    return NULL;
}

const char *const *model_file_names(struct model_arena *arena,
                                    const char *folder)
{
    const char *places[PLACES_MAX];
    int count = search_places(arena, places);

    return shipped_names(arena, places, count, folder);
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The files of a folder with an ending, ended by NULL; returns how many. */
static int list_files(struct model_arena *arena,
                      const char *folder,
                      const char *ending,
                      const char **paths)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    while (listing != NULL && count < NAMES_MAX &&
           (entry = readdir(listing)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > strlen(ending) &&
            strcmp(entry->d_name + length - strlen(ending), ending) == 0) {
            paths[count++] =
                model_arena_format(arena, "%s/%s", folder, entry->d_name);
        }
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
    paths[count] = NULL;
    qsort(paths, (size_t)count, sizeof(*paths), compare_texts);
    return count;
}

const char *const *model_file_shipped(struct model_arena *arena,
                                      const char *folder,
                                      const char *ending)
{
    const char *places[PLACES_MAX];
    const char **paths =
        model_arena_array(arena, NAMES_MAX + 1, sizeof(*paths));
    int place_count = search_places(arena, places);

    for (int i = 0; i < place_count; i++) {
        const char *path =
            strcmp(places[i], ".") == 0
                ? folder
                : model_arena_format(arena, "%s/%s", places[i], folder);

        if (list_files(arena, path, ending, paths) > 0) {
            break;
        }
    }
    return paths;
}

/* Another folder that has the name, a GPU's for a topology's, say; or NULL. */
static const char *elsewhere(struct model_arena *arena,
                             const char *const *places,
                             int count,
                             const char *folder,
                             const char *name)
{
    static const char *const folders[] = {"topologies", "topologies/gpu",
                                          "topologies/nccl", "workloads"};

    for (size_t f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
        for (int i = 0; i < count && strcmp(folders[f], folder) != 0; i++) {
            if (in_place(arena, places[i], folders[f], name) != NULL) {
                return folders[f];
            }
        }
    }
    return NULL;
}

/* What to write instead of a name that is not there. */
static const char *hint_for(struct model_arena *arena,
                            const char *const *places,
                            int count,
                            const char *folder,
                            const char *name)
{
    const char *other = strchr(name, '/') == NULL
                            ? elsewhere(arena, places, count, folder, name)
                            : NULL;
    const char *nearest;

    if (other != NULL) {
        return model_arena_format(arena, "%s is in %s, not in %s", name, other,
                                  folder);
    }
    nearest =
        model_nearest_name(name, shipped_names(arena, places, count, folder));
    return nearest != NULL
               ? model_arena_format(arena, "did you mean \"%s\"?", nearest)
               : "write a path, or a name that \"lagom show\" lists";
}

const char *model_file_find(struct model_arena *arena,
                            const char *folder,
                            const char *name,
                            struct model_place place,
                            const char *key,
                            struct model_errors *errors)
{
    const char *places[PLACES_MAX];
    int count;

    if (strcmp(name, "-") == 0 || model_file_exists(name)) {
        return name;
    }
    count = search_places(arena, places);
    for (int i = 0; strchr(name, '/') == NULL && i < count; i++) {
        const char *path = in_place(arena, places[i], folder, name);

        if (path != NULL) {
            return path;
        }
    }
    (void)model_errors_add(errors, MODEL_BAD_INPUT, place, key,
                           hint_for(arena, places, count, folder, name),
                           "no file \"%s\"", name);
    return NULL;
}
