/*
 * settings_data.c - the table of keys of the section `settings`.
 */
#include "model/nccl/settings_data.h"

#define AT(member) offsetof(struct model_nccl_settings_data, member)
#define SWITCH(name, text)                                                     \
    {                                                                          \
        .key = #name, .kind = MODEL_FIELD_BOOL, .offset = AT(name),            \
        .required = true, .help = (text)                                       \
    }
#define WORDS(name, text)                                                      \
    {                                                                          \
        .key = #name, .kind = MODEL_FIELD_TEXTS, .offset = AT(name),           \
        .required = true, .help = (text)                                       \
    }

const struct model_field model_nccl_settings_fields[] = {
    {.key = "code",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(code),
     .min = 20000,
     .max = 99999,
     .required = true,
     .help = "the release as NCCL counts it: 21803 is 2.18.3"},
    WORDS(algorithms, "what NCCL_ALGO knows"),
    WORDS(levels, "what NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL know"),
    SWITCH(lists_by_function,
           "NCCL_ALGO and NCCL_PROTO hold lists for single functions, and "
           "unknown words are refused"),
    SWITCH(ring_always, "NCCL_ALGO takes Ring from AllReduce alone"),
    SWITCH(ctas_checked, "NCCL_MIN_CTAS and NCCL_MAX_CTAS below 1 are ignored"),
    SWITCH(policy_names, "NCCL_CTA_POLICY knows words, not only numbers"),
    {.key = NULL}};
