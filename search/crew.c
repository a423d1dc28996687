/*
 * crew.c - threads that take jobs by number.
 */
#include "search/crew.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

struct crew {
    const struct search_crew_work *work;
    pthread_mutex_t lock; /* of what follows */
    int next;
    bool failed;
};

/* A thread: jobs until there are no more. */
static void *work_on(void *context)
{
    struct crew *crew = context;

    for (;;) {
        int index = -1;

        (void)pthread_mutex_lock(&crew->lock);
        if (!crew->failed && crew->next < crew->work->count) {
            index = crew->next++;
        }
        (void)pthread_mutex_unlock(&crew->lock);
        if (index < 0) {
            return NULL;
        }
        if (!crew->work->job(crew->work->context, index)) {
            (void)pthread_mutex_lock(&crew->lock);
            crew->failed = true;
            (void)pthread_mutex_unlock(&crew->lock);
        }
    }
}

int search_crew_threads(uint64_t wanted, int count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads;

    if (wanted == 0) {
        wanted = cores > 0 ? (uint64_t)cores : 1;
    }
    threads = wanted < THREADS_MAX ? (int)wanted : THREADS_MAX;
    return threads < count ? threads : count;
}

void search_crew_run(const struct search_crew_work *work, int threads)
{
    struct crew crew = {.work = work};
    pthread_t others[THREADS_MAX];
    int started = 0;

    (void)pthread_mutex_init(&crew.lock, NULL);
    /* This thread works, too: so it goes on where no other can be started. */
    while (started < threads - 1 && started < THREADS_MAX &&
           pthread_create(&others[started], NULL, work_on, &crew) == 0) {
        started++;
    }
    (void)work_on(&crew);
    for (int i = 0; i < started; i++) {
        (void)pthread_join(others[i], NULL);
    }
    (void)pthread_mutex_destroy(&crew.lock);
}
