/*
 * test_nccl_graph.c - the graphs that NCCL finds, and how many channels come of
 * them.
 *
 * Where a number is not derived beside it, it is what NCCL 2.18.3's own search
 * gave for the same machine, written as a topology file for it.
 */
#include "tests/unit/nccl_machines.h"

/* "8 x 45 NVL/PXN: 16, NVLS 16": rings, GB/s of one, paths; channels. */
static const char *describe(struct model_arena *arena,
                            const struct model_nccl_comm *comm)
{
    const struct model_nccl_graph *ring = &comm->graphs[MODEL_NCCL_GRAPH_RING];
    bool alone = comm->node_count == 1;

    return model_arena_format(
        arena, "%d x %g %s%s%s: %d, NVLS %d", ring->channels,
        ring->intra_bytes_per_us / GB, model_nccl_path_names[ring->intra_type],
        alone ? "" : "/", alone ? "" : model_nccl_path_names[ring->inter_type],
        comm->channels, comm->nvls_channels);
}

/* Each channel holds each GPU once, and NICs that there are. */
static void expect_whole(const struct model_nccl_comm *comm)
{
    const struct model_nccl_graph *ring = &comm->graphs[MODEL_NCCL_GRAPH_RING];
    int gpus = comm->ranks_per_node;
    int nics = comm->node_count > 1 ? comm->topology->nics.count : 0;

    for (int i = 0; i < ring->channels; i++) {
        for (int gpu = 0; gpu < gpus; gpu++) {
            int found = 0;

            for (int k = 0; k < gpus; k++) {
                found += ring->order[i * gpus + k] == gpu ? 1 : 0;
            }
            assert_int_equal(found, 1);
        }
        assert_in_range(ring->nics[2 * i] + 1, nics > 0 ? 1 : 0, nics);
        assert_in_range(ring->nics[2 * i + 1] + 1, nics > 0 ? 1 : 0, nics);
    }
}

static void
expect(struct model_arena *arena, const struct machine *machines, int count)
{
    for (int i = 0; i < count; i++) {
        struct model_nccl_comm comm = make_plain(arena, &machines[i]);
        const char *found = describe(arena, &comm);

        if (strcmp(found, machines[i].found) != 0) {
            fail_msg("%s, %s: %s", machines[i].topology, machines[i].version,
                     found);
        }
        expect_whole(&comm);
    }
}

#define A40_PAIRS "gpu:a40 nvlink:pairs pcie:4:2/switch sockets:2"
#define A40_PCIE  "gpu:a40 pcie:4:2/switch sockets:2"
#define INTEL     "node.host.cpu=intel"
#define AMD       "node.host.cpu=amd"
#define MODEL(n)  "node.host.cpu_model=" n

/*
 * A DGX A100 has two PCIe switches between a GPU and a NIC (PXB); a topology
 * has one, so it says PIX.
 */
static void kinds_of_nodes(void **state)
{
    static const struct machine machines[] = {
        {"2.18", "dgx-h100-1node", "12 x 30 NVL: 24, NVLS 16", {0}},
        {"2.18", "dgx-h100", "8 x 45 NVL/PXN: 16, NVLS 16", {"nodes=2"}},
        {"2.18", "dgx-h100", "8 x 45 NVL/PXN: 16, NVLS 16", {"nodes=4"}},
        {"2.18", "dgx-a100", "12 x 20 NVL: 24, NVLS 0", {0}},
        {"2.18", "dgx-a100", "8 x 24 NVL/PIX: 16, NVLS 0", {"nodes=2"}},
        {"2.18", "1x8 " A40_PAIRS, "1 x 10 SYS: 2, NVLS 0", {INTEL}},
        {"2.18", "1x8 " A40_PAIRS, "2 x 12 SYS: 4, NVLS 0", {AMD}},
        {"2.18",
         "2x8 " A40_PAIRS " nic:2x200Gbit/s",
         "2 x 10 SYS/SYS: 4, NVLS 0",
         {INTEL}},
        {"2.18", "1x8 " A40_PCIE, "1 x 10 SYS: 2, NVLS 0", {INTEL}},
        {"2.18",
         "2x8 " A40_PCIE " nic:1x100Gbit/s",
         "1 x 10 SYS/SYS: 2, NVLS 0",
         {INTEL}}};

    expect(*state, machines, FIXTURE_COUNT(machines));
}

/*
 * The machines of the papers. Of 8 A40 in NVLink pairs on root ports (AMD) each
 * pair has two slots of 24 GB/s, so that 4 rings of 12 GB/s leave and enter it:
 * 8 channels, as was seen. Below switches a pair shares one slot: 4. Without
 * NVLink each GPU's own slot carries all its rings: 4. Between Intel sockets
 * NCCL assumes 10 GB/s, one ring: 2. Two nodes of the first have two NICs, at
 * 24 GB/s of PCIe: a ring each, 4. From 2.30 on there are 16 GB/s between AMD
 * sockets: one ring of 15.
 */
static void machines_of_the_papers(void **state)
{
    static const struct machine machines[] = {
        {"2.18", "lagom-a-1node", "4 x 12 SYS: 8, NVLS 0", {0}},
        {"2.18", "lagom-a", "2 x 24 SYS/SYS: 4, NVLS 0", {0}},
        {"2.18",
         "lagom-a-1node",
         "2 x 12 SYS: 4, NVLS 0",
         {"node.pcie.gpus_per_switch=2"}},
        {"2.18",
         "1x8 gpu:a40 pcie:4 sockets:2",
         "2 x 12 SYS: 4, NVLS 0",
         {AMD}},
        {"2.18",
         "lagom-a-1node",
         "1 x 10 SYS: 2, NVLS 0",
         {INTEL, "node.host.cpu_family=6", MODEL("106")}},
        {"2.18", "lagom-b-1node", "1 x 10 SYS: 2, NVLS 0", {0}},
        {"2.18", "lagom-b", "1 x 10 SYS/SYS: 2, NVLS 0", {0}},
        {"2.18",
         "1x8 gpu:a40 nvlink:pairs pcie:4:4/switch sockets:2",
         "1 x 10 SYS: 2, NVLS 0",
         {INTEL}},
        {"2.30", "lagom-a-1node", "1 x 15 SYS: 2, NVLS 0", {0}}};

    expect(*state, machines, FIXTURE_COUNT(machines));
}

/*
 * A V100 of a DGX-1 has 6 links of 20 GB/s, each of 6 rings takes one: 12
 * channels. Four NICs of 12.5 GB/s: a ring of 12 each, 8. Four GH200 with a NIC
 * of 25 GB/s each: 4 rings of 24, 8 channels, as in the log of Alps; 2.30 sends
 * by the GPU that has a link to the NIC's CPU. B300: 18 links of 40.1 GB/s,
 * 721.8 in all, 16 rings of 45; their log has 32 channels. 2.30 has rings go in
 * pairs, one out by the NIC that the other came in by, so that no GPU sends for
 * another: 8 of 48.
 */
static void other_machines(void **state)
{
    static const struct machine machines[] = {
        {"2.18", "dgx1-v100", "6 x 20 NVL: 12, NVLS 0", {0}},
        {"2.18", "p4de", "4 x 12 NVL/PIX: 8, NVLS 0", {0}},
        {"2.18", "alps", "4 x 24 NVL/PHB: 8, NVLS 0", {0}},
        {"2.30",
         "alps",
         "4 x 24 NVL/PXN: 8, NVLS 0",
         {"node.host.c2c_rate=450 GB/s"}},
        {"2.18", "oci-a100", "16 x 12 NVL/PIX: 32, NVLS 0", {0}},
        {"2.30", "hgx-h200", "12 x 30 NVL: 24, NVLS 16", {0}},
        {"2.30", "hgx-b300", "16 x 45 NVL: 32, NVLS 24", {0}},
        {"2.30", "dgx-h100", "8 x 48 NVL/PIX: 16, NVLS 16", {0}}};

    expect(*state, machines, FIXTURE_COUNT(machines));
}

/*
 * Between sockets it goes by family and model of Intel CPUs: Broadwell 6 GB/s,
 * later ones 10; from 2.30 on 22 from Sapphire Rapids on. But P2P by way of an
 * Intel CPU takes 1.2 times its rate of 24 GB/s: 20 at most.
 */
static void sockets_by_cpu(void **state)
{
    static const struct machine machines[] = {
        {"2.18", "1x8 " A40_PCIE, "1 x 6 SYS: 2, NVLS 0", {INTEL, MODEL("79")}},
        {"2.18",
         "1x8 " A40_PCIE,
         "1 x 10 SYS: 2, NVLS 0",
         {INTEL, MODEL("143")}},
        {"2.30",
         "1x8 " A40_PCIE,
         "1 x 20 SYS: 2, NVLS 0",
         {INTEL, MODEL("143")}},
        {"2.18",
         "1x8 " A40_PCIE,
         "1 x 6 SYS: 2, NVLS 0",
         {"node.host.cpu=arm"}}};

    expect(*state, machines, FIXTURE_COUNT(machines));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_nodes),
        cmocka_unit_test(machines_of_the_papers),
        cmocka_unit_test(other_machines),
        cmocka_unit_test(sockets_by_cpu),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
