#include "worker/runner/cuda/facts_cuda.h"

#include <assert.h>
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct facts {
    int gpu;
    struct device_fact *rows;
    size_t n;
};

__attribute__((format(printf, 3, 4))) static void
fact_add(struct facts *facts, const char *name, const char *fmt, ...)
{
    struct device_fact *fact = &facts->rows[facts->n++];
    va_list args;

    assert(facts->n <= DEVICE_FACTS_MAX);
    snprintf(fact->name, sizeof(fact->name), "%s", name);
    va_start(args, fmt);
    vsnprintf(fact->value, sizeof(fact->value), fmt, args);
    va_end(args);
}

/* -1 if the driver does not know it. */
static int64_t attribute(const struct facts *facts, enum cudaDeviceAttr which)
{
    int value;

    return cudaDeviceGetAttribute(&value, which, facts->gpu) == cudaSuccess
               ? value
               : -1;
}

static int64_t arch(const struct facts *facts)
{
    return 10 * attribute(facts, cudaDevAttrComputeCapabilityMajor) +
           attribute(facts, cudaDevAttrComputeCapabilityMinor);
}

/* Dense fp16 mma with fp32 accumulation, flops a clock of one SM: the published
 * peak divided by SMs and boost clock.  GeForce cards of 8.6, 8.9 and 12.0
 * reach half of it. */
static int64_t mma_flops(int64_t cc)
{
    static const struct {
        int cc, flops;
    } rows[] = {
        { 70, 1024 },  { 72, 1024 },  { 75, 1024 },  { 80, 2048 },
        { 86, 1024 },  { 87, 2048 },  { 89, 1024 },  { 90, 4096 },
        { 100, 8192 }, { 103, 8192 }, { 120, 1024 }, { 121, 1024 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].cc == cc)
            return rows[i].flops;
    return -1;
}

static void add_attributes(struct facts *facts)
{
    static const struct {
        const char *name;
        enum cudaDeviceAttr which;
    } rows[] = {
        { "sm_count", cudaDevAttrMultiProcessorCount },
        { "smem_per_block", cudaDevAttrMaxSharedMemoryPerBlockOptin },
        { "smem_per_sm", cudaDevAttrMaxSharedMemoryPerMultiprocessor },
        { "regs_per_block", cudaDevAttrMaxRegistersPerBlock },
        { "regs_per_sm", cudaDevAttrMaxRegistersPerMultiprocessor },
        { "threads_per_sm", cudaDevAttrMaxThreadsPerMultiProcessor },
        { "blocks_per_sm", cudaDevAttrMaxBlocksPerMultiprocessor },
        { "max_threads_per_block", cudaDevAttrMaxThreadsPerBlock },
        { "l2_bytes", cudaDevAttrL2CacheSize },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int64_t value = attribute(facts, rows[i].which);

        if (value > 0)
            fact_add(facts, rows[i].name, "%" PRId64, value);
    }
}

/* Clocks are in kHz; memory moves two words a clock on every bus in use. */
static void add_rates(struct facts *facts)
{
    int64_t memory_khz = attribute(facts, cudaDevAttrMemoryClockRate);
    int64_t bus_bits = attribute(facts, cudaDevAttrGlobalMemoryBusWidth);
    int64_t sm_khz = attribute(facts, cudaDevAttrClockRate);

    if (memory_khz > 0 && bus_bits > 0)
        fact_add(facts, "dram_bytes_per_s", "%" PRId64,
                 memory_khz * 1000 * 2 * bus_bits / 8);
    if (sm_khz > 0)
        fact_add(facts, "sm_clock_hz", "%" PRId64, sm_khz * 1000);
    if (mma_flops(arch(facts)) > 0)
        fact_add(facts, "mma_flops_per_clock_sm", "%" PRId64,
                 mma_flops(arch(facts)));
}

int facts_cuda_select(const char *gpu, int *number, struct device_err *err)
{
    int count;
    cudaError_t rc;

    *number = 0;
    if (strspn(gpu, "0123456789") == strlen(gpu)) {
        *number = (int)strtol(gpu, NULL, 10);
        setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
    } else {
        setenv("CUDA_VISIBLE_DEVICES", gpu, 1);
    }
    rc = cudaGetDeviceCount(&count);
    if (rc == cudaSuccess && *number < count)
        return 0;
    if (rc == cudaSuccess)
        snprintf(err->text, sizeof(err->text),
                 "this machine has no GPU %s; it has %d GPUs", gpu, count);
    else
        snprintf(err->text, sizeof(err->text), "%s: %s (%s, %d)", gpu,
                 cudaGetErrorString(rc), cudaGetErrorName(rc), (int)rc);
    return DEVICE_BROKEN;
}

size_t facts_cuda(int number, const char *uuid, const char *driver,
                  struct device_fact rows[DEVICE_FACTS_MAX])
{
    struct facts facts = { .gpu = number, .rows = rows };
    struct cudaDeviceProp properties;
    int version;

    fact_add(&facts, "device", "cuda");
    fact_add(&facts, "uuid", "%s", uuid);
    fact_add(&facts, "arch", "%" PRId64, arch(&facts));
    if (cudaGetDeviceProperties(&properties, number) == cudaSuccess) {
        fact_add(&facts, "gpu_name", "%.120s", properties.name);
        fact_add(&facts, "mem_bytes", "%zu", properties.totalGlobalMem);
    }
    add_attributes(&facts);
    add_rates(&facts);
    if (driver[0])
        fact_add(&facts, "driver", "%s", driver);
    if (cudaDriverGetVersion(&version) == cudaSuccess)
        fact_add(&facts, "cuda_driver_version", "%d.%d", version / 1000,
                 version % 1000 / 10);
    return facts.n;
}

int facts_cuda_uuid(int number, char uuid[64])
{
    struct cudaDeviceProp properties;
    size_t n;

    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess)
        return -1;
    n = (size_t)snprintf(uuid, 64, "GPU");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;

        n += (size_t)snprintf(uuid + n, 64 - n, "%s%02x", dash ? "-" : "",
                              (unsigned char)properties.uuid.bytes[i]);
    }
    return 0;
}
