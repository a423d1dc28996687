/*
 * test_route.c - routes within a node, link by link.
 */
#include "tests/unit/routes.h"

/* A mesh of 4 divides 90 GB/s over 3 peers; each ordered pair has its link. */
static void a_mesh_divides_over_the_peers(void **state)
{
    static const struct route routes[] = {
        {1, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2, "node0.gpu1.nvlink.gpu3"},
        {3, 1, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2, "node0.gpu3.nvlink.gpu1"}};
    struct model_fabric fabric =
        make(*state, "1x4 gpu:a40 nvlink:mesh:90GB/s", true);
    struct model_hop hop;

    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 1, 3, MODEL_P2P, 0, &hop);
    assert_int_equal(model_fabric_link_kind(&fabric, hop.links[0]),
                     MODEL_LINK_MESH);
    assert_near_ratio(model_fabric_link_bytes_per_us(&fabric, hop.links[0]),
                      30000, 1e-12);
}

/* NVLink takes 0.2 us, an NVSwitch joins any two. */
static void over_nvlink(void **state)
{
    static const struct route pairs[] = {
        {2, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.out node0.gpu3.nvlink.in"},
        {3, 2, MODEL_SHM, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.in node0.gpu3.nvlink.out"}};
    static const struct route all[] = {
        {1, 6, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu1.nvlink.out node0.gpu6.nvlink.in"}};
    struct model_fabric fabric = make(*state, "1x8 gpu:a40 nvlink:pairs", true);

    CHECK_ROUTES(*state, &fabric, pairs);
    fabric = make(*state, "1x8 gpu:a40 nvswitch", true);
    CHECK_ROUTES(*state, &fabric, all);
}

/*
 * Listed links: of two GPUs all links of a direction are one, here 2 of 22
 * GB/s. GPU 0 reaches 7 over 4, which has two links to each, in two hops.
 */
static void over_listed_links(void **state)
{
    static const char *const sets[] = {"node.nvlink.latency=0.2 us",
                                       "node.pcie.latency=0.18 us"};
    static const struct route routes[] = {
        {0, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2, "node0.gpu0.nvlink.gpu3"},
        {3, 0, MODEL_SHM, 0, MODEL_HOP_NVLINK, 0.2, "node0.gpu3.nvlink.gpu0"},
        {0, 7, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.4,
         "node0.gpu0.nvlink.gpu4 node0.gpu4.nvlink.gpu7"}};
    struct model_fabric fabric;
    struct model_hop hop;

    model_fabric_make(fixture_topology(*state, "dgx1-v100", sets, 2), true,
                      &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 0, 3, MODEL_P2P, 0, &hop);
    assert_near_ratio(model_fabric_link_bytes_per_us(&fabric, hop.links[0]),
                      44000, 1e-12);
}

/*
 * PCIe: 0.18 us a link; 0.16 us between sockets. Two GPUs below a switch: up
 * and down, 2 links. Else by way of the root: GPU, switch, switch, GPU, 4
 * links, and the sockets' link where they differ. The port of both GPUs carries
 * it.
 */
static void over_pcie(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu0.pcie.up node0.gpu0.port.p2p node0.gpu1.pcie.down "
         "node0.gpu1.port.p2p"},
        {1, 2, MODEL_P2P, 0, MODEL_HOP_P2P, 0.72,
         "node0.gpu1.pcie.up node0.gpu1.port.p2p node0.gpu2.pcie.down "
         "node0.gpu2.port.p2p node0.switch0.up node0.switch1.down"},
        {3, 4, MODEL_P2P, 0, MODEL_HOP_P2P, 0.88,
         "node0.gpu3.pcie.up node0.gpu3.port.p2p node0.gpu4.pcie.down "
         "node0.gpu4.port.p2p node0.socket0.cross.out node0.socket1.cross.in "
         "node0.switch1.up node0.switch2.down"},
        {7, 0, MODEL_P2P, 0, MODEL_HOP_P2P, 0.88,
         "node0.gpu0.pcie.down node0.gpu0.port.p2p node0.gpu7.pcie.up "
         "node0.gpu7.port.p2p node0.socket0.cross.in node0.socket1.cross.out "
         "node0.switch0.down node0.switch3.up"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4:2/switch sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/* On root ports there is no switch on the way: 2 links. */
static void over_root_ports(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu0.pcie.up node0.gpu0.port.p2p node0.gpu1.pcie.down "
         "node0.gpu1.port.p2p"},
        {3, 4, MODEL_P2P, 0, MODEL_HOP_P2P, 0.52,
         "node0.gpu3.pcie.up node0.gpu3.port.p2p node0.gpu4.pcie.down "
         "node0.gpu4.port.p2p node0.socket0.cross.out "
         "node0.socket1.cross.in"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4 sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * P2P as far as one PCIe switch: 0 and 1 are below one; 1 and 2 are not, and go
 * through host memory as with SHM. So a port carries both at once: P2P takes of
 * SHM's 30 GB/s what it would need there, 30 / 20 of its bytes.
 */
static void p2p_ends_at_its_level(void **state)
{
    static const char *const sets[] = {
        "node.pcie.p2p=pix", "node.pcie.p2p_rate=20 GB/s",
        "node.pcie.shm_rate=30 GB/s", "node.pcie.latency=0.18 us"};
    static const struct route routes[] = {
        {0, 1, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu0.pcie.up node0.gpu0.port.p2p node0.gpu0.port.shm "
         "node0.gpu1.pcie.down node0.gpu1.port.p2p node0.gpu1.port.shm"},
        {1, 2, MODEL_P2P, 0, MODEL_HOP_SHM, 0.72,
         "node0.gpu1.pcie.up node0.gpu1.port.shm node0.gpu2.pcie.down "
         "node0.gpu2.port.shm node0.socket0.memory node0.socket0.memory "
         "node0.switch0.up node0.switch1.down"}};
    struct model_fabric fabric;
    struct model_hop hop;

    model_fabric_make(
        fixture_topology(*state, "1x8 gpu:a40 pcie:4:2/switch", sets, 4), true,
        &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 0, 1, MODEL_P2P, 0, &hop);
    for (int i = 0; i < hop.link_count; i++) {
        assert_near(hop.weights[i],
                    model_fabric_link_kind(&fabric, hop.links[i]) ==
                            MODEL_LINK_PORT_SHM
                        ? 1.5
                        : 1,
                    1e-12);
    }
}

/*
 * Through host memory even two GPUs of one switch go up to the root. The
 * sender's socket's memory is written and read.
 */
static void through_host_memory(void **state)
{
    static const struct route routes[] = {
        {0, 1, MODEL_SHM, 0, MODEL_HOP_SHM, 0.72,
         "node0.gpu0.pcie.up node0.gpu0.port.shm node0.gpu1.pcie.down "
         "node0.gpu1.port.shm node0.socket0.memory node0.socket0.memory "
         "node0.switch0.down node0.switch0.up"},
        {4, 3, MODEL_SHM, 0, MODEL_HOP_SHM, 0.88,
         "node0.gpu3.pcie.down node0.gpu3.port.shm node0.gpu4.pcie.up "
         "node0.gpu4.port.shm node0.socket0.cross.in node0.socket1.cross.out "
         "node0.socket1.memory node0.socket1.memory node0.switch1.down "
         "node0.switch2.up"}};
    struct model_fabric fabric =
        make(*state, "1x8 gpu:a40 pcie:4:2/switch sockets:2", true);

    CHECK_ROUTES(*state, &fabric, routes);
}

/* On lagom-a the shipped file's wiring: pairs, two sockets, root ports. */
static void the_wiring_of_lagom_a(void **state)
{
    static const char *const sets[] = {"node.pcie.latency=0.18 us",
                                       "node.nvlink.latency=0.2 us"};
    static const struct route routes[] = {
        {4, 5, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu4.nvlink.out node0.gpu5.nvlink.in"},
        {5, 6, MODEL_P2P, 0, MODEL_HOP_P2P, 0.36,
         "node0.gpu5.pcie.up node0.gpu5.port.p2p node0.gpu6.pcie.down "
         "node0.gpu6.port.p2p"}};
    struct model_fabric fabric;

    model_fabric_make(fixture_topology(*state, "lagom-a", sets, 2), true,
                      &fabric);

    CHECK_ROUTES(*state, &fabric, routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_divides_over_the_peers),
        cmocka_unit_test(over_nvlink),
        cmocka_unit_test(over_listed_links),
        cmocka_unit_test(over_pcie),
        cmocka_unit_test(over_root_ports),
        cmocka_unit_test(p2p_ends_at_its_level),
        cmocka_unit_test(through_host_memory),
        cmocka_unit_test(the_wiring_of_lagom_a),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
