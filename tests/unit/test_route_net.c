/*
 * test_route_net.c - routes between nodes, link by link: NICs, GPUDirect, PXN,
 * rails and leaves.
 */
#include "tests/unit/routes.h"

/*
 * Network: 2 us. With GPUDirect as far as the root complex from GPU to NIC to
 * NIC to GPU.
 */
static void over_the_network(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.up node0.nic1.out node1.gpu0.pcie.down "
         "node1.nic1.in"},
        {8, 7, MODEL_SHM, 0, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.down node0.nic0.in node1.gpu0.pcie.up "
         "node1.nic0.out"},
        /* NVLink does not join GPUs of two nodes */
        {1, 8, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu1.pcie.up node0.nic0.out node1.gpu0.pcie.down "
         "node1.nic0.in"}};
    struct model_fabric fabric;

    model_fabric_make(wired(*state, "2x8 gpu:a40 nvswitch nic:2x400Gbit/s",
                            "node.nics.gpudirect_level=phb"),
                      false, &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * Without GPUDirect host memory is written and read on both sides. One NIC
 * hangs on socket 0: GPU 7 crosses to it, GPU 0 does not.
 */
static void over_the_network_by_way_of_the_host(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu7.pcie.up node0.nic0.out node0.socket0.cross.in "
         "node0.socket1.cross.out node0.socket1.memory "
         "node0.socket1.memory node1.gpu0.pcie.down node1.nic0.in "
         "node1.socket0.memory node1.socket0.memory"}};
    const struct model_topology *topology =
        wired(*state, "2x8 gpu:a40 sockets:2 nic:1x400Gbit/s",
              "node.nics.gpudirect=false");
    struct model_fabric fabric;

    model_fabric_make(topology, false, &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
}

/*
 * NICs below the switches of two GPUs. GPU 1 and NIC 0 share a switch and do
 * not pass its uplink. GPU 0 takes NIC 1 through the root complex: up from its
 * own switch, down to the other; NCCL's level (PXB) keeps GPUDirect out there,
 * so host memory is on the way.
 */
static void nics_hang_below_switches(void **state)
{
    static const struct route routes[] = {
        {1, 4, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu1.pcie.up node0.nic0.out node1.gpu0.pcie.down "
         "node1.nic0.in"},
        {0, 5, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.nic1.out node0.socket0.memory "
         "node0.socket0.memory node0.switch0.up node0.switch1.down "
         "node1.gpu1.pcie.down node1.nic1.in node1.socket0.memory "
         "node1.socket0.memory node1.switch0.down node1.switch1.up"}};
    static const struct route direct[] = {
        {0, 5, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.nic1.out node0.switch0.up "
         "node0.switch1.down node1.gpu1.pcie.down node1.nic1.in "
         "node1.switch0.down node1.switch1.up"}};
    const char *text = "2x4 gpu:a40 pcie:4:2/switch nic:2x100Gbit/s";
    struct model_fabric fabric = make(*state, text, false);
    struct model_hop hop;

    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 1, 4, MODEL_P2P, 0, &hop);
    assert_true(hop.direct_send && hop.direct_receive);
    model_fabric_route(&fabric, 0, 5, MODEL_P2P, 1, &hop);
    assert_false(hop.direct_send || hop.direct_receive);
    model_fabric_make(wired(*state, text, "node.nics.gpudirect_level=phb"),
                      false, &fabric);
    CHECK_ROUTES(*state, &fabric, direct);
}

/*
 * PXN: GPU 0 sends over NIC 2 by way of GPU 2, 0.2 us of NVLink more. Nobody
 * receives that way: NIC 0 is far from GPU 3, which gets its data through the
 * root complex and host memory.
 */
static void pxn_sends_by_a_neighbour(void **state)
{
    static const struct route routes[] = {
        {0, 6, MODEL_P2P, 2, MODEL_HOP_NET, 2.2,
         "node0.gpu0.nvlink.out node0.gpu2.nvlink.in node0.gpu2.pcie.up "
         "node0.nic2.out node1.gpu2.pcie.down node1.nic2.in"},
        {0, 7, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.nic0.out node1.gpu3.pcie.down "
         "node1.nic0.in node1.socket0.memory node1.socket0.memory "
         "node1.switch0.up node1.switch3.down"}};
    static const struct route without[] = {
        {0, 6, MODEL_P2P, 2, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.nic2.out node0.socket0.memory "
         "node0.socket0.memory node0.switch0.up node0.switch2.down "
         "node1.gpu2.pcie.down node1.nic2.in"}};
    const char *text = "2x4 gpu:a100 nvswitch nic:4x200Gbit/s";
    struct model_fabric fabric = make(*state, text, false);
    struct model_hop hop;

    CHECK_ROUTES(*state, &fabric, routes);
    model_fabric_route(&fabric, 0, 6, MODEL_P2P, 2, &hop);
    assert_int_equal(hop.sender_gpu, 2);
    assert_true(hop.direct_send && hop.direct_receive);
    model_fabric_make(wired(*state, text, "node.nics.pxn=false"), false,
                      &fabric);
    CHECK_ROUTES(*state, &fabric, without);
}

/*
 * A pair that no ring ties to a NIC, GPU 1 of a node to GPU 3 of another: with
 * PXN over NIC 3 on both sides; without it each over its own NIC, 1 and 3; or
 * over NIC 3 the long way where messages must stay on their rail.
 */
static void pairs_choose_their_nics(void **state)
{
    static const struct {
        const char *set, *names;
    } rows[] = {
        {"node.nics.pxn=true",
         "node0.gpu1.nvlink.out node0.gpu3.nvlink.in node0.gpu3.pcie.up "
         "node0.nic3.out node1.gpu3.pcie.down node1.nic3.in"},
        {"node.nics.pxn=false",
         "node0.gpu1.pcie.up node0.nic1.out node1.gpu3.pcie.down "
         "node1.nic3.in rail1.up rail3.down"},
    };
    static const char *const narrow[] = {"node.nics.pxn=false",
                                         "network.cross_nic=false"};
    const char *text = "2x4 gpu:a100 nvswitch nic:4x200Gbit/s net:rails:2";
    struct model_fabric fabric;
    struct model_hop hop;

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        model_fabric_make(wired(*state, text, rows[i].set), false, &fabric);
        model_fabric_route(&fabric, 1, 7, MODEL_P2P, MODEL_NIC_OF_PAIR, &hop);
        assert_string_equal(route_names(*state, &fabric, &hop), rows[i].names);
    }
    model_fabric_make(fixture_topology(*state, text, narrow, 2), false,
                      &fabric);
    model_fabric_route(&fabric, 1, 7, MODEL_P2P, MODEL_NIC_OF_PAIR, &hop);
    assert_string_equal(
        route_names(*state, &fabric, &hop),
        "node0.gpu1.pcie.up node0.nic3.out node0.socket0.memory "
        "node0.socket0.memory node0.switch1.up node0.switch3.down "
        "node1.gpu3.pcie.down node1.nic3.in");
}

/*
 * Leaves of two nodes with 4 NICs of 200 Gbit/s, 4 to 1: 2 x 4 x 25 / 4 = 50
 * GB/s up (all of it achieved). Node 0 reaches 1 below its leaf, 2 over the
 * spine, 2 x 0.3 us more.
 */
static void over_the_spine(void **state)
{
    static const char *const sets[] = {"node.nics.achieved=1",
                                       "node.nics.latency=2 us",
                                       "network.switch_latency=0.3 us"};
    static const struct route routes[] = {
        {0, 4, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.nic0.out node1.gpu0.pcie.down "
         "node1.nic0.in"},
        {0, 8, MODEL_P2P, 0, MODEL_HOP_NET, 2.6,
         "leaf0.up leaf1.down node0.gpu0.pcie.up node0.nic0.out "
         "node2.gpu0.pcie.down node2.nic0.in"}};
    struct model_fabric fabric;

    model_fabric_make(
        fixture_topology(
            *state, "4x4 gpu:a100 nvswitch nic:4x200Gbit/s net:tree:2/leaf:4",
            sets, 3),
        false, &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
    assert_int_equal(fabric.leaf_count, 2);
    assert_int_equal(fabric.link_count, 4 * fabric.links_per_node + 4);
    for (int link = fabric.first_leaf_link; link < fabric.link_count; link++) {
        assert_near_ratio(model_fabric_link_bytes_per_us(&fabric, link), 50e3,
                          1e-12);
        assert_int_equal(model_fabric_link_kind(&fabric, link),
                         (link - fabric.first_leaf_link) % 2 == 0
                             ? MODEL_LINK_LEAF_UP
                             : MODEL_LINK_LEAF_DOWN);
    }
}

/*
 * The same folded: a node's share of an uplink is 25 GB/s. To the next node one
 * of two nodes leaves its leaf: half a flow and half of 0.6 us; two nodes
 * further both do.
 */
static void the_spine_folded(void **state)
{
    static const char *const sets[] = {"node.nics.achieved=1",
                                       "node.nics.latency=2 us",
                                       "network.switch_latency=0.3 us"};
    static const struct {
        int to;
        double weight, latency_us;
    } rows[] = {{4, 0.5, 2.3}, {8, 1, 2.6}, {12, 0.5, 2.3}};
    struct model_fabric fabric;

    model_fabric_make(
        fixture_topology(
            *state, "4x4 gpu:a100 nvswitch nic:4x200Gbit/s net:tree:2/leaf:4",
            sets, 3),
        true, &fabric);
    assert_int_equal(fabric.link_count, fabric.links_per_node + 2);
    assert_near_ratio(
        model_fabric_link_bytes_per_us(&fabric, fabric.first_leaf_link), 25e3,
        1e-12);
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_hop hop;

        model_fabric_route(&fabric, 0, rows[i].to, MODEL_P2P, 0, &hop);
        assert_string_equal(route_names(*state, &fabric, &hop),
                            "leaf0.down leaf0.up node0.gpu0.pcie.down "
                            "node0.gpu0.pcie.up node0.nic0.in node0.nic0.out");
        assert_near(hop.weights[hop.link_count - 1], rows[i].weight, 1e-12);
        assert_near(hop.weights[hop.link_count - 2], rows[i].weight, 1e-12);
        assert_near(hop.latency_us, rows[i].latency_us, 1e-12);
    }
}

/*
 * Folded, a route into another node ends on the shown node's ingress links, and
 * one to the last node's GPU 0 too.
 */
static void folded_routes_stay_on_the_shown_node(void **state)
{
    static const struct route routes[] = {
        {7, 8, MODEL_P2P, 1, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.down node0.gpu7.pcie.up node0.nic1.in "
         "node0.nic1.out"},
        {0, 31, MODEL_P2P, 0, MODEL_HOP_NET, 2,
         "node0.gpu0.pcie.up node0.gpu7.pcie.down node0.nic0.in "
         "node0.nic0.out"},
        {2, 3, MODEL_P2P, 0, MODEL_HOP_NVLINK, 0.2,
         "node0.gpu2.nvlink.out node0.gpu3.nvlink.in"}};
    struct model_fabric fabric;

    model_fabric_make(wired(*state, "4x8 gpu:a40 nvswitch nic:2x400Gbit/s",
                            "node.nics.gpudirect_level=phb"),
                      true, &fabric);
    CHECK_ROUTES(*state, &fabric, routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_the_network),
        cmocka_unit_test(over_the_network_by_way_of_the_host),
        cmocka_unit_test(nics_hang_below_switches),
        cmocka_unit_test(pxn_sends_by_a_neighbour),
        cmocka_unit_test(pairs_choose_their_nics),
        cmocka_unit_test(over_the_spine),
        cmocka_unit_test(the_spine_folded),
        cmocka_unit_test(folded_routes_stay_on_the_shown_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
