/*
 * crew.h - jobs side by side, in threads.
 *
 * A thread takes the next job, in their order, and none is taken after one has
 * failed: so the first that fails is the same for any number of threads, and
 * what jobs do must not depend on each other.
 */
#ifndef SEARCH_CREW_H
#define SEARCH_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct search_crew_work {
    bool (*job)(void *context, int index); /* false: it has failed */
    void *context;
    int count;
};

/* Threads for so many jobs: as wanted, 0: one for each core; at most one for
 * each job. */
int search_crew_threads(uint64_t wanted, int count);

/* Do all; goes on with fewer threads where no more can be started. */
void search_crew_run(const struct search_crew_work *work, int threads);

#endif
