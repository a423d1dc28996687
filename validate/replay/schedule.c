/*
 * schedule.c - a workload as one rank launches it.
 *
 * Ops are launched in the order of the list, each on its stream, which waits
 * for events of `after` on other streams.
 */
#include "validate/replay/schedule.h"

/* What the making of one schedule shares. */
struct maker {
    struct model_arena *arena;
    const struct replay_program *program;
    struct replay_schedule *schedule;
    struct model_errors *errors;
    int item_room;
};

static void fault(struct maker *maker,
                  const struct model_op *op,
                  const char *key,
                  const char *hint,
                  const char *message)
{
    (void)model_errors_add(maker->errors, MODEL_BAD_INPUT, op->place, key, hint,
                           "%s: %s", op->id, message);
}

/* An op's launch has the op's number, as those of `after` have. */
static void add_launch(struct maker *maker, int index)
{
    struct replay_schedule *schedule = maker->schedule;
    const struct model_op *op = &schedule->workload->ops[index];
    struct replay_launch *launch = &schedule->launches[index];
    int *after = model_arena_array(maker->arena, (size_t)op->after_count,
                                   sizeof(*after));

    launch->stream = op->stream + 1;
    launch->after = after;
    for (int i = 0; i < op->after_count; i++) {
        int by = op->after[i];

        if (by >= index) {
            fault(maker, op, "after", "list it after those that it waits for",
                  "waits for an op further down, which a replay launches "
                  "later");
            return;
        }
        if (schedule->launches[by].stream != launch->stream) {
            after[launch->after_count++] = by;
        }
    }
}

static int add_item(struct maker *maker, const struct replay_item *item)
{
    struct replay_schedule *schedule = maker->schedule;

    for (int i = 0; i < schedule->item_count; i++) {
        const struct replay_item *other = &schedule->items[i];

        if (replay_work_same(&item->work, &other->work) &&
            model_config_equal(&item->config, &other->config) &&
            model_same_text(item->replaced, other->replaced)) {
            return i;
        }
    }
    schedule->items =
        model_arena_grow(maker->arena, schedule->items, schedule->item_count,
                         &maker->item_room, sizeof(*item));
    schedule->items[schedule->item_count] = *item;
    return schedule->item_count++;
}

static int add_compute(struct maker *maker, int index)
{
    const struct model_op *op = &maker->program->workload->ops[index];
    struct replay_item item = {.op = index,
                               .config = model_config_none(),
                               .environment = -1,
                               .handle = -1};

    item.work =
        replay_work_compute(op, &maker->program->topology->gpu, &item.replaced);
    return add_item(maker, &item);
}

static int add_collective(struct maker *maker, int index)
{
    const struct replay_program *program = maker->program;
    const struct model_op *op = &program->workload->ops[index];
    const struct model_group *group = &program->workload->groups[op->group];
    bool step = program->stand_in || op->kind == MODEL_OP_RING_STEP;
    struct replay_item item = {.op = index, .environment = -1, .handle = -1};

    item.absent = !step && maker->schedule->groups[op->group].count == 0;
    item.config = model_plan_config(program->plan, program->workload, op,
                                    step ? program->nccl : NULL);
    item.work = replay_work_collective(op, &item.config, program->stand_in,
                                       group->count);
    if (step) {
        /* So that what shares SMs with NCCL's kernel shares them with it. */
        item.work.shared_bytes = program->topology->gpu.nccl_shared_bytes;
    }
    if (step && op->kind != MODEL_OP_RING_STEP) {
        item.replaced = model_op_names[op->kind];
    }
    if (step && (item.config.channels < 1 || item.config.threads < 1 ||
                 !(item.config.chunk_bytes > 0.0))) {
        fault(maker, op, "channels",
              "write channels: 8, threads: 512, chunk: 512 KiB",
              "what its CTAs are is not said");
    }
    return add_item(maker, &item);
}

static void find_groups(struct maker *maker)
{
    const struct model_workload *workload = maker->program->workload;
    int rank = maker->program->rank;
    struct replay_group *groups = model_arena_array(
        maker->arena, (size_t)workload->group_count, sizeof(*groups));

    for (int i = 0; i < workload->group_count; i++) {
        const struct model_group *family = &workload->groups[i];
        struct model_group own;
        int *ranks;

        if (model_group_member(family, rank) < 0) {
            continue;
        }
        own =
            model_group_instance(family, model_group_instance_of(family, rank));
        ranks =
            model_arena_array(maker->arena, (size_t)own.count, sizeof(*ranks));
        for (int member = 0; member < own.count; member++) {
            ranks[member] = model_group_rank(&own, member);
        }
        groups[i] = (struct replay_group){ranks, own.count};
    }
    maker->schedule->groups = groups;
    maker->schedule->group_count = workload->group_count;
}

enum model_status replay_schedule_make(struct model_arena *arena,
                                       const struct replay_program *program,
                                       struct replay_schedule *schedule,
                                       struct model_errors *errors)
{
    const struct model_workload *workload = program->workload;
    struct maker maker = {.arena = arena,
                          .program = program,
                          .schedule = schedule,
                          .errors = errors};
    int faults = errors->count;

    *schedule = (struct replay_schedule){
        .workload = workload,
        .launches = model_arena_array(arena, (size_t)workload->op_count,
                                      sizeof(*schedule->launches)),
        .launch_count = workload->op_count,
        .stream_count = workload->stream_count + 1};
    find_groups(&maker);
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        if (op->start_us > 0.0) {
            fault(&maker, op, "start", "leave it out",
                  "a replay starts ops when their streams come to them");
        }
        schedule->launches[i].item = model_op_is_collective(op)
                                         ? add_collective(&maker, i)
                                         : add_compute(&maker, i);
        add_launch(&maker, i);
    }
    return errors->count == faults ? MODEL_OK : MODEL_BAD_INPUT;
}
