#include "worker/runner/wire/wire_reply.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/outcome.h"
#include "worker/runner/wire/wire_text.h"

static bool read_ok(void *message, char *rest)
{
    (void)message;
    return rest[0] == '\0';
}

static bool read_fact(void *message, char *rest)
{
    struct wire_reply *reply = message;
    struct wire_fact *fact = &reply->facts[reply->n_facts];

    if (reply->n_facts == WIRE_FACTS_MAX ||
        !wire_read_name(wire_word(&rest), fact->name, sizeof(fact->name)) ||
        !wire_read_text(rest, fact->value, sizeof(fact->value)))
        return false;
    reply->n_facts++;
    return true;
}

static bool read_error(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_text(rest, reply->error, sizeof(reply->error));
}

/* The outcomes that a runner can report. */
static bool read_outcome(void *message, char *rest)
{
    enum outcome *outcome = &((struct wire_reply *)message)->result.outcome;

    return outcome_read(rest, outcome) &&
           (*outcome == OUTCOME_CORRECT || *outcome == OUTCOME_CONSTRAINTS ||
            *outcome == OUTCOME_RUNTIME || *outcome == OUTCOME_CORRECTNESS ||
            *outcome == OUTCOME_TIMEOUT);
}

static bool read_detail(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_text(rest, reply->result.detail, WIRE_TEXT_MAX);
}

static bool read_argument(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_name(rest, reply->result.argument, WIRE_NAME_MAX + 1);
}

static bool read_relative_l2(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_real(rest, &reply->result.relative_l2);
}

static bool read_max_error(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_real(rest, &reply->result.max_error);
}

static bool read_max_at(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_i64(rest, &reply->result.max_at);
}

static bool read_seconds(const char *word, double *out)
{
    return wire_read_real(word, out) && isfinite(*out) && *out > 0;
}

static bool read_sample(void *message, char *rest)
{
    struct wire_result *result = &((struct wire_reply *)message)->result;

    return result->n_samples < WIRE_SAMPLES_MAX &&
           read_seconds(rest, &result->samples[result->n_samples++]);
}

static bool read_rejected(void *message, char *rest)
{
    struct wire_result *result = &((struct wire_reply *)message)->result;

    return result->n_rejected < WIRE_REJECTED_MAX &&
           read_seconds(rest, &result->rejected[result->n_rejected++]);
}

static bool read_sampling(void *message, char *rest)
{
    struct wire_result *result = &((struct wire_reply *)message)->result;
    int choice = wire_read_choice(rest, wire_sampling_names, WIRE_UNSTABLE + 1);

    result->sampling = (enum wire_sampling)choice;
    return choice >= 0;
}

/* "flush", or "rotate COPIES". */
static bool read_l2(void *message, char *rest)
{
    struct wire_result *result = &((struct wire_reply *)message)->result;
    int choice = wire_read_choice(wire_word(&rest), l2_mode_names, L2_MODES);
    uint64_t copies;

    if (choice < 0)
        return false;
    result->l2 = (enum l2_mode)choice;
    if (result->l2 != L2_MODE_ROTATE)
        return *rest == '\0';
    if (!wire_read_u64(rest, UINT32_MAX, &copies))
        return false;
    result->copies = (unsigned)copies;
    return true;
}

static bool read_checked(void *message, char *rest)
{
    struct wire_checked *checked =
        &((struct wire_reply *)message)->result.checked;
    const char *launches = wire_word(&rest);
    uint64_t n;

    if (!launches || !wire_read_u64(launches, UINT32_MAX, &n) ||
        (strcmp(rest, "same") != 0 && strcmp(rest, "varied") != 0))
        return false;
    checked->launches = (int64_t)n;
    checked->varied = rest[0] == 'v';
    return true;
}

static bool read_blocked(void *message, char *rest)
{
    struct wire_reply *reply = message;

    reply->result.blocked = rest[0] == '1';
    return strcmp(rest, "0") == 0 || strcmp(rest, "1") == 0;
}

/* The four lists of readings must have the same length; the first one sets
 * it. */
static struct wire_state *state_at(struct wire_result *result, size_t i,
                                   bool first_list)
{
    if (i >= WIRE_STATES_MAX || (!first_list && i >= result->n_states))
        return NULL;
    if (first_list)
        result->n_states = i + 1;
    return &result->states[i];
}

/* Read the readings whose member is 'offset' bytes into a state. */
static bool read_states(struct wire_result *result, char *rest, size_t offset)
{
    bool first_list = result->n_states == 0;
    size_t n = 0;

    for (char *word = wire_word(&rest); word; word = wire_word(&rest)) {
        struct wire_state *state = state_at(result, n++, first_list);
        double value;

        if (!state || !wire_read_real(word, &value))
            return false;
        memcpy((char *)state + offset, &value, sizeof(value));
    }
    return n == result->n_states && *rest == '\0';
}

static bool read_clock(void *message, char *rest)
{
    return read_states(&((struct wire_reply *)message)->result, rest,
                       offsetof(struct wire_state, clock_mhz));
}

static bool read_temp(void *message, char *rest)
{
    return read_states(&((struct wire_reply *)message)->result, rest,
                       offsetof(struct wire_state, temp_c));
}

static bool read_power(void *message, char *rest)
{
    return read_states(&((struct wire_reply *)message)->result, rest,
                       offsetof(struct wire_state, power_w));
}

static bool read_throttle(void *message, char *rest)
{
    struct wire_result *result = &((struct wire_reply *)message)->result;
    bool first_list = result->n_states == 0;
    size_t n = 0;

    for (char *word = wire_word(&rest); word; word = wire_word(&rest)) {
        struct wire_state *state = state_at(result, n++, first_list);

        if (!state || strncmp(word, "0x", 2) != 0 || strlen(word) > 18 ||
            word[2] == '\0' ||
            word[2 + strspn(word + 2, "0123456789abcdef")] != '\0')
            return false;
        state->throttle = strtoull(word + 2, NULL, 16);
    }
    return n == result->n_states && *rest == '\0';
}

static bool read_held(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_real(rest, &reply->result.held_s) &&
           isfinite(reply->result.held_s) && reply->result.held_s >= 0;
}

static bool read_regs(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_i64(rest, &reply->result.usage.regs);
}

static bool read_local_bytes(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_i64(rest, &reply->result.usage.local_bytes);
}

static bool read_static_smem(void *message, char *rest)
{
    struct wire_reply *reply = message;

    return wire_read_i64(rest, &reply->result.usage.static_smem);
}

static bool read_poisoned(void *message, char *rest)
{
    struct wire_reply *reply = message;

    reply->result.poisoned = rest[0] == '1';
    return strcmp(rest, "0") == 0 || strcmp(rest, "1") == 0;
}

#define TEXT "a text of less than 1024 bytes"
#define READINGS "as many readings as the other lists, at most 4"

static const struct wire_field ok_fields[] = {
    { .key = "ok", read_ok, "nothing" },
    { .key = "fact",
      read_fact,
      "'NAME VALUE', at most 32 times",
      .repeats = true,
      .optional = true },
};

static const struct wire_field error_fields[] = {
    { .key = "error", read_error, TEXT },
    { .key = "poisoned", read_poisoned, "0 or 1" },
};

static const struct wire_field reference_fields[] = {
    { .key = "reference", read_error, TEXT },
    { .key = "poisoned", read_poisoned, "0 or 1" },
};

static const struct wire_field result_fields[] = {
    { .key = "outcome",
      read_outcome,
      "correct, constraints, runtime, correctness or timeout" },
    { .key = "detail", read_detail, TEXT },
    { .key = "argument", read_argument, "a name" },
    { .key = "relative_l2", read_relative_l2, "a number" },
    { .key = "max_error", read_max_error, "a number" },
    { .key = "max_at", read_max_at, "an integer" },
    { .key = "sample",
      read_sample,
      "seconds, more than 0, at most 1000 times",
      .repeats = true,
      .optional = true },
    { .key = "sampling",
      read_sampling,
      "none, fixed, settled, loser or unstable" },
    { .key = "rejected",
      read_rejected,
      "seconds, more than 0, at most 256 times",
      .repeats = true,
      .optional = true },
    { .key = "l2", read_l2, "'none', 'warm', 'flush' or 'rotate COPIES'" },
    { .key = "checked", read_checked, "launches, and 'same' or 'varied'" },
    { .key = "blocked", read_blocked, "0 or 1" },
    { .key = "clock_mhz", read_clock, READINGS },
    { .key = "temp_c", read_temp, READINGS },
    { .key = "power_w", read_power, READINGS },
    { .key = "throttle", read_throttle, READINGS ", as 0xHEX" },
    { .key = "held_s", read_held, "seconds" },
    { .key = "regs", read_regs, "an integer" },
    { .key = "local_bytes", read_local_bytes, "an integer" },
    { .key = "static_smem", read_static_smem, "an integer" },
    { .key = "poisoned", read_poisoned, "0 or 1" },
};

static const struct {
    const struct wire_field *fields;
    size_t n;
} replies[] = {
    [WIRE_OK] = { ok_fields, sizeof(ok_fields) / sizeof(*ok_fields) },
    [WIRE_RESULT] = { result_fields,
                      sizeof(result_fields) / sizeof(*result_fields) },
    [WIRE_REFERENCE] = { reference_fields,
                         sizeof(reference_fields) / sizeof(*reference_fields) },
    [WIRE_ERROR] = { error_fields,
                     sizeof(error_fields) / sizeof(*error_fields) },
};

#define STARTED (UINT64_C(1) << 63)

static enum wire_step read_progress(struct wire_reply *reply, const char *stage,
                                    char why[WIRE_WHY_MAX])
{
    if (!wire_read_name(stage, reply->stage, sizeof(reply->stage))) {
        snprintf(why, WIRE_WHY_MAX, "progress '%.60s': expected a stage",
                 stage);
        return WIRE_BAD;
    }
    return WIRE_PROGRESS;
}

enum wire_step wire_reply_line(struct wire_reply *reply, char *line,
                               char why[WIRE_WHY_MAX])
{
    if (!(reply->seen & STARTED)) {
        if (strncmp(line, "progress ", 9) == 0)
            return read_progress(reply, line + 9, why);
        reply->kind = strcmp(line, "ok") == 0                ? WIRE_OK
                      : strncmp(line, "error ", 6) == 0      ? WIRE_ERROR
                      : strncmp(line, "reference ", 10) == 0 ? WIRE_REFERENCE
                                                             : WIRE_RESULT;
        reply->seen = STARTED;
    }
    if (line[0] == '\0')
        return wire_field_end(replies[reply->kind].fields,
                              replies[reply->kind].n, reply->seen, why);
    return wire_field_line(replies[reply->kind].fields, replies[reply->kind].n,
                           reply, &reply->seen, line, why);
}

static void put_states(FILE *stream, const struct wire_result *result)
{
    fputs("clock_mhz", stream);
    for (size_t i = 0; i < result->n_states; i++)
        wire_put_real(stream, result->states[i].clock_mhz);
    fputs("\ntemp_c", stream);
    for (size_t i = 0; i < result->n_states; i++)
        wire_put_real(stream, result->states[i].temp_c);
    fputs("\npower_w", stream);
    for (size_t i = 0; i < result->n_states; i++)
        wire_put_real(stream, result->states[i].power_w);
    fputs("\nthrottle", stream);
    for (size_t i = 0; i < result->n_states; i++)
        fprintf(stream, " 0x%" PRIx64, result->states[i].throttle);
    fputc('\n', stream);
}

static void put_seconds(FILE *stream, const char *key, const double *seconds,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs(key, stream);
        wire_put_real(stream, seconds[i]);
        fputc('\n', stream);
    }
}

static void put_result(FILE *stream, const struct wire_result *result)
{
    fprintf(stream, "outcome %s\n", outcome_name(result->outcome));
    wire_put_text(stream, "detail", result->detail);
    fprintf(stream, "argument %s\nrelative_l2", result->argument);
    wire_put_real(stream, result->relative_l2);
    fputs("\nmax_error", stream);
    wire_put_real(stream, result->max_error);
    fprintf(stream, "\nmax_at %" PRId64 "\n", result->max_at);
    put_seconds(stream, "sample", result->samples, result->n_samples);
    fprintf(stream, "sampling %s\n", wire_sampling_name(result->sampling));
    put_seconds(stream, "rejected", result->rejected, result->n_rejected);
    fprintf(stream, "l2 %s", l2_mode_name(result->l2));
    if (result->l2 == L2_MODE_ROTATE)
        fprintf(stream, " %u", result->copies);
    fprintf(stream, "\nchecked %" PRId64 " %s\nblocked %d\n",
            result->checked.launches,
            result->checked.varied ? "varied" : "same", result->blocked);
    put_states(stream, result);
    fputs("held_s", stream);
    wire_put_real(stream, result->held_s);
    fprintf(stream, "\nregs %" PRId64 "\nlocal_bytes %" PRId64,
            result->usage.regs, result->usage.local_bytes);
    fprintf(stream, "\nstatic_smem %" PRId64 "\npoisoned %d\n",
            result->usage.static_smem, result->poisoned);
}

int wire_write_reply(FILE *stream, const struct wire_reply *reply)
{
    switch (reply->kind) {
    case WIRE_OK:
        fputs("ok\n", stream);
        for (size_t i = 0; i < reply->n_facts; i++) {
            fprintf(stream, "fact %s", reply->facts[i].name);
            wire_put_text(stream, "", reply->facts[i].value);
        }
        break;
    case WIRE_REFERENCE:
    case WIRE_ERROR:
        wire_put_text(stream, reply->kind == WIRE_ERROR ? "error" : "reference",
                      reply->error);
        fprintf(stream, "poisoned %d\n", reply->result.poisoned);
        break;
    case WIRE_RESULT:
        put_result(stream, &reply->result);
        break;
    }
    return wire_put_end(stream);
}

int wire_write_progress(FILE *stream, const char *stage)
{
    fprintf(stream, "progress %s\n", stage);
    return fflush(stream) == 0 ? 0 : -1;
}
