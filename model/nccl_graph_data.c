/*
 * nccl_graph_data.c - the table of keys of the section `graph`.
 */
#include "model/nccl_graph_data.h"

#define AT(member) offsetof(struct model_nccl_graph_data, member)

const struct model_field model_nccl_graph_fields[] = {
    {.key = "max_channels",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(max_channels),
     .min = 1,
     .max = 64,
     .required = true,
     .help = "most channels of a communicator (MAXCHANNELS)"},
    {.key = NULL}};
