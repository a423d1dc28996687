/*
 * gemm.c - from the sizes of a product to a grid, and the choice of a tile.
 */
#include "model/gemm.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

enum { WHOLE_ACCESS_BYTES = 16, PARTIAL_BYTES = 4 };

/* Two times that differ by less are equal. */
static const double tie_ratio = 1e-9;

/* A product on a GPU, and what is the same for all its tiles. */
struct problem {
    const struct model_gpu *gpu;
    const struct model_gemm *gemm;
    int slots;
    double sm_flops_per_us;
    double element_us; /* of a narrow access; 0: they are wide */
    bool splits;       /* may be tried */
};

/* The best choice so far, and its kernel. */
struct best {
    struct model_gemm_choice choice;
    struct model_kernel kernel;
};

/* Sums over all products of a grid: tiles, and elements of a unit of k. */
struct traffic {
    double tiles;
    double wave_tiles;    /* in a wave, if each product had its own */
    double wave_rows;     /* rows and columns that these load */
    double loaded_rows;   /* rows and columns that all waves load */
    double no_reuse_rows; /* that all tiles load */
    double output_elements;
};

/*
 * Bytes of the widest access that the rows of A, B and C allow: the largest
 * power of two that divides all of their distances. One column has none.
 */
static double access_bytes(const struct model_gemm *gemm)
{
    int64_t bytes = (int64_t)model_type_bytes(gemm->type);
    int64_t across = gemm->n > 1.0 ? (int64_t)gemm->n : 0;
    uint64_t distances =
        (uint64_t)(((int64_t)gemm->k | across) * bytes) | WHOLE_ACCESS_BYTES;

    return (double)(distances & (~distances + 1));
}

static double narrow_element_us(const struct model_gpu *gpu,
                                const struct model_gemm *gemm)
{
    double access = access_bytes(gemm);

    if (access >= WHOLE_ACCESS_BYTES ||
        !(gpu->gemm_narrow_bytes_per_us > 0.0)) {
        return 0.0;
    }
    return model_type_bytes(gemm->type) /
           (gpu->gemm_narrow_bytes_per_us * access / 2.0);
}

static struct problem problem_of(const struct model_gpu *gpu,
                                 const struct model_gemm *gemm)
{
    return (struct problem){
        .gpu = gpu,
        .gemm = gemm,
        .slots = model_gpu_slots(gpu, gemm->sm_limit),
        .sm_flops_per_us =
            model_gpu_sm_flops_per_us(gpu, gemm->type, MODEL_CLASS_GEMM),
        .element_us = narrow_element_us(gpu, gemm),
        .splits = gemm->split_k == 0 && gpu->gemm_split_k > 0 &&
                  gemm->schedule != MODEL_STREAM_K};
}

/* Rounded up; like ceil, but inline. */
static double parts(double whole, double part)
{
    double quotient = whole / part;
    double down = (double)(int64_t)quotient;

    return down < quotient ? down + 1.0 : down;
}

/*
 * The block of tiles of one wave that loads the fewest rows and columns. The
 * sides are those of a tile.
 */
static double wave_rows(
    double tiles, double tiles_m, double tiles_n, double side_m, double side_n)
{
    double high = sqrt(tiles * side_n / side_m);
    double wide;

    high = fmin(fmax(high, tiles / tiles_n), tiles_m);
    high = fmax(high, 1.0);
    wide = fmin(tiles / high, tiles_n);
    return high * side_m + wide * side_n;
}

/* Add `count` products of m x n. */
static void add_products(struct traffic *sum,
                         const struct model_gemm_choice *choice,
                         double m,
                         double n,
                         double count,
                         double slots)
{
    double tiles_m = parts(m, choice->rows);
    double tiles_n = parts(n, choice->columns);
    double tiles = tiles_m * tiles_n;
    double wave = tiles > slots ? slots : tiles;
    double rows = tiles > slots ? wave_rows(wave, tiles_m, tiles_n, m / tiles_m,
                                            n / tiles_n)
                                : m + n;

    if (!(m > 0.0)) {
        return;
    }
    sum->tiles += count * tiles;
    sum->wave_tiles += count * wave;
    sum->wave_rows += count * rows;
    sum->loaded_rows += count * rows * (tiles / wave);
    sum->no_reuse_rows += count * (m * tiles_n + n * tiles_m);
    sum->output_elements += count * m * n;
}

/* The parts of split K share nothing: each is a product of its own. */
static struct traffic traffic_of(const struct problem *problem,
                                 const struct model_gemm_choice *choice)
{
    const struct model_gemm *gemm = problem->gemm;
    struct traffic sum = {.tiles = 0.0};

    if (gemm->group_count == 0) {
        add_products(&sum, choice, gemm->m, gemm->n,
                     gemm->batch * choice->split_k, problem->slots);
    }
    for (int i = 0; i < gemm->group_count; i++) {
        add_products(&sum, choice, gemm->groups[i], gemm->n, choice->split_k,
                     problem->slots);
    }
    return sum;
}

/* CTAs of a grid, without the rest of traffic_of. */
static double count_ctas(const struct model_gemm *gemm,
                         const struct model_gemm_choice *choice)
{
    double rows = gemm->group_count == 0
                      ? gemm->batch * parts(gemm->m, choice->rows)
                      : 0.0;

    for (int i = 0; i < gemm->group_count; i++) {
        rows += parts(gemm->groups[i], choice->rows);
    }
    return rows * parts(gemm->n, choice->columns) * choice->split_k;
}

/* Arithmetic of one CTA. */
static double cta_us(const struct problem *problem,
                     const struct model_gemm_choice *choice)
{
    double k = parts(problem->gemm->k, choice->split_k);

    return 2.0 * choice->rows * choice->columns * k /
           (problem->sm_flops_per_us * choice->tile->ratio);
}

/* Start and end of a CTA, as far as those beside it do not hide it. */
static double overhead_us(const struct problem *problem,
                          const struct model_gemm_choice *choice,
                          double ctas)
{
    double room = choice->tile->ctas_per_sm;
    double times = choice->split_k > 1 ? 2.0 : 1.0;

    return problem->gpu->gemm_overhead_us * times /
           fmin(room, parts(ctas, problem->slots));
}

/* The grid under the schedule `waves`. */
static struct model_kernel make_grid(const struct problem *problem,
                                     const struct model_gemm_choice *choice)
{
    struct traffic sum = traffic_of(problem, choice);
    double bytes = model_type_bytes(problem->gemm->type);
    double split = choice->split_k;
    double k = parts(problem->gemm->k, split);
    double written =
        sum.output_elements *
        (split > 1.0 ? 2.0 * PARTIAL_BYTES + bytes / split : bytes);
    double narrow_us = problem->element_us *
                       (sum.no_reuse_rows * k + sum.output_elements) /
                       sum.tiles;
    struct model_kernel kernel = {
        .schedule = MODEL_WAVES,
        .loads = (int)fmin(sum.tiles, INT_MAX),
        .overflows = sum.tiles > INT_MAX,
        .load_us = overhead_us(problem, choice, sum.tiles) +
                   fmax(cta_us(problem, choice), narrow_us),
        .load_bytes = (sum.loaded_rows * k * bytes + written) / sum.tiles,
        .load_no_reuse_bytes =
            (sum.no_reuse_rows * k * bytes + written) / sum.tiles,
        .working_set_bytes = sum.wave_rows * k * bytes *
                             fmin(1.0, problem->slots / sum.wave_tiles),
        .sm_limit = problem->gemm->sm_limit};

    model_kernel_set_cta(&kernel, &choice->tile->cta, 1);
    return kernel;
}

static struct model_kernel make_kernel(const struct problem *problem,
                                       const struct model_gemm_choice *choice)
{
    struct model_kernel kernel = make_grid(problem, choice);

    model_kernel_schedule(&kernel, problem->gemm->schedule, problem->slots);
    return kernel;
}

static double area(const struct model_gemm_choice *choice)
{
    return (double)choice->rows * choice->columns;
}

/* Is the first faster, or as fast and simpler? */
static bool is_better(const struct model_gemm_choice *choice,
                      const struct model_gemm_choice *best)
{
    if (fabs(choice->us - best->us) > tie_ratio * best->us) {
        return choice->us < best->us;
    }
    return area(choice) > area(best) ||
           (area(choice) >= area(best) && choice->split_k < best->split_k);
}

/*
 * A choice into the best, if it is better. Most are ruled out by what their
 * CTAs take without memory.
 */
static void try_choice(const struct problem *problem,
                       struct model_gemm_choice *choice,
                       double ctas,
                       struct best *best)
{
    double rounds = problem->gemm->schedule == MODEL_STREAM_K
                        ? ctas / problem->slots
                        : parts(ctas, problem->slots);
    struct model_kernel kernel;

    choice->us =
        rounds * (cta_us(problem, choice) + overhead_us(problem, choice, ctas));
    if (!is_better(choice, &best->choice)) {
        return;
    }
    kernel = make_kernel(problem, choice);
    choice->us = model_kernel_alone_us(&kernel, problem->gpu);
    if (is_better(choice, &best->choice)) {
        best->choice = *choice;
        best->kernel = kernel;
    }
}

/* Try the splits of a tile. */
static void try_splits(const struct problem *problem,
                       struct model_gemm_choice choice,
                       struct best *best)
{
    const struct model_gemm *gemm = problem->gemm;
    double least_k = problem->gpu->gemm_split_k;
    double ctas;

    choice.split_k = gemm->split_k > 0 ? gemm->split_k : 1;
    do {
        ctas = count_ctas(gemm, &choice);
        try_choice(problem, &choice, ctas, best);
        choice.split_k *= 2;
    } while (problem->splits && ctas < 2.0 * problem->slots &&
             gemm->k >= choice.split_k * least_k);
}

/* The GPU's tile whose size is nearest to a given one. */
static const struct model_gemm_tile *nearest_tile(const struct model_gpu *gpu,
                                                  double wanted)
{
    const struct model_gemm_tile *tiles = gpu->gemm_tiles.items;
    const struct model_gemm_tile *best = &tiles[0];
    double least = HUGE_VAL;

    for (int i = 0; i < gpu->gemm_tiles.count; i++) {
        double size = (double)tiles[i].rows * tiles[i].columns;
        double distance = fmax(size / wanted, wanted / size);

        if (distance < least) {
            least = distance;
            best = &tiles[i];
        }
    }
    return best;
}

/* A tile of the file, not timed yet. */
static struct model_gemm_choice choice_of(const struct model_gemm_tile *tile)
{
    return (struct model_gemm_choice){.rows = tile->rows,
                                      .columns = tile->columns,
                                      .split_k = 1,
                                      .tile = tile,
                                      .us = DBL_MAX};
}

static struct best choose(const struct problem *problem)
{
    const struct model_gemm *gemm = problem->gemm;
    const struct model_gemm_tile *tiles = problem->gpu->gemm_tiles.items;
    struct best best = {.choice = choice_of(&tiles[0])};

    if (gemm->rows > 0) {
        best.choice = choice_of(
            nearest_tile(problem->gpu, (double)gemm->rows * gemm->columns));
        best.choice.rows = gemm->rows;
        best.choice.columns = gemm->columns;
        try_splits(problem, best.choice, &best);
        return best;
    }
    for (int i = 0; i < problem->gpu->gemm_tiles.count; i++) {
        try_splits(problem, choice_of(&tiles[i]), &best);
    }
    return best;
}

struct model_gemm_choice model_gemm_choose(const struct model_gpu *gpu,
                                           const struct model_gemm *gemm)
{
    struct problem problem = problem_of(gpu, gemm);

    return choose(&problem).choice;
}

struct model_kernel model_gemm_kernel(const struct model_gpu *gpu,
                                      const struct model_gemm *gemm)
{
    struct problem problem = problem_of(gpu, gemm);

    return choose(&problem).kernel;
}

/* Rows of all products, and how many there are. */
static double all_rows(const struct model_gemm *gemm, double *products)
{
    double rows = 0.0;

    *products = 0.0;
    if (gemm->group_count == 0) {
        *products = gemm->batch;
        return gemm->batch * gemm->m;
    }
    for (int i = 0; i < gemm->group_count; i++) {
        rows += gemm->groups[i];
        *products += gemm->groups[i] > 0.0 ? 1.0 : 0.0;
    }
    return rows;
}

double model_gemm_flops(const struct model_gemm *gemm)
{
    double products;

    return 2.0 * all_rows(gemm, &products) * gemm->n * gemm->k;
}

double model_gemm_bytes(const struct model_gemm *gemm)
{
    double products;
    double rows = all_rows(gemm, &products);

    return (rows * gemm->k + products * gemm->k * gemm->n + rows * gemm->n) *
           model_type_bytes(gemm->type);
}
