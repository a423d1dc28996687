/*
 * output.c - write beside, then rename.
 */
#include "sim/output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum model_status report(const char *path, struct model_errors *errors)
{
    return model_errors_add(
        errors, MODEL_BAD_INPUT, (struct model_place){path, 0, 0}, NULL, NULL,
        "cannot write: %s", strerror(errno != 0 ? errno : EIO));
}

/* Something that renaming would destroy, or that is no file at all. */
static bool is_special(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

enum model_status sim_output_open(struct model_arena *arena,
                                  const char *path,
                                  struct sim_output *output,
                                  struct model_errors *errors)
{
    *output = (struct sim_output){.path = path};
    if (!is_special(path)) {
        output->temporary =
            model_arena_format(arena, "%s.%ld.part", path, (long)getpid());
    }
    output->stream =
        fopen(output->temporary != NULL ? output->temporary : path, "w");
    errno = output->stream != NULL ? 0 : errno;
    return output->stream != NULL ? MODEL_OK : report(path, errors);
}

enum model_status sim_output_close(struct sim_output *output,
                                   bool complete,
                                   struct model_errors *errors)
{
    bool written;

    written = fflush(output->stream) == 0 && ferror(output->stream) == 0;
    if (fclose(output->stream) != 0 || !written || !complete) {
        enum model_status status = report(output->path, errors);

        if (output->temporary != NULL) {
            (void)unlink(output->temporary);
        }
        return status;
    }
    if (output->temporary != NULL &&
        rename(output->temporary, output->path) != 0) {
        enum model_status status = report(output->path, errors);

        (void)unlink(output->temporary);
        return status;
    }
    return MODEL_OK;
}
