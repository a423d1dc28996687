/*
 * test_nccl_xml.c - NCCL's topology files: machines written by hand, whose
 * wiring is known, and read(write(topology)) has the wiring of topology.
 */
#include "model/nccl/xml_read.h"
#include "model/nccl/xml_write.h"
#include "model/wiring.h"

#include "model/files.h"
#include "model/node_merge.h"
#include "tests/unit/fixture.h"

/* The tree of a file's text, with the notes, or NULL. */
static struct model_node *read_tree(struct model_arena *arena,
                                    const char *text,
                                    const char *gpu,
                                    struct model_errors *errors)
{
    struct model_nccl_xml_options options = {.gpu = gpu};
    const struct model_xml_element *system;

    *errors = (struct model_errors){.arena = arena};
    system = model_xml_read(
        arena, (struct model_text){"t.xml", text, strlen(text)}, errors);
    return system != NULL
               ? model_nccl_xml_read(arena, system, &options, NULL, errors)
               : NULL;
}

static const struct model_topology *
read_topology(struct model_arena *arena, const char *text, const char *gpu)
{
    struct model_topology *topology =
        model_arena_alloc(arena, sizeof *topology);
    struct model_errors errors;
    struct model_node *root = read_tree(arena, text, gpu, &errors);

    fixture_no_errors(&errors);
    assert_non_null(root);
    (void)model_topology_bind(arena, root, "t.xml", NULL, 0, topology, &errors);
    fixture_no_errors(&errors);
    return topology;
}

/* Does a note of the topology hold the text? */
static bool is_noted(const struct model_topology *topology, const char *text)
{
    const char *const *notes = topology->notes.items;

    for (int i = 0; i < topology->notes.count; i++) {
        if (strstr(notes[i], text) != NULL) {
            return true;
        }
    }
    return false;
}

/*
 * A file from a sketch: C begins a CPU, ( and ) a PCIe switch, g is a GPU, n a
 * NIC of 200 Gbit/s, m one of 100. GPU i is 0000:0i:00.0 and holds links[i]
 * (links may be NULL).
 */
static const char *
sketch(struct model_arena *arena, const char *shape, const char *const *links)
{
    static const char pcie[] =
        "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"";
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int cpus = 0;
    int gpus = 0;
    int others = 0;
    const char *copy;

    (void)fputs("<system version=\"1\">", out);
    for (; *shape != '\0'; shape++) {
        switch (*shape) {
        case 'C':
            (void)fprintf(out,
                          "%s<cpu numaid=\"%d\" arch=\"x86_64\" "
                          "vendor=\"AuthenticAMD\" familyid=\"175\" "
                          "modelid=\"1\">\n",
                          cpus > 0 ? "</cpu>" : "", cpus);
            cpus++;
            break;
        case '(':
            (void)fprintf(out,
                          "<pci busid=\"0001:%02x:00.0\" class=\"0x060400\" "
                          "%s>\n",
                          (unsigned)others++, pcie);
            break;
        case ')':
            (void)fputs("</pci>\n", out);
            break;
        case 'g':
            (void)fprintf(out,
                          "<pci busid=\"0000:%02x:00.0\" class=\"0x030200\" "
                          "%s><gpu dev=\"%d\" sm=\"86\" rank=\"%d\" "
                          "gdr=\"1\">%s</gpu></pci>\n",
                          (unsigned)gpus, pcie, gpus, gpus,
                          links != NULL ? links[gpus] : "");
            gpus++;
            break;
        case 'n':
        case 'm':
            (void)fprintf(out,
                          "<pci busid=\"0002:%02x:00.0\" class=\"0x020700\" "
                          "%s><nic><net name=\"n%d\" dev=\"%d\" "
                          "speed=\"%d\" gdr=\"1\"/></nic></pci>\n",
                          (unsigned)others, pcie, others, others,
                          *shape == 'n' ? 200000 : 100000);
            others++;
            break;
        default:
            break;
        }
    }
    (void)fputs("</cpu></system>", out);
    (void)fclose(out);
    copy = model_arena_text(arena, text);
    free(text);
    return copy;
}

#define TO(gpu, count)                                                         \
    "<nvlink target=\"0000:0" gpu ":00.0\" count=\"" count                     \
    "\" tclass=\"0x030200\"/>"
#define TO_SWITCH(count)                                                       \
    "<nvlink target=\"0000:f0:00.0\" count=\"" count "\" "                     \
    "tclass=\"0x068000\"/>"

/* Two sockets, a switch with two GPUs, in pairs, and a NIC below each. */
static void reads_a_regular_machine(void **state)
{
    static const char *const links[] = {TO("1", "4"), TO("0", "4"),
                                        TO("3", "4"), TO("2", "4")};
    const struct model_topology *t =
        read_topology(*state, sketch(*state, "C(ggn) C(ggn)", links), NULL);

    /* sm 86 is the A40's alone */
    assert_string_equal(t->gpu.name, "a40");
    assert_true(is_noted(t, "known by sm 86 alone"));
    assert_int_equal(t->notes.count, 1);
    assert_int_equal(t->node_count, 1);
    assert_int_equal(t->gpus_per_node, 4);
    assert_int_equal(t->host.sockets, 2);
    assert_int_equal(t->host.cpu, MODEL_CPU_AMD);
    assert_int_equal(t->host.cpu_family, 25); /* 15 + 160 / 16 */
    assert_int_equal(t->host.cpu_model, 1);
    assert_int_equal(t->pcie.generation, 4);
    assert_int_equal(t->pcie.gpus_per_switch, 2);
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_PAIRS);
    assert_int_equal(t->nvlink.count, 4);
    assert_int_equal(t->nics.count, 2);
    assert_int_equal(t->nics.at, MODEL_NICS_SWITCH);
    assert_near(t->nics.bytes_per_us, 25000.0, 1e-9); /* 200 Gbit/s */
    assert_true(t->nics.gpudirect);
    assert_int_equal(model_wiring_nic_path(t, 0, 0), MODEL_PATH_PIX);
    assert_int_equal(model_wiring_nic_path(t, 0, 1), MODEL_PATH_SYS);
}

/* sockets, GPUs a switch, place of NICs by shape; loss: part of a note. */
static void takes_the_nearest_regular_node(void **state)
{
    static const struct {
        const char *shape;
        int sockets, below, nics, at;
        const char *loss;
    } rows[] = {
        /* exact */
        {"C g g g g", 1, 1, 0, MODEL_NICS_AUTO, NULL},
        {"C (gg)(gg) C (gg)(gg)", 2, 2, 0, MODEL_NICS_AUTO, NULL},
        {"C (gn)(gn) C (gn)(gn)", 2, 1, 4, MODEL_NICS_SWITCH, NULL},
        {"C g g n C g g n", 2, 1, 2, MODEL_NICS_ROOT, NULL},
        {"C g C g", 2, 1, 0, MODEL_NICS_AUTO, NULL},
        /* a bridge of one device is no switch */
        {"C (g) (g) (n)", 1, 1, 1, MODEL_NICS_ROOT, NULL},
        /* two levels are one: the outer one shares the way to the CPU */
        {"C ((gg)(gg)) C ((gg)(gg))", 2, 4, 0, MODEL_NICS_AUTO,
         "switches hang below switches"},
        /*
         * 3 and 1: as two sockets of 2 the pairs 0-2, 1-2 and 2-3 are wrong,
         * as one socket 0-3, 1-3 and 2-3, as four 0-1, 0-2, 1-2. All alike,
         * so the number of sockets stays.
         */
        {"C ggg C g", 2, 1, 0, MODEL_NICS_AUTO, "of 6 pairs 3 are"},
        /*
         * A switch of 3 and one of 1: as 2 and 2 wrong are 0-2, 1-2, 2-3; as 4
         * 0-3, 1-3 and 2-3; as 1 each 0-1, 0-2, 1-2. The first found stays.
         */
        {"C (ggg)(g)", 1, 1, 0, MODEL_NICS_AUTO, "of 6 pairs 3 are"},
        /* CPUs without GPUs; the NIC there is on another socket for all */
        {"C gg C gg C n", 2, 1, 1, MODEL_NICS_ROOT, "of 4 paths"},
        /* all NICs below one of two switches: of 8 paths 4 differ */
        {"C (ggnn)(gg)", 1, 2, 2, MODEL_NICS_SWITCH, "of 8 paths"},
        /* 100 Gbit/s twice is less than 200 Gbit/s twice */
        {"C g g m m n n", 1, 1, 2, MODEL_NICS_ROOT, "2 of 4 left out"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_topology *t =
            read_topology(*state, sketch(*state, rows[i].shape, NULL), "a40");

        print_message("%s\n", rows[i].shape);
        assert_int_equal(t->host.sockets, rows[i].sockets);
        assert_int_equal(t->pcie.gpus_per_switch, rows[i].below);
        assert_int_equal(t->nics.count, rows[i].nics);
        assert_int_equal(t->nics.at, rows[i].at);
        if (rows[i].loss != NULL) {
            assert_true(is_noted(t, rows[i].loss));
        } else {
            assert_int_equal(t->notes.count, 0);
        }
    }
}

static void knows_kinds_of_nvlink(void **state)
{
    static const char *const mesh[] = {TO("1", "2") TO("2", "2") TO("3", "2"),
                                       TO("0", "2") TO("2", "2") TO("3", "2"),
                                       TO("0", "2") TO("1", "2") TO("3", "2"),
                                       TO("0", "2") TO("1", "2") TO("2", "2")};
    /* each GPU lists two planes of the switch, 2 links each */
    static const char *const planes[] = {
        TO_SWITCH("2") TO_SWITCH("2"), TO_SWITCH("2") TO_SWITCH("2"),
        TO_SWITCH("2") TO_SWITCH("2"), TO_SWITCH("2") TO_SWITCH("2")};
    /* 0-2 and 1-3 are no pairs of neighbours; 3 does not list its end */
    static const char *const crossed[] = {TO("2", "3"), TO("3", "1"),
                                          TO("0", "3"), ""};
    const struct model_topology *t =
        read_topology(*state, sketch(*state, "Cgggg", mesh), "a40");

    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_MESH);
    assert_int_equal(t->nvlink.count, 6);
    /* the A40 has 4 links of together 50 GB/s: 6 are 75 GB/s */
    assert_near(t->nvlink.bytes_per_us, 75000.0, 1e-6);
    t = read_topology(*state, sketch(*state, "Cgggg", planes), "a40");
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_SWITCH);
    assert_int_equal(t->nvlink.count, 4);
    assert_near(t->nvlink.bytes_per_us, 50000.0, 1e-6);
    t = read_topology(*state, sketch(*state, "Cgggg", crossed), "a40");
    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_LINKS);
    assert_int_equal(model_wiring_nvlinks(t, 0, 2), 3);
    assert_int_equal(model_wiring_nvlinks(t, 3, 1), 1);
    assert_int_equal(model_wiring_nvlinks(t, 0, 1), 0);
    /* one link of the A40's four */
    assert_near(t->nvlink.bytes_per_us, 12500.0, 1e-6);
    assert_true(is_noted(t, "ends of 1 pairs"));
}

/* What a topology has no place for is left out and said. */
static void leaves_out_what_has_no_place(void **state)
{
    static const char *const links[] = {
        TO("0", "1") TO("7", "1") "<c2c bw=\"44712\" count=\"10\"/>"
                                  "<nvlink target=\"x\" count=\"2\" "
                                  "tclass=\"0x068001\"/>",
        ""};
    const struct model_topology *t =
        read_topology(*state, sketch(*state, "Cgg", links), "a40");

    assert_int_equal(t->nvlink.kind, MODEL_NVLINK_NONE);
    assert_true(is_noted(t, "1 links from a GPU to itself"));
    assert_true(is_noted(t, "1 links to GPUs that are not in the file"));
    assert_true(is_noted(t, "0000:07:00.0"));
    assert_true(is_noted(t, "C2C links of 1 GPUs"));
    assert_true(is_noted(t, "NVLink to CPUs (1)"));
    assert_int_equal(t->notes.count, 4);
}

/* Devices that NCCL 2.30 adds: parts of a GPU, services of a NIC, hosts. */
static void reads_what_newer_files_have(void **state)
{
    const struct model_topology *t = read_topology(
        *state,
        "<system version='1'>"
        "<cpu numaid='0' host_hash='0x1' arch='arm64'>"
        "<pci busid='a' class='0x0302' link_speed='64.0 GT/s PCIe' "
        "link_width='16'><gpu dev='0' sm='103' mlopart='0'/>"
        "<gpu dev='0' sm='103' mlopart='1'/><pcilink target='b'/></pci>"
        "<nic><net name='x' dev='0' speed='800000'/><gin name='x' dev='0'/>"
        "<rma name='x' dev='0'/><net name='y' dev='1' net='0'/></nic></cpu>"
        "<cpu numaid='0' host_hash='0x2' arch='arm64'>"
        "<pci busid='b' class='0x0302' link_speed='64.0 GT/s PCIe' "
        "link_width='16'><gpu dev='1' sm='103'/><new/></pci></cpu>"
        "</system>",
        NULL);

    assert_string_equal(t->gpu.name, "b300");
    assert_int_equal(t->gpus_per_node, 2);
    assert_int_equal(t->host.sockets, 2);
    assert_int_equal(t->host.cpu, MODEL_CPU_ARM);
    assert_int_equal(t->nics.count, 1);
    assert_near(t->nics.bytes_per_us, 100000.0, 1e-9);
    assert_true(is_noted(t, "2 hosts"));
    assert_true(is_noted(t, "1 more parts of GPUs"));
    assert_true(is_noted(t, "1 elements passed over, such as <new>"));
}

/* Link rates: a narrow slot counts as the generation that carries as much. */
static void takes_rates_of_slots(void **state)
{
    static const struct {
        const char *speed;
        int generation; /* 4: the A40's file */
    } rows[] = {{"link_speed='8 GT/s' link_width='16'", 3},
                {"link_speed='16.0 GT/s PCIe' link_width='16'", 4},
                {"link_speed='32.0 GT/s PCIe' link_width='8'", 4},
                {"link_speed='32.0 GT/s PCIe' link_width='0'", 5},
                {"link_speed='64.0 GT/s PCIe' link_width='16'", 6},
                {"link_speed='2.5 GT/s PCIe' link_width='16'", 3},
                {"link_speed='' link_width='0'", 4},
                {"link_speed='Unknown'", 4},
                {"", 4}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_topology *t = read_topology(
            *state,
            model_arena_format(*state,
                               "<system version='1'><cpu numaid='0'>"
                               "<pci busid='0000:01:00.0' class='0x030200' "
                               "%s/></cpu></system>",
                               rows[i].speed),
            "a40");

        assert_int_equal(t->pcie.generation, rows[i].generation);
        assert_int_equal(t->gpus_per_node, 1);
        assert_true(is_noted(t, "nothing of NVLink"));
    }
}

static void
expect_fault(struct model_arena *arena, const char *text, const char *message)
{
    struct model_errors errors;

    assert_null(read_tree(arena, text, NULL, &errors));
    assert_true(errors.count > 0);
    if (strstr(errors.list[0].message, message) == NULL) {
        print_error("%s, not %s\n", errors.list[0].message, message);
        fail();
    }
}

static void refuses_what_no_topology_can_say(void **state)
{
    static const char *const half[] = {TO_SWITCH("2"), ""};
    static const char *const wrong[] = {
        "<nvlink target=\"0000:01:00.0\" count=\"four\" "
        "tclass=\"0x030200\"/>",
        ""};
    static const char *const many[] = {TO("1", "65"), ""};
    static const char *const no_target[] = {
        "<nvlink count=\"4\" tclass=\"0x030200\"/>", ""};

    expect_fault(*state, sketch(*state, "Cgg", half), "joins 1 of 2 GPUs");
    expect_fault(*state, sketch(*state, "Cgg", wrong), "is no number");
    expect_fault(*state, sketch(*state, "Cgg", many), "no number of links");
    expect_fault(*state, sketch(*state, "Cgg", no_target), "without target");
    expect_fault(*state, sketch(*state, "Cn", NULL), "lists no GPU");
    expect_fault(*state, "<system version='1'/>", "lists no GPU");
    expect_fault(*state, "<system version='3'/>", "not a version");
    expect_fault(*state, "<system/>", "no version");
    expect_fault(*state, "<graphs version='1'/>", "graph file");
    expect_fault(*state, "<html/>", "root is not <system>");
    expect_fault(*state,
                 "<system version='1'><cpu><pci busid='0'/></cpu></system>",
                 "1 PCI devices have no class");
    expect_fault(*state,
                 "<system version='1'><cpu><pci class='0x0302'/></cpu>"
                 "</system>",
                 "without busid");
    expect_fault(*state,
                 "<system version='1'><cpu><pci busid='a' class='0x0302'/>"
                 "<pci busid='A' class='0x0302'/></cpu></system>",
                 "busid A is that of the GPU in line 1");
    expect_fault(*state,
                 "<system version='1'><cpu><pci busid='a'><gpu sm='80'/></pci>"
                 "<pci busid='b'><gpu sm='90'/></pci></cpu></system>",
                 "several kinds");
    expect_fault(*state,
                 "<system version='1'><cpu><pci busid='a'><gpu sm='80'/></pci>"
                 "</cpu></system>",
                 "nothing tells which GPU");
}

/* By PCI id first; an id that is in no file is another product. */
static void knows_gpus_by_their_id(void **state)
{
    static const char form[] =
        "<system version='1'><cpu><pci busid='a' class='0x0302' %s/></cpu>"
        "</system>";
    const char *text =
        model_arena_format(*state, form, "vendor='0x10DE' device='0x20B0'");
    struct model_errors errors;
    const struct model_node *root = read_tree(*state, text, NULL, &errors);

    assert_non_null(root);
    assert_string_equal(model_node_text_at(root, "gpu", ""), "a100-40");
    root = read_tree(*state, text, "h100", &errors);
    assert_string_equal(model_node_text_at(root, "gpu", ""), "h100");
    assert_non_null(model_node_find(root, "notes"));
    text = model_arena_format(*state, form, "vendor='0x10de' device='0x2237'");
    expect_fault(*state, text,
                 "nothing tells which GPU it is (PCI id 10de:2237)");
}

/* -- there and back -- */

static const struct model_topology *
there_and_back(struct model_arena *arena, const struct model_topology *topology)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    const struct model_topology *back;
    const char *gpu = topology->gpu_node->kind == MODEL_SCALAR
                          ? topology->gpu_node->text
                          : "a40";

    assert_int_equal(
        model_xml_write(model_nccl_xml_tree(arena, topology), stream),
        MODEL_OK);
    (void)fclose(stream);
    back = read_topology(arena, model_arena_text(arena, text), gpu);
    free(text);
    return back;
}

static void expect_same_node(const struct model_topology *a,
                             const struct model_topology *b)
{
    assert_int_equal(a->gpus_per_node, b->gpus_per_node);
    assert_int_equal(a->host.sockets, b->host.sockets);
    assert_int_equal(a->host.cpu, b->host.cpu);
    if (a->host.cpu != MODEL_CPU_ARM) {
        assert_int_equal(a->host.cpu_family, b->host.cpu_family);
        assert_int_equal(a->host.cpu_model, b->host.cpu_model);
    }
    assert_int_equal(a->pcie.generation, b->pcie.generation);
    assert_int_equal(a->nics.count, b->nics.count);
    for (int i = 0; i < a->gpus_per_node; i++) {
        for (int j = 0; j < a->gpus_per_node; j++) {
            if (i != j) {
                assert_int_equal(model_wiring_gpu_path(a, i, j),
                                 model_wiring_gpu_path(b, i, j));
                assert_int_equal(model_wiring_nvlinks(a, i, j),
                                 model_wiring_nvlinks(b, i, j));
            }
        }
        for (int j = 0; j < a->nics.count; j++) {
            assert_int_equal(model_wiring_nic_path(a, i, j),
                             model_wiring_nic_path(b, i, j));
        }
    }
    if (a->nics.count > 0) {
        /* whole Mbit/s */
        assert_near(a->nics.bytes_per_us, b->nics.bytes_per_us, 0.0625);
        assert_int_equal(a->nics.gpudirect, b->nics.gpudirect);
    }
    assert_int_equal(b->notes.count, 0);
}

static void writes_each_shipped_topology(void **state)
{
    const char *const *names = model_file_names(*state, "topologies");
    int count = 0;

    for (int i = 0; names[i] != NULL; i++) {
        const struct model_topology *t;

        if (strcmp(names[i], "defaults") == 0) {
            continue;
        }
        print_message("%s\n", names[i]);
        t = fixture_topology(*state, names[i], NULL, 0);
        expect_same_node(t, there_and_back(*state, t));
        count++;
    }
    assert_true(count >= 20);
}

/* Every way to hang up to 12 GPUs and 5 NICs that the notation can say. */
static void writes_each_regular_node(void **state)
{
    static const char *const links[] = {"", "nvlink:pairs", "nvlink:mesh",
                                        "nvswitch"};
    static const char *const at[] = {"root", "switch"};
    int count = 0;

    (void)state;
    for (int gpus = 1; gpus <= 12; gpus++) {
        for (int i = 0; i < gpus * gpus; i++) {
            struct model_arena *arena = model_arena_new();
            int sockets = i / gpus + 1;
            int below = i % gpus + 1;
            int nics = (i + gpus) % 5 + 1;
            const char *set;
            const struct model_topology *t;

            if (gpus % sockets == 0 && gpus / sockets % below == 0 &&
                (gpus % 2 == 0 || i % 4 != 1)) {
                set = model_arena_format(arena, "node.nics.at=%s",
                                         at[count / 2 % 2]);
                t = fixture_topology(
                    arena,
                    model_arena_format(
                        arena,
                        "1x%d gpu:a100 %s pcie:4:%d/switch sockets:%d "
                        "nic:%dx100Gbit/s",
                        gpus, links[i % 4], below, sockets, nics),
                    &set, 1);
                expect_same_node(t, there_and_back(arena, t));
                count++;
            }
            model_arena_free(arena);
        }
    }
    assert_true(count > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_regular_machine),
        cmocka_unit_test(takes_the_nearest_regular_node),
        cmocka_unit_test(knows_kinds_of_nvlink),
        cmocka_unit_test(leaves_out_what_has_no_place),
        cmocka_unit_test(reads_what_newer_files_have),
        cmocka_unit_test(takes_rates_of_slots),
        cmocka_unit_test(refuses_what_no_topology_can_say),
        cmocka_unit_test(knows_gpus_by_their_id),
        cmocka_unit_test(writes_each_shipped_topology),
        cmocka_unit_test(writes_each_regular_node)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
