/*
 * collective_time.h - how long a collective takes that has the machine to
 * itself, in closed form.
 *
 * All its channels progress at one rate: the least of what a channel reaches,
 * what links carry, and what memory gives; before that stand the launch, the
 * time to fill the pipeline, and what its first steps take longer because all
 * channels wait at once (collective.h). The simulator takes the same parts from
 * here and lets the rate change while others run.
 */
#ifndef MODEL_COLLECTIVE_TIME_H
#define MODEL_COLLECTIVE_TIME_H

#include "model/collective.h"

/*
 * Rate of a link of so many bytes/us with bytes in flight on it, where it
 * carries P2P over PCIe: beyond the onset it loses (topology.h).
 */
double model_pcie_congested_bytes_per_us(const struct model_pcie *pcie,
                                         double link_bytes_per_us,
                                         double in_flight_bytes);

/*
 * The most that links and memory let one channel of a lone collective move.
 * hbm_bytes_per_us is what its slowest rank's memory gives. HUGE_VAL: no limit.
 */
double
model_collective_shared_bytes_per_us(const struct model_collective *collective,
                                     const struct model_fabric *fabric,
                                     double hbm_bytes_per_us);

/*
 * From all channels resident to steady progress at rate_bytes_per_us, where
 * links and memory would give shared_bytes_per_us.
 */
double model_collective_fill_us(const struct model_collective *collective,
                                double rate_bytes_per_us,
                                double shared_bytes_per_us);

/*
 * How much sooner each of many equal collectives ends than a lone one, launched
 * back to back, whose fill is fill_us. In a chain a rank is done when it has
 * passed its last chunk on, and begins the next collective while others still
 * work on this one. Each rank takes W = start + channel_bytes / rate for each,
 * in the order of the chain: a line of equal servers, which one collective
 * leaves every W, however full the FIFOs between them are. What a lone one
 * takes longer, its first chunk's way, is paid once. 0 for all else: there
 * every rank needs data of every other.
 */
double model_collective_handover_us(const struct model_collective *collective,
                                    double fill_us);

/* The rate of one channel with nothing else on the machine, bytes/us. */
double
model_collective_alone_bytes_per_us(const struct model_collective *collective,
                                    const struct model_fabric *fabric,
                                    double hbm_bytes_per_us);

/* The same: from resident to done, us. 0 where nothing moves. */
double model_collective_alone_us(const struct model_collective *collective,
                                 const struct model_fabric *fabric,
                                 double hbm_bytes_per_us);

#endif
