/*
 * lost.c - sums of what ops lost.
 */
#include "sim/window.h"

void sim_lost_add(struct sim_lost *sum,
                  const struct sim_lost *lost,
                  double repeats)
{
    sum->sm += repeats * lost->sm;
    sum->l2 += repeats * lost->l2;
    sum->hbm += repeats * lost->hbm;
    sum->link += repeats * lost->link;
    sum->peer += repeats * lost->peer;
    sum->launch += repeats * lost->launch;
}

double sim_lost_sum_us(const struct sim_lost *lost)
{
    return lost->sm + lost->l2 + lost->hbm + lost->link + lost->peer +
           lost->launch;
}
