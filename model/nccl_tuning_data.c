/*
 * nccl_tuning_data.c - the table of keys of the section `tuning`.
 */
#include "model/nccl_tuning_data.h"

#define AT(member) offsetof(struct model_nccl_tuning_data, member)

const struct model_field model_nccl_tuning_fields[] = {
    {.key = "least_threads",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(least_threads),
     .min = 32,
     .max = 1024,
     .required = true,
     .help = "threads of a CTA at least"},
    {.key = NULL}};
