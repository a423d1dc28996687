/*
 * collective_time.c - rates and times of a lone collective.
 */
#include "model/collective_time.h"

#include <math.h>

double model_pcie_congested_bytes_per_us(const struct model_pcie *pcie,
                                         double link_bytes_per_us,
                                         double in_flight_bytes)
{
    if (in_flight_bytes <= pcie->onset_bytes) {
        return link_bytes_per_us;
    }
    return link_bytes_per_us *
           pow(in_flight_bytes / pcie->onset_bytes, -pcie->congestion_exponent);
}

/* Rate of a link that this collective alone uses. */
static double link_bytes_per_us(const struct model_fabric *fabric,
                                const struct model_use *use,
                                double in_flight_bytes)
{
    double rate = model_fabric_link_bytes_per_us(fabric, use->link);

    return model_fabric_link_kind(fabric, use->link) == MODEL_LINK_PORT_P2P
               ? model_pcie_congested_bytes_per_us(&fabric->topology->pcie,
                                                   rate,
                                                   use->flows * in_flight_bytes)
               : rate;
}

double
model_collective_shared_bytes_per_us(const struct model_collective *collective,
                                     const struct model_fabric *fabric,
                                     double hbm_bytes_per_us)
{
    double hbm = (double)collective->channels * collective->hbm_ratio;
    double rate = hbm_bytes_per_us / hbm;

    for (int i = 0; i < collective->use_count; i++) {
        const struct model_use *use = &collective->uses[i];

        rate = fmin(
            rate, link_bytes_per_us(fabric, use, collective->in_flight_bytes) /
                      use->flows);
    }
    return rate;
}

/*
 * A step in which all channels wait at once: its latency, and its bytes at the
 * links' pace. Where a ring passes the network, that is the pace of the NICs,
 * which send one chunk after another while the next come at the pace of the
 * other hops: on the mean over all hops, but no less than the NIC takes.
 */
static double step_of_us(const struct model_collective *collective,
                         double shared_bytes_per_us)
{
    double bytes = collective->step_bytes;
    double far = collective->network_ratio;
    double shared_us = bytes / shared_bytes_per_us;
    double near_us =
        far > 0.0 ? bytes / collective->near_bytes_per_us : shared_us;
    double mean_us = (1.0 - far) * near_us + far * shared_us;
    double step_us = collective->step_latency_us + mean_us;

    return far > 0.0 ? fmax(step_us, shared_us) : step_us;
}

double model_collective_fill_us(const struct model_collective *collective,
                                double rate_bytes_per_us,
                                double shared_bytes_per_us)
{
    double step_us = step_of_us(collective, shared_bytes_per_us);
    double fill_us = fmax(collective->fill_us,
                          collective->fill_bytes / shared_bytes_per_us) -
                     collective->first_bytes / rate_bytes_per_us;
    double lockstep_us =
        (double)collective->first_steps *
        fmax(step_us - collective->step_bytes / rate_bytes_per_us, 0.0);

    return collective->start_us + fmax(fill_us, 0.0) + lockstep_us;
}

double model_collective_handover_us(const struct model_collective *collective,
                                    double fill_us)
{
    return collective->handover_ratio * (fill_us - collective->start_us);
}

double
model_collective_alone_bytes_per_us(const struct model_collective *collective,
                                    const struct model_fabric *fabric,
                                    double hbm_bytes_per_us)
{
    return fmin(collective->channel_bytes_per_us,
                model_collective_shared_bytes_per_us(collective, fabric,
                                                     hbm_bytes_per_us));
}

double model_collective_alone_us(const struct model_collective *collective,
                                 const struct model_fabric *fabric,
                                 double hbm_bytes_per_us)
{
    double shared = model_collective_shared_bytes_per_us(collective, fabric,
                                                         hbm_bytes_per_us);
    double rate = fmin(collective->channel_bytes_per_us, shared);

    return collective->channel_bytes > 0.0
               ? model_collective_fill_us(collective, rate, shared) +
                     collective->channel_bytes / rate
               : 0.0;
}
