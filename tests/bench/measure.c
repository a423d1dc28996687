/*
 * measure.c - run a command several times; print median wall time and the
 * largest resident size.
 *
 *     measure RUNS COMMAND [ARGUMENT...]      ->  "MEDIAN_MS PEAK_MB"
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 101 };

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Run once; false when it failed. */
static int run(char **command, double *wall_ms, double *peak_mb)
{
    double start_ms = now_ms();
    pid_t child = fork();
    struct rusage usage;
    int status;

    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL) {
            _exit(126);
        }
        (void)execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
        return 0;
    }
    *wall_ms = now_ms() - start_ms;
    *peak_mb = (double)usage.ru_maxrss * 1024.0 / 1e6;
    return 1;
}

int main(int count, char **words)
{
    double wall_ms[RUNS_MAX];
    double peak_mb = 0.0;
    int runs = count > 2 ? (int)strtol(words[1], NULL, 10) : 0;

    if (runs < 1 || runs > RUNS_MAX) {
        (void)fputs("usage: measure RUNS COMMAND...\n", stderr);
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        double peak;

        if (!run(words + 2, &wall_ms[i], &peak)) {
            (void)fprintf(stderr, "measure: %s failed\n", words[2]);
            return 1;
        }
        peak_mb = peak > peak_mb ? peak : peak_mb;
    }
    qsort(wall_ms, (size_t)runs, sizeof(wall_ms[0]), compare);
    (void)printf("%.2f %.1f\n", wall_ms[runs / 2], peak_mb);
    return 0;
}
