#include "coordinator/source/type_name.h"

#include <string.h>

/* Of several names in C, type_name_in_c() gives the first one. */
static const struct type_name names[] = {
    { "float", "fp32", 1, TYPE_NAME_C | TYPE_NAME_T1 },
    { "double", "fp64", 1, TYPE_NAME_C | TYPE_NAME_T1 },
    { "__half", "fp16", 1, TYPE_NAME_C },
    { "half", "fp16", 1, TYPE_NAME_C | TYPE_NAME_T1 },
    { "__nv_bfloat16", "bf16", 1, TYPE_NAME_C },
    { "nv_bfloat16", "bf16", 1, TYPE_NAME_C },
    { "int64_t", "int64", 1, TYPE_NAME_C },
    { "size_t", "int64", 1, TYPE_NAME_C },
    { "long", "int64", 1, TYPE_NAME_C },
    { "long long", "int64", 1, TYPE_NAME_C },
    { "uint64_t", "int64", 1, TYPE_NAME_C },
    { "int8_t", "int8", 1, TYPE_NAME_C },
    { "uint8_t", "int8", 1, TYPE_NAME_C },
    { "char", "int8", 1, TYPE_NAME_C },
    { "int", "int32", 1, TYPE_NAME_C | TYPE_NAME_T1 },
    { "int32_t", "int32", 1, TYPE_NAME_C },
    { "uint32_t", "int32", 1, TYPE_NAME_C },
    { "unsigned", "int32", 1, TYPE_NAME_C },

    { "float16", "fp16", 1, TYPE_NAME_NUMPY },
    { "bfloat16", "bf16", 1, TYPE_NAME_NUMPY },
    { "float32", "fp32", 1, TYPE_NAME_NUMPY },
    { "float64", "fp64", 1, TYPE_NAME_NUMPY },

    { "int8", "int8", 1, TYPE_NAME_T1 },
    { "int32", "int32", 1, TYPE_NAME_T1 },
    { "int64", "int64", 1, TYPE_NAME_T1 },
    { "uint8", "int8", 1, TYPE_NAME_T1 },
    { "uint32", "int32", 1, TYPE_NAME_T1 },
    { "uint64", "int64", 1, TYPE_NAME_T1 },

    { "float2", "fp32", 2, TYPE_NAME_C | TYPE_NAME_T1 },
    { "float3", "fp32", 3, TYPE_NAME_T1 },
    { "float4", "fp32", 4, TYPE_NAME_C | TYPE_NAME_T1 },
    { "float8", "fp32", 8, TYPE_NAME_T1 },
    { "float16", "fp32", 16, TYPE_NAME_T1 },
    { "double2", "fp64", 2, TYPE_NAME_C | TYPE_NAME_T1 },
    { "double3", "fp64", 3, TYPE_NAME_T1 },
    { "double4", "fp64", 4, TYPE_NAME_T1 },
    { "double8", "fp64", 8, TYPE_NAME_T1 },
    { "double16", "fp64", 16, TYPE_NAME_T1 },
    { "__half2", "fp16", 2, TYPE_NAME_C },
    { "half2", "fp16", 2, TYPE_NAME_C | TYPE_NAME_T1 },
    { "half4", "fp16", 4, TYPE_NAME_T1 },
    { "half8", "fp16", 8, TYPE_NAME_T1 },
    { "half16", "fp16", 16, TYPE_NAME_T1 },
    { "int2", "int32", 2, TYPE_NAME_C },
    { "int4", "int32", 4, TYPE_NAME_C },
    { "uint2", "int32", 2, TYPE_NAME_C },
    { "uint4", "int32", 4, TYPE_NAME_C },
};

const struct type_name *type_name_at(size_t i)
{
    return i < sizeof(names) / sizeof(names[0]) ? &names[i] : NULL;
}

const struct type_name *type_name_find(const char *name, unsigned languages)
{
    const struct type_name *row;

    for (size_t i = 0; (row = type_name_at(i)); i++)
        if (row->languages & languages && strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const char *type_name_in_c(const char *type)
{
    const struct type_name *row;

    for (size_t i = 0; (row = type_name_at(i)); i++)
        if (row->languages & TYPE_NAME_C && strcmp(row->type, type) == 0)
            return row->name;
    return NULL;
}
