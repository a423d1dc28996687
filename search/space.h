/*
 * space.h - the configurations of a collective that searches choose from: those
 * of AutoCCL's generator (github.com/gbxu/autoccl, nccl_candidate.h).
 *
 * A subspace is an algorithm, a protocol and a transport:
 *
 *     rings       all_gather, reduce_scatter, all_reduce, broadcast, reduce
 *     trees       all_reduce
 *     pairs       all_to_all, send_recv, send; LL within one node only
 *     LL, LL128, Simple;  P2P, SHM (host memory where NVLink does not reach)
 *
 * In it, with a count of bytes that the channels share out (what a rank
 * contributes or keeps; in trees, broadcast and reduce all):
 *
 *     channels   1 .. SEARCH_CHANNELS_MAX, at most the GPU's SMs
 *     threads    96 .. 640 in steps of 32; Simple up to 608, in trees 512
 *     chunk      i times a unit, i = 1, 2, 3 ..., bytes of payload:
 *
 *                   unit           at most
 *     LL            threads x 8    40 KiB
 *     LL128         threads x 60   576,000 B
 *     Simple        threads x 8    2 MiB; in trees and chains 512 KiB
 *
 *     and i at most count / (channels x unit), but i = 1 always
 *
 * Of messages below 1 MiB the list of channels and, within each, threads ends
 * with the first whose largest chunk moves all in one step.
 *
 * Pairs: the channels are all that the kernel has, and a CTA has up to 8 pairs
 * at once. Threads are those of one pair one way, 32 .. 256 over the pairs of a
 * CTA: what runs is a CTA of all its pairs, both ways. Chunks go up to 40 KiB
 * (LL) or what NCCL moves between peers. (There the channels of the kernel are
 * a setting, which its own tool puts at 128 as well, and the tuned number is
 * how many of them a peer has.)
 *
 * The chunk is what AutoCCL calls so, a slice: what a CTA moves between two
 * flags. So are its measurements counted that the channel's law is fitted to
 * (channel.h), and the slots of the FIFO that a chunk takes (protocol.h). Of
 * Simple rings its code makes four such slices, up to 512 KiB, or two, up to 1
 * MiB, before a CTA turns to its next block, which hides some waiting; here
 * every chunk stands alone. LL's FIFO is 8/10 of AutoCCL's enlarged one: from
 * 32 KiB on all its chunks are alike.
 *
 * Not as in AutoCCL: LL128 only where NCCL trusts the way to keep 128 bytes
 * whole; P2P levels between NVLink and the whole node are none; where NCCL
 * chooses an algorithm that AutoCCL does not know (NVLS, PAT) it is a subspace
 * with the rules of a Simple ring; its generator knows no send_recv and send,
 * which have one peer here.
 */
#ifndef SEARCH_SPACE_H
#define SEARCH_SPACE_H

#include "search/problem.h"

enum {
    SEARCH_CHANNELS_MAX = 128,
    SEARCH_THREADS_STEP = 32,
    SEARCH_SUBSPACES_MAX = 14 /* of an all_reduce with NVLS */
};

struct search_space {
    struct model_config subspace; /* algorithm, protocol, transport */
    int channels_max;
    int threads_min, threads_max;
    int last_threads;       /* the most with channels_max */
    double grain_bytes;     /* unit of the chunk per thread */
    double chunk_max_bytes; /* of payload */
    double count_bytes;     /* that the channels share out; pairs: of one */
    int peers;              /* pairs: members; otherwise 0 */
};

/* A point: chunk as the multiple i above; threads of pairs as above. */
struct search_candidate {
    int channels, threads, multiple;
};

/* Channels that every GPU of the machine has SMs for, at most AutoCCL's. */
int search_channels_max(const struct search_problem *problem);

/*
 * The subspaces of a class that its collective can run here and that agree with
 * what its ops give themselves; where none does, what they give and NCCL's own
 * otherwise. Returns how many, at least 1.
 */
int search_subspaces(const struct search_problem *problem,
                     const struct search_class *part,
                     struct search_space spaces[SEARCH_SUBSPACES_MAX]);

/* The one that a configuration, such as NCCL's, lies in; -1: in none. */
int search_subspace_of(const struct search_space *spaces,
                       int count,
                       const struct model_config *config);

/*
 * End the lists of channels and threads early where a message, as the generator
 * counts it, is below 1 MiB. The other fields are set.
 */
void search_space_end(struct search_space *space, double message_bytes);

/* The most threads of that many channels, 1 .. channels_max. */
int search_space_threads_max(const struct search_space *space, int channels);

/* Steps from the least threads of that many channels to the most. */
int search_space_thread_steps(const struct search_space *space, int channels);

/* Channels among which the count of bytes is shared out. */
double search_space_sharers(const struct search_space *space, int channels);

/* How many chunks a (channels, threads) has: i = 1 .. result. */
int search_space_chunks(const struct search_space *space,
                        int channels,
                        int threads);

/* How many candidates there are in all. */
int64_t search_space_count(const struct search_space *space);

/* What a candidate is to run as. */
struct model_config
search_space_config(const struct search_space *space,
                    const struct search_candidate *candidate);

/* The multiple whose chunk is nearest, with a candidate's channels, threads. */
int search_space_multiple(const struct search_space *space,
                          const struct search_candidate *candidate,
                          double chunk_bytes);

/*
 * The candidate nearest to a configuration, whose algorithm, protocol and
 * transport do not matter: each number in turn, as far as those before allow.
 */
struct search_candidate search_space_nearest(const struct search_space *space,
                                             const struct model_config *config);

#endif
