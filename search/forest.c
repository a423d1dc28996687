/*
 * forest.c - trees as arrays of nodes.
 */
#include "search/forest.h"

#include "search/moves.h"

#include <math.h>
#include <stdbool.h>

enum {
    TREES = 60,
    LEAF_SAMPLES = 3 /* at most, unless they cannot be split */
};

/* input < 0: a leaf. Otherwise left where inputs[input] <= most. */
struct node {
    int input, most;
    int left, right;
    double value; /* mean of its samples */
};

struct search_tree {
    struct node *nodes;
    int count;
};

/* While a tree grows. */
struct grower {
    const struct search_sample *samples;
    int *drawn; /* of those, with replacement */
    int inputs;
    gsl_rng *random;
    struct search_tree *tree;
};

static const struct search_sample *sample_of(const struct grower *grower, int i)
{
    return &grower->samples[grower->drawn[i]];
}

/* Sums over samples, of which deviations from the mean follow. */
struct sums {
    double count, value, square;
};

static void add(struct sums *sums, double value)
{
    sums->count += 1.0;
    sums->value += value;
    sums->square += value * value;
}

/* Sum of squared deviations; rounding may leave less than nothing. */
static double deviation(const struct sums *sums)
{
    return sums->count > 0.0
               ? fmax(sums->square - sums->value * sums->value / sums->count,
                      0.0)
               : 0.0;
}

struct split {
    int input, most;
    double deviation;
};

static void add_all(struct sums *sums, const struct sums *other)
{
    sums->count += other->count;
    sums->value += other->value;
    sums->square += other->square;
}

/* The best place to split along an input, if better than the best so far. */
static void try_input(const struct grower *grower,
                      int first,
                      int end,
                      int input,
                      struct split *best)
{
    struct sums by_value[SEARCH_FOREST_VALUES_MAX] = {{0}};
    struct sums low = {0};

    for (int i = first; i < end; i++) {
        const struct search_sample *sample = sample_of(grower, i);

        add(&by_value[sample->inputs[input]], sample->value);
    }
    for (int most = 0; most < SEARCH_FOREST_VALUES_MAX - 1; most++) {
        struct sums high = {0};
        double sum;

        add_all(&low, &by_value[most]);
        for (int i = most + 1; i < SEARCH_FOREST_VALUES_MAX; i++) {
            add_all(&high, &by_value[i]);
        }
        sum = deviation(&low) + deviation(&high);
        if (by_value[most].count > 0.0 && high.count > 0.0 &&
            sum < best->deviation) {
            *best = (struct split){input, most, sum};
        }
    }
}

/* Two thirds of the inputs, at least one, in random order. */
static struct split find_split(const struct grower *grower, int first, int end)
{
    int order[SEARCH_FOREST_INPUTS_MAX];
    int tried = (2 * grower->inputs + 2) / 3;
    struct split best = {.input = -1, .deviation = HUGE_VAL};

    for (int i = 0; i < grower->inputs; i++) {
        int at = search_below(grower->random, i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < grower->inputs && (i < tried || best.input < 0); i++) {
        try_input(grower, first, end, order[i], &best);
    }
    return best;
}

/* Samples that go left come first; returns where the others begin. */
static int
divide(const struct grower *grower, int first, int end, struct split split)
{
    int middle = first;

    for (int i = first; i < end; i++) {
        int drawn = grower->drawn[i];

        if (sample_of(grower, i)->inputs[split.input] <= split.most) {
            grower->drawn[i] = grower->drawn[middle];
            grower->drawn[middle++] = drawn;
        }
    }
    return middle;
}

/* Grow a node of samples first .. end - 1, and those below it. */
static int grow_node(struct grower *grower, int first, int end)
{
    struct search_tree *tree = grower->tree;
    int index = tree->count++;
    struct split split = {.input = -1};
    struct sums sums = {0};

    for (int i = first; i < end; i++) {
        add(&sums, sample_of(grower, i)->value);
    }
    tree->nodes[index] =
        (struct node){.input = -1, .value = sums.value / sums.count};
    if (end - first > LEAF_SAMPLES && deviation(&sums) > 0.0) {
        split = find_split(grower, first, end);
    }
    if (split.input >= 0) {
        int middle = divide(grower, first, end, split);
        int left = grow_node(grower, first, middle);
        int right = grow_node(grower, middle, end);

        tree->nodes[index].input = split.input;
        tree->nodes[index].most = split.most;
        tree->nodes[index].left = left;
        tree->nodes[index].right = right;
    }
    return index;
}

void search_forest_grow(struct model_arena *arena,
                        const struct search_sample *samples,
                        int count,
                        int inputs,
                        gsl_rng *random,
                        struct search_forest *forest)
{
    size_t most = (size_t)count;
    struct grower grower = {
        .samples = samples,
        .drawn = model_arena_array(arena, most, sizeof(*grower.drawn)),
        .inputs = inputs,
        .random = random};

    forest->trees = model_arena_array(arena, TREES, sizeof(*forest->trees));
    forest->tree_count = TREES;
    for (int t = 0; t < TREES; t++) {
        grower.tree = &forest->trees[t];
        grower.tree->nodes =
            model_arena_array(arena, 2 * most, sizeof(*grower.tree->nodes));
        for (int i = 0; i < count; i++) {
            grower.drawn[i] = search_below(random, count);
        }
        (void)grow_node(&grower, 0, count);
    }
}

static double tree_value(const struct search_tree *tree, const int *inputs)
{
    const struct node *node = tree->nodes;

    while (node->input >= 0) {
        node = &tree->nodes[inputs[node->input] <= node->most ? node->left
                                                              : node->right];
    }
    return node->value;
}

double search_forest_value(const struct search_forest *forest,
                           const int *inputs)
{
    double sum = 0.0;

    for (int t = 0; t < forest->tree_count; t++) {
        sum += tree_value(&forest->trees[t], inputs);
    }
    return sum / forest->tree_count;
}
