#include "common/msg_fields.h"

#define NAME_MAX_BYTES 128
#define HEADER_MAX (64 << 10)

enum {
    LEASE,
    SWEEP,
    CONFIG,
    SHAPE,
    PURPOSE,
    STAGE,
    ROUND,
    ATTEMPT,
    NONCE,
    PROTOCOL,
    VERSION,
    HOST,
    BOOT_ID,
    PID,
    CPUS,
    RUNNING,
    JOURNAL,
    LOST,
    DEVICE,
    GPUS,
    NVCC,
    ALLOW,
    POWEROFF,
    SLOTS,
    BEAT_MS,
    LINGER_MS,
    GPU,
    INDEX,
    NAME,
    DRIVER,
    FACTS,
    TOOLKIT,
    N_GPUS,
    MEASURE_CREDIT,
    INPUTS,
    HASH,
    NAMES,
    CONTENTS,
    KEY,
    BUNDLE,
    SOURCE,
    HEADER,
    ENTRY,
    STANDARD,
    FLAGS,
    ARCH,
    ARGUMENTS,
    LIMIT_MS,
    OUTCOME,
    BLAME,
    DETAIL,
    ARTIFACT,
    ARTIFACT_BYTES,
    LOG,
    SECONDS,
    CACHED,
    REGISTERS,
    SPILL_BYTES,
    STATIC_SMEM,
    REFERENCE,
    REQUEST,
    FRESH,
    ARGUMENT,
    RELATIVE_L2,
    MAX_ERROR,
    MAX_AT,
    SAMPLES,
    SAMPLING,
    REJECTED,
    L2,
    CHECKED,
    VARIED,
    BLOCKED,
    CLOCK_MHZ,
    TEMP_C,
    POWER_W,
    THROTTLE,
    HELD_S,
    COMMAND,
    ASK,
    STATUS,
    WARNING,
    WAITS,
    OUTPUT,
    OFFSET,
    TOTAL,
    CHUNK,
    NONCES,
    WHAT,
    TEXT_,
    WORDS,
};

static const struct msg_word words[WORDS] = {
    [LEASE] = { "lease", INT64_MAX, false },
    [SWEEP] = { "sweep", NAME_MAX_BYTES, false },
    [CONFIG] = { "config", NAME_MAX_BYTES, false },
    [SHAPE] = { "shape", NAME_MAX_BYTES, false },
    [PURPOSE] = { "purpose", NAME_MAX_BYTES, false },
    [STAGE] = { "stage", NAME_MAX_BYTES, false },
    [ROUND] = { "round", 1 << 30, false },
    [ATTEMPT] = { "attempt", 1 << 30, false },
    [NONCE] = { "nonce", 32, false },
    [PROTOCOL] = { "protocol", 1 << 30, false },
    [VERSION] = { "version", NAME_MAX_BYTES, false },
    [HOST] = { "host", 256, false },
    [BOOT_ID] = { "boot_id", 64, false },
    [PID] = { "pid", INT32_MAX, false },
    [CPUS] = { "cpus", 1 << 16, false },
    [RUNNING] = { "running", 4096, false },
    [JOURNAL] = { "journal", INT64_MAX, false },
    [LOST] = { "lost", INT64_MAX, false },
    [DEVICE] = { "device", 16, false },
    [GPUS] = { "gpus", 1024, false },
    [NVCC] = { "nvcc", 4096, false },
    [ALLOW] = { "allow", 4096, false },
    [POWEROFF] = { "poweroff", 1024, false },
    [SLOTS] = { "slots", 4096, false },
    [BEAT_MS] = { "beat_ms", INT32_MAX, false },
    [LINGER_MS] = { "linger_ms", INT32_MAX, false },
    [GPU] = { "gpu", NAME_MAX_BYTES, false },
    [INDEX] = { "index", 4096, false },
    [NAME] = { "name", 256, false },
    [DRIVER] = { "driver", NAME_MAX_BYTES, false },
    [FACTS] = { "facts", 64, false },
    [TOOLKIT] = { "toolkit", 256, false },
    [N_GPUS] = { "n_gpus", 256, false },
    [MEASURE_CREDIT] = { "measure_credit", 64, false },
    [INPUTS] = { "inputs", MSG_ARGUMENTS_MAX, false },
    [HASH] = { "hash", 32, false },
    [NAMES] = { "names", MSG_FILES_MAX, false },
    [CONTENTS] = { "contents", MSG_FILES_MAX, false },
    [KEY] = { "key", 32, false },
    [BUNDLE] = { "bundle", 32, false },
    [SOURCE] = { "source", 256, false },
    [HEADER] = { "header", HEADER_MAX, false },
    [ENTRY] = { "entry", NAME_MAX_BYTES, false },
    [STANDARD] = { "standard", 16, false },
    [FLAGS] = { "flags", 64, false },
    [ARCH] = { "arch", 32, false },
    [ARGUMENTS] = { "arguments", MSG_ARGUMENTS_MAX, false },
    [LIMIT_MS] = { "limit_ms", INT32_MAX, false },
    [OUTCOME] = { "outcome", 32, false },
    [BLAME] = { "blame", 16, false },
    [DETAIL] = { "detail", MSG_DETAIL_MAX, false },
    [ARTIFACT] = { "artifact", 32, false },
    [ARTIFACT_BYTES] = { "artifact_bytes", INT32_MAX, false },
    [LOG] = { "log", MSG_LOG_MAX + 256, false },
    [SECONDS] = { "seconds", 1 << 30, false },
    [CACHED] = { "cached", 1, false },
    [REGISTERS] = { "registers", 1 << 16, true },
    [SPILL_BYTES] = { "spill_bytes", INT32_MAX, true },
    [STATIC_SMEM] = { "static_smem", INT32_MAX, true },
    [REFERENCE] = { "reference", 32, false },
    [REQUEST] = { "request", HEADER_MAX, false },
    [FRESH] = { "fresh", 1, false },
    [ARGUMENT] = { "argument", NAME_MAX_BYTES, false },
    [RELATIVE_L2] = { "relative_l2", MSG_ANY_SIZE, true },
    [MAX_ERROR] = { "max_error", MSG_ANY_SIZE, true },
    [MAX_AT] = { "max_at", INT64_MAX, true },
    [SAMPLES] = { "samples", MSG_SAMPLES_MAX, false },
    [SAMPLING] = { "sampling", 16, false },
    [REJECTED] = { "rejected", MSG_SAMPLES_MAX, false },
    [L2] = { "l2", 32, false },
    [CHECKED] = { "checked", INT64_MAX, true },
    [VARIED] = { "varied", 1, true },
    [BLOCKED] = { "blocked", 1, false },
    [CLOCK_MHZ] = { "clock_mhz", MSG_SAMPLES_MAX, true },
    [TEMP_C] = { "temp_c", MSG_SAMPLES_MAX, true },
    [POWER_W] = { "power_w", MSG_SAMPLES_MAX, true },
    [THROTTLE] = { "throttle", MSG_SAMPLES_MAX, true },
    [HELD_S] = { "held_s", 1 << 30, false },
    [COMMAND] = { "command", MSG_COMMAND_MAX, false },
    [ASK] = { "ask", MSG_ASK_MAX, false },
    [STATUS] = { "status", 255, true },
    [WARNING] = { "warning", 240, false },
    [WAITS] = { "waits", 240, false },
    [OUTPUT] = { "output", MSG_OUTPUT_MAX, false },
    [OFFSET] = { "offset", INT32_MAX, false },
    [TOTAL] = { "total", INT32_MAX, false },
    [CHUNK] = { "chunk", MSG_CHUNK_MAX, false },
    [NONCES] = { "nonces", 1024, false },
    [WHAT] = { "what", 32, false },
    [TEXT_] = { "text", MSG_DETAIL_MAX, false },
};

/* What a member is, by its type.  clang-format takes the types for labels. */
/* clang-format off */
#define KIND(of, member)                \
    _Generic(((struct of *)0)->member,  \
             int64_t: FIELD_INT,        \
             double: FIELD_REAL,        \
             const char *: FIELD_TEXT,  \
             struct texts: FIELD_TEXTS, \
             struct bytes: FIELD_BYTES, \
             struct blobs: FIELD_BLOBS, \
             struct reals: FIELD_REALS)
/* clang-format on */

#define F(word, member)                                                      \
    {                                                                        \
        &words[word], KIND(msg, member), offsetof(struct msg, member), false \
    }
/* Of later builds: those of before neither send nor know it. */
#define OPTIONAL(word, member)                                              \
    {                                                                       \
        &words[word], KIND(msg, member), offsetof(struct msg, member), true \
    }
/* A member of a struct that several types have, which stands at 'at'. */
#define PART(word, at, of, member)                                        \
    {                                                                     \
        &words[word], KIND(of, member),                                   \
            offsetof(struct msg, at) + offsetof(struct of, member), false \
    }
#define LEASED(at)                                                         \
    PART(LEASE, at, msg_work, lease), PART(SWEEP, at, msg_work, id.sweep), \
        PART(CONFIG, at, msg_work, id.config),                             \
        PART(SHAPE, at, msg_work, id.shape),                               \
        PART(PURPOSE, at, msg_work, id.purpose),                           \
        PART(STAGE, at, msg_work, id.stage),                               \
        PART(ROUND, at, msg_work, id.round),                               \
        PART(ATTEMPT, at, msg_work, id.attempt)
#define USAGE(at)                                      \
    PART(REGISTERS, at, msg_usage, registers),         \
        PART(SPILL_BYTES, at, msg_usage, spill_bytes), \
        PART(STATIC_SMEM, at, msg_usage, static_smem)
#define END          \
    {                \
        .word = NULL \
    }

static const struct msg_field hello[] = {
    F(PROTOCOL, hello.protocol), F(VERSION, hello.version),
    F(HOST, hello.host),         F(BOOT_ID, hello.boot_id),
    F(PID, hello.pid),           F(CPUS, hello.cpus),
    F(RUNNING, hello.running),   F(JOURNAL, hello.journal),
    OPTIONAL(LOST, hello.lost),  END,
};
static const struct msg_field welcome[] = {
    F(PROTOCOL, welcome.protocol),
    F(SWEEP, welcome.sweep),
    F(DEVICE, welcome.device),
    F(GPUS, welcome.gpus),
    F(NVCC, welcome.nvcc),
    F(SLOTS, welcome.slots),
    F(BEAT_MS, welcome.beat_ms),
    F(LINGER_MS, welcome.linger_ms),
    OPTIONAL(ALLOW, welcome.allow),
    OPTIONAL(POWEROFF, welcome.poweroff),
    END,
};
static const struct msg_field gpu[] = {
    F(INDEX, gpu.index),   F(GPU, gpu.uuid),    F(NAME, gpu.name),
    F(DRIVER, gpu.driver), F(FACTS, gpu.facts), END,
};
static const struct msg_field ready[] = {
    F(TOOLKIT, ready.toolkit),
    F(SLOTS, ready.slots),
    F(N_GPUS, ready.n_gpus),
    F(MEASURE_CREDIT, ready.measure_credit),
    OPTIONAL(WARNING, ready.warning),
    OPTIONAL(WAITS, ready.waits),
    END,
};
static const struct msg_field trouble[] = {
    F(WHAT, trouble.what),
    F(TEXT_, trouble.text),
    END,
};
static const struct msg_field bundle[] = {
    F(HASH, bundle.hash),
    F(NAMES, bundle.names),
    F(CONTENTS, bundle.contents),
    END,
};
static const struct msg_field build[] = {
    LEASED(build.work),
    F(KEY, build.work.key),
    F(BUNDLE, build.bundle),
    F(SOURCE, build.source),
    F(HEADER, build.header),
    F(ENTRY, build.entry),
    F(STANDARD, build.standard),
    F(FLAGS, build.flags),
    F(ARCH, build.arch),
    F(LIMIT_MS, build.limit_ms),
    OPTIONAL(ARGUMENTS, build.arguments),
    END,
};
static const struct msg_field built[] = {
    LEASED(built.work),
    F(NONCE, built.result.nonce),
    F(KEY, built.work.key),
    F(OUTCOME, built.result.outcome),
    F(DETAIL, built.result.detail),
    F(ARTIFACT, built.artifact),
    F(ARTIFACT_BYTES, built.artifact_bytes),
    F(LOG, built.log),
    F(SECONDS, built.result.seconds),
    F(CACHED, built.cached),
    USAGE(built.usage),
    OPTIONAL(BLAME, built.result.blame),
    END,
};
static const struct msg_field measure[] = {
    LEASED(measure.work),
    F(KEY, measure.work.key),
    F(GPU, measure.launch.gpu),
    F(ARTIFACT, measure.launch.artifact),
    F(REFERENCE, measure.launch.reference),
    F(REQUEST, measure.launch.request),
    F(FRESH, measure.fresh),
    F(LIMIT_MS, measure.launch.limit_ms),
    OPTIONAL(INPUTS, measure.launch.inputs),
    END,
};
static const struct msg_field measured[] = {
    LEASED(measured.work),
    F(NONCE, measured.result.nonce),
    F(KEY, measured.work.key),
    F(GPU, measured.gpu),
    F(ARTIFACT, measured.artifact),
    F(OUTCOME, measured.result.outcome),
    F(DETAIL, measured.result.detail),
    F(ARGUMENT, measured.argument),
    F(RELATIVE_L2, measured.relative_l2),
    F(MAX_ERROR, measured.max_error),
    F(MAX_AT, measured.max_at),
    F(SAMPLES, measured.samples),
    F(SAMPLING, measured.sampling),
    F(REJECTED, measured.rejected),
    F(L2, measured.l2),
    F(BLOCKED, measured.blocked),
    F(CLOCK_MHZ, measured.clock_mhz),
    F(TEMP_C, measured.temp_c),
    F(POWER_W, measured.power_w),
    F(THROTTLE, measured.throttle),
    F(HELD_S, measured.held_s),
    F(SECONDS, measured.result.seconds),
    USAGE(measured.usage),
    OPTIONAL(BLAME, measured.result.blame),
    OPTIONAL(CHECKED, measured.checked.launches),
    OPTIONAL(VARIED, measured.checked.varied),
    END,
};
static const struct msg_field tool[] = {
    LEASED(tool.work),
    F(KEY, tool.work.key),
    F(GPU, tool.launch.gpu),
    F(BUNDLE, tool.bundle),
    F(COMMAND, tool.command),
    F(ARTIFACT, tool.launch.artifact),
    F(REFERENCE, tool.launch.reference),
    F(REQUEST, tool.launch.request),
    F(LIMIT_MS, tool.launch.limit_ms),
    OPTIONAL(INPUTS, tool.launch.inputs),
    OPTIONAL(ASK, tool.ask),
    END,
};
static const struct msg_field ran[] = {
    LEASED(ran.work),
    F(NONCE, ran.result.nonce),
    F(KEY, ran.work.key),
    F(GPU, ran.gpu),
    F(OUTCOME, ran.result.outcome),
    F(DETAIL, ran.result.detail),
    F(STATUS, ran.status),
    F(OUTPUT, ran.output),
    F(LOG, ran.log),
    F(SECONDS, ran.result.seconds),
    END,
};
static const struct msg_field started[] = {
    F(LEASE, started.lease),
    END,
};
static const struct msg_field refuse[] = {
    F(LEASE, refuse.lease),
    F(TEXT_, refuse.text),
    END,
};
static const struct msg_field want[] = {
    F(WHAT, want.what),
    F(HASH, want.hash),
    OPTIONAL(OFFSET, want.offset),
    END,
};
static const struct msg_field fetch[] = {
    F(HASH, fetch.hash),
    END,
};
static const struct msg_field artifact[] = {
    F(HASH, artifact.hash),
    F(OFFSET, artifact.offset),
    F(TOTAL, artifact.total),
    F(CHUNK, artifact.chunk),
    END,
};
static const struct msg_field missing[] = {
    F(HASH, missing.hash),
    END,
};
static const struct msg_field ack[] = {
    F(NONCES, ack.nonces),
    END,
};
static const struct msg_field cancel[] = {
    F(LEASE, cancel.lease),
    OPTIONAL(RUNNING, cancel.running),
    END,
};
static const struct msg_field invite[] = {
    F(TEXT_, invite.text),
    END,
};
static const struct msg_field beat[] = {
    F(JOURNAL, beat.journal),
    END,
};
static const struct msg_field stop[] = {
    F(WHAT, stop.what),
    OPTIONAL(TEXT_, stop.text),
    END,
};
static const struct msg_field bye[] = {
    F(TEXT_, bye.text),
    F(JOURNAL, bye.journal),
    END,
};

static const struct shape {
    const char *name;
    const struct msg_field *fields;
} shapes[MSG_TYPES] = {
    [MSG_HELLO] = { "HELLO", hello },
    [MSG_INVITE] = { "INVITE", invite },
    [MSG_WELCOME] = { "WELCOME", welcome },
    [MSG_GPU] = { "GPU", gpu },
    [MSG_READY] = { "READY", ready },
    [MSG_TROUBLE] = { "TROUBLE", trouble },
    [MSG_BUNDLE] = { "BUNDLE", bundle },
    [MSG_BUILD] = { "BUILD", build },
    [MSG_BUILT] = { "BUILT", built },
    [MSG_MEASURE] = { "MEASURE", measure },
    [MSG_MEASURED] = { "MEASURED", measured },
    [MSG_TOOL] = { "TOOL", tool },
    [MSG_RAN] = { "RAN", ran },
    [MSG_STARTED] = { "STARTED", started },
    [MSG_REFUSE] = { "REFUSE", refuse },
    [MSG_WANT] = { "WANT", want },
    [MSG_FETCH] = { "FETCH", fetch },
    [MSG_ARTIFACT] = { "ARTIFACT", artifact },
    [MSG_MISSING] = { "MISSING", missing },
    [MSG_ACK] = { "ACK", ack },
    [MSG_CANCEL] = { "CANCEL", cancel },
    [MSG_BEAT] = { "BEAT", beat },
    [MSG_STOP] = { "STOP", stop },
    [MSG_BYE] = { "BYE", bye },
};

const char *msg_type_name(enum msg_type type)
{
    return type < MSG_TYPES ? shapes[type].name : "?";
}

const struct msg_field *msg_fields_of(enum msg_type type, size_t i)
{
    const struct msg_field *field = &shapes[type].fields[i];

    return field->word ? field : NULL;
}
