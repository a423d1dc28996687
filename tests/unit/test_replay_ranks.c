/*
 * test_replay_ranks.c - which ranks a process has, and the processes that it
 * runs for them: here shell scripts in the place of the program.
 */
#include "tests/unit/fixture.h"

#include "validate/replay/ranks.h"

#include <sys/stat.h>

/* Variables of a launcher, as a test sets them: name, value, ... NULL. */
static const char *const *variables;

static const char *variable(const char *name)
{
    for (int i = 0; variables != NULL && variables[i] != NULL; i += 2) {
        if (strcmp(variables[i], name) == 0) {
            return variables[i + 1];
        }
    }
    return NULL;
}

static struct replay_ranks find(struct model_arena *arena,
                                const char *machine,
                                int gpus_here,
                                const struct replay_options *options,
                                enum model_status expected)
{
    struct model_errors errors = {.arena = arena};
    struct replay_ranks ranks;

    assert_int_equal(
        replay_ranks_find(options, fixture_topology(arena, machine, NULL, 0),
                          gpus_here, variable, &ranks, &errors),
        expected);
    assert_int_equal(errors.count, expected == MODEL_OK ? 0 : 1);
    return ranks;
}

#define EIGHT "1x8 gpu:h100 nvswitch"
#define TWO   "2x8 gpu:h100 nvswitch nic:8x400Gbit/s"

static void test_here(void **state)
{
    const struct replay_options none = {.gpu = 0};
    const struct replay_options third = {.gpu = 3};
    struct replay_ranks ranks;

    variables = NULL;
    ranks = find(*state, "1x1 gpu:h100", 4, &third, MODEL_OK);
    assert_int_equal(ranks.count, 1);
    assert_int_equal(ranks.gpu, 3);
    assert_false(ranks.stand_in);
    ranks = find(*state, EIGHT, 8, &none, MODEL_OK);
    assert_int_equal(ranks.count, 8);
    assert_int_equal(ranks.local, 8);
    ranks = find(*state, EIGHT, 1, &none, MODEL_OK);
    assert_int_equal(ranks.count, 1);
    assert_true(ranks.stand_in);
    (void)find(*state, EIGHT, 4, &none, MODEL_NO_DEVICE);
    (void)find(*state, TWO, 8, &none, MODEL_NO_DEVICE);
    (void)find(*state, "1x1 gpu:h100", 3, &third, MODEL_NO_DEVICE);
}

/* Node 1 of 2 has ranks 8 to 15. */
static void test_nodes(void **state)
{
    struct replay_options options = {.nodes = 2, .node = 1, .id_file = "id"};
    struct replay_ranks ranks;

    variables = NULL;
    ranks = find(*state, TWO, 8, &options, MODEL_OK);
    assert_int_equal(ranks.count, 16);
    assert_int_equal(ranks.first, 8);
    assert_int_equal(ranks.local, 8);
    (void)find(*state, TWO, 7, &options, MODEL_NO_DEVICE);
    options.nodes = 3;
    (void)find(*state, TWO, 8, &options, MODEL_BAD_INPUT);
}

static void test_launchers(void **state)
{
    static const char *const slurm[] = {"SLURM_PROCID",
                                        "11",
                                        "SLURM_STEP_NUM_TASKS",
                                        "16",
                                        "SLURM_LOCALID",
                                        "3",
                                        NULL};
    static const char *const ompi[] = {"OMPI_COMM_WORLD_RANK",
                                       "2",
                                       "OMPI_COMM_WORLD_SIZE",
                                       "8",
                                       "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "2",
                                       NULL};
    struct replay_options options = {.id_file = "id"};
    struct replay_ranks ranks;

    variables = slurm;
    ranks = find(*state, TWO, 8, &options, MODEL_OK);
    assert_int_equal(ranks.count, 16);
    assert_int_equal(ranks.first, 11);
    assert_int_equal(ranks.local, 1);
    assert_int_equal(ranks.gpu, 3);
    /* A process that sees its own GPU alone. */
    ranks = find(*state, TWO, 1, &options, MODEL_OK);
    assert_int_equal(ranks.gpu, 0);
    options.id_file = NULL;
    (void)find(*state, TWO, 8, &options, MODEL_USAGE);
    variables = ompi;
    options.id_file = "id";
    ranks = find(*state, EIGHT, 8, &options, MODEL_OK);
    assert_int_equal(ranks.first, 2);
    (void)find(*state, TWO, 8, &options, MODEL_BAD_INPUT);
}

/* What the program has told itself goes before all else. */
static void test_child(void **state)
{
    struct replay_options options = {.ranks = 16, .rank = 9, .gpu = 1};
    struct replay_ranks ranks;

    variables = NULL;
    ranks = find(*state, TWO, 8, &options, MODEL_OK);
    assert_true(ranks.child);
    assert_int_equal(ranks.count, 16);
    assert_int_equal(ranks.first, 9);
    assert_int_equal(ranks.gpu, 1);
}

/* --- processes ----------------------------------------------------------- */

struct folder {
    char path[64], script[96], result[96];
};

static struct folder folder_of(const char *script)
{
    struct folder folder = {.path = "/tmp/lagom-test-XXXXXX"};
    FILE *file;

    assert_non_null(mkdtemp(folder.path));
    (void)snprintf(folder.script, sizeof(folder.script), "%s/run", folder.path);
    (void)snprintf(folder.result, sizeof(folder.result), "%s/out", folder.path);
    file = fopen(folder.script, "w");
    assert_non_null(file);
    (void)fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(folder.script, 0700), 0);
    return folder;
}

static void remove_folder(const struct folder *folder)
{
    (void)unlink(folder->script);
    (void)unlink(folder->result);
    assert_int_equal(rmdir(folder->path), 0);
}

static enum model_status run_ranks(struct model_arena *arena,
                                   struct folder *folder,
                                   const struct replay_environment *environment,
                                   struct model_errors *errors)
{
    struct replay_ranks ranks = {.count = 5, .first = 2, .local = 3, .gpu = 1};
    char *words[] = {folder->result, NULL};
    struct replay_round round = {.program = folder->script,
                                 .words = words,
                                 .word_count = 1,
                                 .ranks = &ranks,
                                 .environment = environment,
                                 .number = 4,
                                 .id_file = "/x/id"};

    *errors = (struct model_errors){.arena = arena};
    return replay_ranks_run(arena, &round, errors);
}

/* Each gets its rank, its GPU and the round's variables. */
static void test_processes(void **state)
{
    struct folder folder = folder_of("echo \"$2 $3 $4 $5 $6 $NCCL_ALGO\" "
                                     ">>\"$1\"");
    struct replay_environment environment = {.variables = {"NCCL_ALGO=Ring"},
                                             .count = 1};
    struct model_errors errors;
    char lines[1024] = "";
    FILE *file;
    size_t length;

    assert_int_equal(setenv("NCCL_ALGO", "Tree", 1), 0);
    assert_int_equal(run_ranks(*state, &folder, &environment, &errors),
                     MODEL_OK);
    assert_int_equal(unsetenv("NCCL_ALGO"), 0);
    file = fopen(folder.result, "r");
    assert_non_null(file);
    length = fread(lines, 1, sizeof(lines) - 1, file);
    assert_int_equal(fclose(file), 0);
    lines[length] = '\0';
    for (int i = 0; i < 3; i++) {
        char line[160];

        (void)snprintf(line, sizeof(line),
                       "--ranks=5 --rank=%d --gpu=%d --environment=4 "
                       "--id=/x/id.4 Ring\n",
                       2 + i, 1 + i);
        assert_non_null(strstr(lines, line));
    }
    remove_folder(&folder);
}

/* The first failure counts, and ends those that wait for the failed one. */
static void test_failures(void **state)
{
    struct folder folder =
        folder_of("case $3 in --rank=3) exit 5 ;; *) exec sleep 60 ;; esac");
    struct replay_environment environment = {.count = 0};
    struct model_errors errors;

    assert_int_equal(run_ranks(*state, &folder, &environment, &errors),
                     MODEL_NO_DEVICE);
    remove_folder(&folder);
}

/* SIGKILL, as when memory runs out: the process itself could not tell. */
static void test_killed(void **state)
{
    struct folder folder = folder_of(
        "case $3 in --rank=3) kill -9 $$ ;; *) exec sleep 60 ;; esac");
    struct replay_environment environment = {.count = 0};
    struct model_errors errors;

    assert_int_equal(run_ranks(*state, &folder, &environment, &errors),
                     MODEL_FAULT);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.list[0].message,
                        "the process of rank 3 was killed: Killed");
    remove_folder(&folder);
}

static void test_no_program(void **state)
{
    struct folder folder = folder_of("exit 0");
    struct replay_environment environment = {.count = 0};
    struct model_errors errors;

    assert_int_equal(chmod(folder.script, 0600), 0);
    assert_int_equal(run_ranks(*state, &folder, &environment, &errors),
                     MODEL_FAULT);
    remove_folder(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_here),      cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_launchers), cmocka_unit_test(test_child),
        cmocka_unit_test(test_processes), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_killed),    cmocka_unit_test(test_no_program),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
