/*
 * topology_read.c - from files, notation and overrides to one YAML tree.
 *
 * Everything is a merge of trees: a file over its base, the result over the
 * GPU's NVLink and over topologies/defaults.yaml. A key that is nearer to the
 * user wins. Then the tables bind the tree once.
 */
#include "model/topology_read.h"

#include "model/files.h"
#include "model/nccl/xml_read.h"
#include "model/node_merge.h"
#include "model/notation.h"

#include <math.h>
#include <string.h>

enum { BASES_MAX = 8 };

struct reader {
    struct model_arena *arena;
    struct model_errors *errors;
    const char *const *overrides;
    int override_count;
};

/*
 * Put the full text of its source at each number, as the file's own `sources`
 * has it: another file may use the same short names.
 */
static void spell_sources(const struct model_node *sources,
                          struct model_node *node)
{
    for (struct model_node *child = node->first; child != NULL;
         child = child->next) {
        const struct model_node *text =
            child->kind == MODEL_SCALAR && child->key != NULL &&
                    strcmp(child->key, "source") == 0
                ? model_node_find(sources, child->text)
                : NULL;

        if (text != NULL && text->kind == MODEL_SCALAR &&
            strchr(text->text, ' ') != NULL) {
            child->text = text->text;
            child->quoted = true;
        }
        if (child->kind != MODEL_SCALAR) {
            spell_sources(sources, child);
        }
    }
}

/* A tree that must be a mapping, or NULL. */
static struct model_node *check_mapping(struct reader *reader,
                                        struct model_node *root)
{
    if (root != NULL && root->kind != MODEL_MAPPING) {
        (void)model_errors_add(reader->errors, MODEL_BAD_INPUT, root->place,
                               NULL, "write key: value lines", "not a mapping");
        return NULL;
    }
    if (root != NULL &&
        model_node_is_mapping(model_node_find(root, "sources"))) {
        spell_sources(model_node_find(root, "sources"), root);
    }
    return root;
}

/* A YAML file that must hold a mapping, or NULL. */
static struct model_node *read_mapping(struct reader *reader, const char *path)
{
    return check_mapping(
        reader, model_yaml_read_file(reader->arena, path, reader->errors));
}

static bool is_overridden(const struct reader *reader, const char *key)
{
    size_t length = strlen(key);

    for (int i = 0; i < reader->override_count; i++) {
        if (strncmp(reader->overrides[i], key, length) == 0 &&
            reader->overrides[i][length] == '=') {
            return true;
        }
    }
    return false;
}

/* Any file of a topology; NCCL's may do without a GPU that others name. */
static struct model_node *
read_file(struct reader *reader, const char *path, bool gpu_known)
{
    struct model_nccl_xml_options options = {
        .gpu_later = gpu_known || is_overridden(reader, "gpu")};
    const struct model_xml_element *system;
    struct model_text text;

    if (!model_text_read(reader->arena, path, MODEL_YAML_BYTES_MAX, &text,
                         reader->errors)) {
        return NULL;
    }
    if (!model_xml_is(&text)) {
        return model_yaml_read(reader->arena, text, reader->errors);
    }
    system = model_xml_read(reader->arena, text, reader->errors);
    return system != NULL ? model_nccl_xml_read(reader->arena, system, &options,
                                                NULL, reader->errors)
                          : NULL;
}

/* The path of a file named by another one: beside it, or a shipped one. */
static const char *named_file(struct reader *reader,
                              const struct model_node *name,
                              const char *folder,
                              const char *beside)
{
    const char *slash = strrchr(name->place.file, '/');

    if (slash != NULL && name->text[0] != '/') {
        int length = (int)(slash - name->place.file);
        const char *path =
            model_arena_format(reader->arena, "%.*s/%s%s", length,
                               name->place.file, beside, name->text);

        if (model_file_exists(path)) {
            return path;
        }
        path = model_arena_format(reader->arena, "%s.yaml", path);
        if (model_file_exists(path)) {
            return path;
        }
    }
    return model_file_find(reader->arena, folder, name->text, name->place,
                           name->key, reader->errors);
}

static enum model_status report_empty(struct reader *reader,
                                      const struct model_node *node,
                                      const char *hint)
{
    return model_errors_add(reader->errors, MODEL_BAD_INPUT, node->place,
                            node->key, hint, "no name given");
}

/* Merge the chain of `base:` files, of folder `folder`, below root. */
static enum model_status
read_bases(struct reader *reader, struct model_node *root, const char *folder)
{
    struct model_node *base = model_node_take(root, "base");

    for (int depth = 0; base != NULL; depth++) {
        const char *path;
        struct model_node *under;

        if (base->kind == MODEL_SCALAR && base->text[0] == '\0') {
            return report_empty(reader, base, "write base: and a name");
        }
        if (depth == BASES_MAX || base->kind != MODEL_SCALAR) {
            return model_errors_add(
                reader->errors, MODEL_BAD_INPUT, base->place, "base",
                "write the name of one file",
                base->kind == MODEL_SCALAR
                    ? "bases are nested too deep, or in a circle"
                    : "base is not a name");
        }
        path = named_file(reader, base, folder, "");
        under =
            path != NULL
                ? check_mapping(reader,
                                read_file(reader, path,
                                          model_node_find(root, "gpu") != NULL))
                : NULL;
        if (under == NULL) {
            return MODEL_BAD_INPUT;
        }
        base = model_node_take(under, "base");
        model_node_merge(reader->arena, root, under);
    }
    return MODEL_OK;
}

static bool is_for_gpu(const char *assignment)
{
    return strncmp(assignment, "gpu.", 4) == 0;
}

/* Overrides below "gpu." go to the GPU's own tree, the others to root. */
static enum model_status
apply_overrides(struct reader *reader, struct model_node *root, bool gpu)
{
    int before = reader->errors->count;

    for (int i = 0; i < reader->override_count; i++) {
        const char *text = reader->overrides[i];

        if (is_for_gpu(text) == gpu) {
            (void)model_node_set(reader->arena, root, gpu ? text + 4 : text,
                                 reader->errors);
        }
    }
    return reader->errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

/* The GPU's tree: a file that the mapping names, or a mapping in it. */
static struct model_node *read_gpu(struct reader *reader,
                                   const struct model_node *mapping)
{
    static const char folder[] = "topologies/gpu";
    struct model_node *gpu = model_node_find(mapping, "gpu");
    const char *path;

    if (gpu == NULL) {
        (void)model_errors_add(reader->errors, MODEL_BAD_INPUT, mapping->place,
                               "gpu", "write gpu: a40",
                               "required key is missing");
        return NULL;
    }
    if (gpu->kind == MODEL_SCALAR && gpu->text[0] == '\0') {
        (void)report_empty(reader, gpu, "write gpu: a40");
        return NULL;
    }
    if (gpu->kind == MODEL_SCALAR) {
        path = named_file(reader, gpu, folder, "gpu/");
        gpu = path != NULL ? read_mapping(reader, path) : NULL;
    }
    if (model_node_is_mapping(gpu) &&
        read_bases(reader, gpu, folder) != MODEL_OK) {
        return NULL;
    }
    return gpu;
}

/* node.KEY over defaults.KEY.CHOICE, where CHOICE is named by the topology. */
static void merge_part(struct reader *reader,
                       struct model_node *target,
                       const struct model_node *defaults,
                       const char *key,
                       const char *choice)
{
    const struct model_node *part =
        model_node_is_mapping(defaults) ? model_node_find(defaults, key) : NULL;

    if (part != NULL && choice != NULL) {
        part = model_node_find(part, choice);
    }
    if (model_node_is_mapping(part) && model_node_is_mapping(target)) {
        model_node_merge(reader->arena, target, part);
    }
}

/* What the user left out, from the GPU's file and the defaults. */
static enum model_status merge_defaults(struct reader *reader,
                                        struct model_node *root,
                                        const struct model_node *gpu)
{
    struct model_place nowhere = {"lagom", 0, 0};
    struct model_node *node =
        model_node_mapping_at(reader->arena, root, "node");
    const char *path = model_file_find(reader->arena, "topologies", "defaults",
                                       nowhere, NULL, reader->errors);
    struct model_node *defaults =
        path != NULL ? read_mapping(reader, path) : NULL;
    struct model_node *nvlink;

    if (defaults == NULL || !model_node_is_mapping(node)) {
        return defaults == NULL ? MODEL_BAD_INPUT : MODEL_OK;
    }
    nvlink = model_node_find(node, "nvlink");
    model_topology_nvlink(reader->arena, nvlink, gpu);
    if (model_node_find(gpu, "pcie") != NULL) {
        merge_part(reader, model_node_mapping_at(reader->arena, node, "pcie"),
                   gpu, "pcie", NULL);
    }
    merge_part(reader, node, defaults, "node", NULL);
    merge_part(
        reader, model_node_find(node, "pcie"), defaults, "pcie",
        model_node_text_at(model_node_find(node, "pcie"), "generation", ""));
    merge_part(reader, model_node_find(node, "pcie"), defaults, "cpu",
               model_node_text_at(model_node_find(node, "host"), "cpu", ""));
    merge_part(reader, model_node_find(node, "host"), defaults, "host",
               model_node_text_at(model_node_find(node, "host"), "cpu", ""));
    merge_part(reader, model_node_find(node, "nics"), defaults, "nics", NULL);
    merge_part(
        reader, model_node_find(root, "network"), defaults, "network",
        model_node_text_at(model_node_find(root, "network"), "kind", "flat"));
    return MODEL_OK;
}

/* The GPUs of the entries of `mixed`, and whether these make sense. */
static enum model_status bind_mixed(struct reader *reader,
                                    const struct model_node *root,
                                    struct model_topology *topology)
{
    struct model_mixed *row = topology->mixed.items;
    const struct model_node *mixed = model_node_find(root, "mixed");
    int before = reader->errors->count;
    int index = 0;

    for (const struct model_node *item = mixed != NULL ? mixed->first : NULL;
         item != NULL; item = item->next, index++) {
        const struct model_node *gpu = read_gpu(reader, item);
        struct model_binding binding = {
            .arena = reader->arena,
            .errors = reader->errors,
            .provenance = &topology->provenance,
            .path = model_arena_format(reader->arena, "mixed[%d].gpu", index)};

        if (gpu != NULL) {
            binding.sources = model_node_find(gpu, "sources");
            (void)model_gpu_bind(&binding, gpu, &row[index].gpu);
        }
    }
    (void)model_ranks_check(reader->arena, topology, reader->errors);
    return reader->errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

static enum model_status bind(struct reader *reader,
                              const struct model_node *root,
                              const struct model_node *gpu,
                              struct model_topology *topology)
{
    struct model_binding binding = {.arena = reader->arena,
                                    .errors = reader->errors,
                                    .provenance = &topology->provenance,
                                    .sources = model_node_find(gpu, "sources"),
                                    .path = "gpu"};
    enum model_status gpu_status =
        model_gpu_bind(&binding, gpu, &topology->gpu);

    binding.sources = model_node_find(root, "sources");
    binding.path = NULL;
    topology->observed.config = model_config_none();
    topology->tree = root;
    if (model_schema_bind(&binding, model_topology_fields, root, topology) !=
            MODEL_OK ||
        gpu_status != MODEL_OK ||
        bind_mixed(reader, root, topology) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    model_topology_links(reader->arena, topology, reader->errors);
    return model_topology_check(topology, reader->errors);
}

/*
 * An override of the number of SMs is a what-if about more of the same: the
 * GPU's arithmetic rates, given for all SMs together, grow with it, except
 * those that are overridden too.
 */
static void
scale_peaks(const struct reader *reader, struct model_gpu *gpu, int sm_count)
{
    double ratio = (double)gpu->sm_count / (double)sm_count;

    for (int i = 0; i < MODEL_TYPES; i++) {
        const char *key = model_arena_format(reader->arena, "gpu.peak.%s",
                                             model_type_names[i]);

        if (!is_overridden(reader, key)) {
            gpu->peak_flops_per_us[i] *= ratio;
        }
    }
    if (!is_overridden(reader, "gpu.peak.vector")) {
        gpu->vector_flops_per_us *= ratio;
    }
}

/* The number of SMs that a GPU's tree gives, or 0. */
static int sm_count_of(const struct model_node *gpu)
{
    double value = 0.0;

    (void)model_units_parse(
        model_node_text_at(model_node_find(gpu, "sm"), "count", ""),
        MODEL_COUNT, &value, NULL);
    return (int)fmin(value, 1e6);
}

/* The GPU as the overrides leave it, in the place of its name. */
static enum model_status override_gpu(struct reader *reader,
                                      struct model_node *root,
                                      struct model_node *gpu)
{
    struct model_node *name = model_node_find(root, "gpu");
    bool any = false;

    for (int i = 0; i < reader->override_count; i++) {
        any = any || is_for_gpu(reader->overrides[i]);
    }
    if (!any) {
        return MODEL_OK;
    }
    if (apply_overrides(reader, gpu, true) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    if (name->kind == MODEL_SCALAR) {
        name->kind = MODEL_MAPPING;
        name->text = NULL;
        name->first = gpu->first;
        name->last = gpu->last;
        name->count = gpu->count;
    }
    return MODEL_OK;
}

struct model_node *model_topology_file(struct model_arena *arena,
                                       const char *path,
                                       const char *const *overrides,
                                       int override_count,
                                       struct model_errors *errors)
{
    struct reader reader = {arena, errors, overrides, override_count};

    return read_file(&reader, path, false);
}

bool model_topology_is(const struct model_node *root)
{
    return model_node_is_mapping(root) &&
           (model_node_find(root, "gpu") != NULL ||
            model_node_find(root, "base") != NULL ||
            model_node_find(root, "node") != NULL);
}

enum model_status model_topology_bind(struct model_arena *arena,
                                      struct model_node *root,
                                      const char *label,
                                      const char *const *overrides,
                                      int override_count,
                                      struct model_topology *topology,
                                      struct model_errors *errors)
{
    struct reader reader = {arena, errors, overrides, override_count};
    int before = errors->count;
    const struct model_node *base = model_node_find(root, "base");
    struct model_node *gpu;
    int sm_count;

    memset(topology, 0, sizeof(*topology));
    topology->label = label;
    topology->base =
        base != NULL && base->kind == MODEL_SCALAR ? base->text : NULL;
    if (read_bases(&reader, root, "topologies") != MODEL_OK ||
        apply_overrides(&reader, root, false) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    gpu = read_gpu(&reader, root);
    if (gpu == NULL) {
        return MODEL_BAD_INPUT;
    }
    sm_count = sm_count_of(gpu);
    if (override_gpu(&reader, root, gpu) != MODEL_OK ||
        merge_defaults(&reader, root, gpu) != MODEL_OK ||
        bind(&reader, root, gpu, topology) != MODEL_OK ||
        errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    scale_peaks(&reader, &topology->gpu, sm_count);
    return MODEL_OK;
}

enum model_status model_topology_read(struct model_arena *arena,
                                      const char *text,
                                      const char *const *overrides,
                                      int override_count,
                                      struct model_topology *topology,
                                      struct model_errors *errors)
{
    struct reader reader = {arena, errors, overrides, override_count};
    struct model_place nowhere = {"lagom", 0, 0};
    int before = errors->count;
    struct model_node *root = NULL;
    enum model_status status;

    if (model_notation_is(text) && !model_file_exists(text)) {
        root = model_notation_parse(arena, text, errors);
    } else {
        const char *path =
            model_file_find(arena, "topologies", text, nowhere, NULL, errors);

        root = path != NULL
                   ? check_mapping(&reader, read_file(&reader, path, false))
                   : NULL;
    }
    if (root == NULL) {
        return MODEL_BAD_INPUT;
    }
    status = model_topology_bind(arena, root, text, overrides, override_count,
                                 topology, errors);
    return errors->count > before ? MODEL_BAD_INPUT : status;
}
