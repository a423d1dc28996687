/*
 * explain_setting.c - other settings of all collectives that can run with them.
 *
 * Collectives that are equal (a part of a window) are asked once.
 */
#include "search/explain_change.h"

#include "model/units.h"

/* Can the machine run an op with this configuration? */
static bool can_run(const struct search_variant *variant,
                    const struct model_op *op,
                    const struct model_config *config)
{
    struct model_op single = *op;
    struct model_workload workload = variant->workload;
    struct sim_request request = {.topology = &variant->topology,
                                  .workload = &workload,
                                  .all_ranks =
                                      variant->base->request->all_ranks};
    struct model_errors errors = {.arena = variant->arena};

    single.config = *config;
    single.after_count = 0;
    workload.ops = &single;
    workload.op_count = 1;
    workload.cycle = (struct model_cycle){.repeats = 0};
    return sim_new(variant->arena, &request, &errors) != NULL;
}

/* All that one change does to configurations. */
struct setting {
    struct search_variant *variant;
    void (*change)(const struct search_variant *variant,
                   struct model_config *config,
                   int choice);
    int choice;
    struct model_config before, after; /* of the first that changes */
    bool alike;                        /* the same for all collectives */
    bool refused;                      /* by some, which stay as they are */
    int count;                         /* collectives that change */
};

/* The new configuration of an op; false when it stays as it is. */
static bool next_config(struct setting *setting,
                        const struct model_op *op,
                        struct model_config *config)
{
    *config = op->config;
    setting->change(setting->variant, config, setting->choice);
    if (model_config_equal(config, &op->config)) {
        return false;
    }
    if (!can_run(setting->variant, op, config)) {
        setting->refused = true;
        return false;
    }
    return true;
}

/* Change the ops of a part. */
static void change_part(struct setting *setting, int part)
{
    struct search_variant *variant = setting->variant;
    const struct sim_windows *windows = &variant->base->windows;
    struct model_op *ops = variant->workload.ops;
    struct model_config before = ops[windows->parts[part].op].config;
    struct model_config after;

    if (!next_config(setting, &ops[windows->parts[part].op], &after)) {
        setting->alike = false;
        return;
    }
    if (setting->count++ == 0) {
        setting->before = before;
        setting->after = after;
    }
    setting->alike = setting->alike &&
                     model_config_equal(&before, &setting->before) &&
                     model_config_equal(&after, &setting->after);
    for (int i = 0; i < variant->workload.op_count; i++) {
        if (windows->part_of[i] == part) {
            ops[i].config = after;
        }
    }
}

static struct setting change_settings(
    struct search_variant *variant,
    void (*change)(const struct search_variant *, struct model_config *, int),
    int choice)
{
    const struct sim_windows *windows = &variant->base->windows;
    struct setting setting = {
        .variant = variant, .change = change, .choice = choice, .alike = true};

    for (int i = 0; i < windows->part_count; i++) {
        if (model_op_is_collective(
                &variant->workload.ops[windows->parts[i].op])) {
            change_part(&setting, i);
        }
    }
    return setting;
}

/* choice: in percent of the channels there are. */
static void scale_channels(const struct search_variant *variant,
                           struct model_config *config,
                           int choice)
{
    int channels = config->channels * choice / 100;

    config->channels = channels < 1 ? 1 : channels;
    if (config->channels > variant->topology.gpu.sm_count) {
        config->channels = variant->topology.gpu.sm_count;
    }
}

bool search_other_channels(struct search_variant *variant, int percent)
{
    struct setting setting = change_settings(variant, scale_channels, percent);

    if (setting.alike && setting.count > 0) {
        variant->text = model_arena_format(
            variant->arena, "%d channel%s instead of %d",
            setting.after.channels, setting.after.channels == 1 ? "" : "s",
            setting.before.channels);
    }
    return setting.count > 0;
}

/* Chunks below this are not cut further: no plan would have them. */
enum { LEAST_CHUNK_BYTES = 4096 };

static void divide_chunk(const struct search_variant *variant,
                         struct model_config *config,
                         int divisor)
{
    (void)variant;
    if (config->chunk_bytes / divisor >= LEAST_CHUNK_BYTES) {
        config->chunk_bytes /= divisor;
    }
}

bool search_smaller_chunks(struct search_variant *variant, int divisor)
{
    struct setting setting = change_settings(variant, divide_chunk, divisor);
    char before[48];
    char after[48];

    if (setting.alike && setting.count > 0) {
        variant->text = model_arena_format(
            variant->arena, "chunks of %s instead of %s",
            model_units_print(setting.after.chunk_bytes, MODEL_BYTES, after,
                              sizeof(after)),
            model_units_print(setting.before.chunk_bytes, MODEL_BYTES, before,
                              sizeof(before)));
    }
    return setting.count > 0;
}

static void set_algorithm(const struct search_variant *variant,
                          struct model_config *config,
                          int choice)
{
    (void)variant;
    config->algorithm = choice;
}

static void set_protocol(const struct search_variant *variant,
                         struct model_config *config,
                         int choice)
{
    (void)variant;
    config->protocol = choice;
}

static void set_transport(const struct search_variant *variant,
                          struct model_config *config,
                          int choice)
{
    (void)variant;
    config->transport = choice;
}

/* A choice among names; the old one is told when all had the same. */
static bool choose(struct search_variant *variant,
                   const struct setting *setting,
                   const char *const *names,
                   int before)
{
    if (setting->alike && setting->count > 0) {
        variant->text =
            model_arena_format(variant->arena, "%s instead of %s",
                               names[setting->choice], names[before]);
    } else if (setting->refused) {
        variant->text = model_arena_format(variant->arena, "%s where it can be",
                                           names[setting->choice]);
    }
    return setting->count > 0;
}

bool search_other_algorithm(struct search_variant *variant, int choice)
{
    struct setting setting = change_settings(variant, set_algorithm, choice);

    return choose(variant, &setting, model_algorithm_names,
                  setting.before.algorithm);
}

bool search_other_protocol(struct search_variant *variant, int choice)
{
    struct setting setting = change_settings(variant, set_protocol, choice);

    return choose(variant, &setting, model_protocol_names,
                  setting.before.protocol);
}

/* Where NVLink joins all GPUs of a node there is no choice. */
bool search_other_transport(struct search_variant *variant, int choice)
{
    struct setting setting = change_settings(variant, set_transport, choice);

    return variant->topology.nvlink.kind != MODEL_NVLINK_MESH &&
           variant->topology.nvlink.kind != MODEL_NVLINK_SWITCH &&
           choose(variant, &setting, model_transport_names,
                  setting.before.transport);
}
