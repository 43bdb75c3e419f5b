#include "coordinator/plan/sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

#define PREFIX "========="

static const struct {
    const char *name, *checks;
} tools[SANITIZER_TOOLS] = {
    [SANITIZER_MEMCHECK] = { "memcheck", "memory accesses" },
    [SANITIZER_RACECHECK] = { "racecheck", "races in shared memory" },
    [SANITIZER_INITCHECK] = { "initcheck", "reads of unwritten memory" },
    [SANITIZER_SYNCCHECK] = { "synccheck", "barriers" },
};

const char *sanitizer_name(enum sanitizer_tool tool)
{
    return tools[tool].name;
}

const char *sanitizer_checks(enum sanitizer_tool tool)
{
    return tools[tool].checks;
}

bool sanitizer_of_round(int64_t round, enum sanitizer_tool *out)
{
    *out = (enum sanitizer_tool)(round % SANITIZER_TOOLS);
    return round >= SANITIZER_ROUNDS;
}

static void add(struct sanitizer_command *out, const char *argument)
{
    out->arguments[out->n++] = argument;
}

/* Without a filter, the reference and the runner's own kernels would be slowed
 * down too.  initcheck must see them write what the kernel reads. */
void sanitizer_command(enum sanitizer_tool tool, const char *entry,
                       struct sanitizer_command *out)
{
    out->n = 0;
    snprintf(out->filter, sizeof(out->filter), "kns=%s", entry);
    add(out, "compute-sanitizer");
    add(out, "--tool");
    add(out, tools[tool].name);
    add(out, "--show-backtrace");
    add(out, "device");
    add(out, "--check-exit-code"); /* the runner's reply says how it ended */
    add(out, "no");
    if (tool == SANITIZER_MEMCHECK) {
        add(out, "--report-api-errors"); /* the runner handles its own */
        add(out, "no");
    }
    if (tool != SANITIZER_INITCHECK) {
        add(out, "--kernel-name");
        add(out, out->filter);
    }
    add(out, "{runner}");
}

/* ---- text */

struct span {
    const char *at;
    size_t len;
};

static struct span trimmed(const char *at, size_t len)
{
    while (len > 0 && (unsigned char)*at <= ' ') {
        at++;
        len--;
    }
    while (len > 0 && (unsigned char)at[len - 1] <= ' ')
        len--;
    return (struct span){ at, len };
}

/* Does it begin with 'head'?  Then '*rest' is what follows. */
static bool begins(struct span text, const char *head, struct span *rest)
{
    size_t len = strlen(head);

    if (text.len < len || memcmp(text.at, head, len) != 0)
        return false;
    *rest = trimmed(text.at + len, text.len - len);
    return true;
}

static void copy(char *out, size_t size, struct span text)
{
    size_t len = text.len < size ? text.len : size - 1;

    memcpy(out, text.at, len);
    out[len] = '\0';
}

/* Where 'what' begins in the text; its length if it is not there. */
static size_t find(struct span text, const char *what)
{
    size_t len = strlen(what);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.at + i, what, len) == 0)
            return i;
    return text.len;
}

/* The number at the beginning; at most 18 digits, so that it fits. */
static int64_t number_of(struct span text)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.len && i < 18; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            break;
        number = number * 10 + (text.at[i] - '0');
    }
    return number;
}

/* ---- findings */

/* What was read of the finding that the last lines are about. */
struct reading {
    struct sanitizer_report *out;
    bool open;     /* there is one */
    bool severe;   /* its first line said so */
    bool is_fatal; /* 'trouble' is from such a line */
    struct sanitizer_finding is;
    char frame[160]; /* the caller of the place */
    char first[160]; /* of a race, the first place */
    char access[8];  /* and what it does: Write */
};

static void put(struct reading *reading, const struct sanitizer_finding *is)
{
    struct sanitizer_report *out = reading->out;

    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->findings[i].kind, is->kind) == 0 &&
            strcmp(out->findings[i].where, is->where) == 0) {
            if (out->findings[i].count <= INT64_MAX - is->count)
                out->findings[i].count += is->count;
            return;
        }
    if (out->n < SANITIZER_FINDINGS_MAX)
        out->findings[out->n++] = *is;
    else
        out->left_out++;
}

/* A first line without a place is a word about the tool itself. */
static void take_trouble(struct reading *reading)
{
    char *trouble = reading->out->trouble;

    if (*trouble && (reading->is_fatal || !reading->severe))
        return;
    snprintf(trouble, sizeof(reading->out->trouble), "%s", reading->is.kind);
    reading->is_fatal = reading->severe;
}

static void end_finding(struct reading *reading)
{
    struct sanitizer_finding *is = &reading->is;
    size_t len = strlen(is->where);

    if (!reading->open)
        return;
    reading->open = false;
    if (*reading->first)
        return; /* a race: each of its lines was one */
    if (!len && !*is->thread) {
        take_trouble(reading);
        return;
    }
    if (*reading->frame && strcmp(reading->frame, is->where) != 0)
        snprintf(is->where + len, sizeof(is->where) - len, "%s%s",
                 len ? ", called by " : "", reading->frame);
    put(reading, is);
}

/* Take "Error: " and the like from the front. */
static bool take_severity(struct span *text, bool *warning)
{
    static const struct {
        const char *word;
        bool warning;
    } words[] = {
        { "Error:", false },  { "ERROR:", false },  { "Internal ", false },
        { "Warning:", true }, { "WARNING:", true }, { "WARN:", true },
    };
    struct span rest;

    *warning = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (begins(*text, words[i].word, &rest)) {
            *warning = words[i].warning;
            if (words[i].word[0] != 'I')
                *text = rest;
            return true;
        }
    return false;
}

/* "Write access at PLACE": false if it is something else. */
static bool take_access(struct span text, char access[8], struct span *place)
{
    if (begins(text, "Write access at", place))
        memcpy(access, "Write", sizeof("Write"));
    else if (begins(text, "Read access at", place))
        memcpy(access, "Read", sizeof("Read"));
    else
        return false;
    return true;
}

static void begin_finding(struct reading *reading, struct span text)
{
    bool warning, severe = take_severity(&text, &warning);
    struct span rest, place;

    end_finding(reading);
    reading->open = true;
    reading->severe = severe && !warning;
    reading->is = (struct sanitizer_finding){ .count = 1, .warning = warning };
    reading->frame[0] = reading->first[0] = '\0';
    copy(reading->is.kind, sizeof(reading->is.kind), text);
    if (begins(text, "Race reported between", &rest) &&
        take_access(rest, reading->access, &place))
        copy(reading->first, sizeof(reading->first), place);
}

/* "and Read access at PLACE [4 hazards]", below the first line of a race. */
static void take_second(struct reading *reading, struct span text)
{
    struct sanitizer_finding *is = &reading->is;
    char access[8], second[sizeof(reading->first)];
    struct span place;
    size_t hazards;

    if (!take_access(text, access, &place))
        return;
    hazards = find(place, " [");
    copy(second, sizeof(second), (struct span){ place.at, hazards });
    snprintf(is->kind, sizeof(is->kind),
             "Race reported between %s and %s access", reading->access, access);
    snprintf(is->where, sizeof(is->where), "%s and %s", reading->first, second);
    is->count = 1;
    if (hazards + 2 < place.len)
        is->count = number_of(
            (struct span){ place.at + hazards + 2, place.len - hazards - 2 });
    if (is->count > 0)
        put(reading, is);
}

/* "(0,0,0) in block (1,0,0)" */
static void take_thread(struct reading *reading, struct span text)
{
    size_t at = find(text, " in block ");
    struct span block = { text.at + at, text.len - at }, rest;

    copy(reading->is.thread, sizeof(reading->is.thread),
         (struct span){ text.at, at });
    if (begins(block, " in block ", &rest))
        copy(reading->is.block, sizeof(reading->is.block), rest);
}

/* A further line of the open finding. */
static bool take_detail(struct reading *reading, struct span text)
{
    struct sanitizer_finding *is = &reading->is;
    struct span rest;

    if (!reading->open)
        return false;
    if (begins(text, "at ", &rest)) {
        if (!*is->where)
            copy(is->where, sizeof(reading->frame), rest);
    } else if (begins(text, "by thread ", &rest)) {
        if (!*is->thread)
            take_thread(reading, rest);
    } else if (begins(text, "Device Frame:", &rest)) {
        copy(reading->frame, sizeof(reading->frame), rest);
    } else if (*reading->first && begins(text, "and ", &rest)) {
        take_second(reading, rest);
    } else {
        return false;
    }
    return true;
}

/* ---- the output */

/* "12 errors", or "2 hazards displayed (1 error, 1 warning)".  A second one
 * only counts what was not printed. */
static bool take_summary(struct sanitizer_report *out, struct span text)
{
    struct span rest;
    size_t at;

    if (begins(text, "LEAK SUMMARY:", &rest))
        return true;
    if (begins(text, "RACECHECK SUMMARY:", &rest)) {
        at = find(rest, "(");
        rest = trimmed(rest.at + at, rest.len - at);
        if (!begins(rest, "(", &rest))
            return true; /* cut off */
    } else if (!begins(text, "ERROR SUMMARY:", &rest)) {
        return false;
    }
    if (out->errors >= 0 || rest.len == 0 || *rest.at < '0' || *rest.at > '9')
        return true;
    out->errors = number_of(rest);
    out->warnings = 0;
    at = find(rest, ", ");
    if (at < rest.len)
        out->warnings =
            number_of((struct span){ rest.at + at + 2, rest.len - at - 2 });
    return true;
}

static void take_line(struct reading *reading, struct span line)
{
    struct span text, rest;
    bool indented;

    if (line.len < strlen(PREFIX) ||
        memcmp(line.at, PREFIX, strlen(PREFIX)) != 0)
        return; /* of the runner, or of the kernel */
    rest = (struct span){ line.at + strlen(PREFIX), line.len - strlen(PREFIX) };
    text = trimmed(rest.at, rest.len);
    indented = rest.len >= 2 && rest.at[0] == ' ' && rest.at[1] == ' ';
    if (text.len == 0 || begins(text, "COMPUTE-SANITIZER", &rest) ||
        take_summary(reading->out, text))
        end_finding(reading);
    else if (!take_detail(reading, text) && !indented)
        begin_finding(reading, text);
}

static void read_text(struct reading *reading, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");

        take_line(reading, (struct span){ text, len });
        text += len + (text[len] == '\n');
    }
    end_finding(reading);
}

/* What the runner answered instead of a result: "error TEXT". */
static struct span runner_error(const char *output)
{
    while (*output) {
        size_t len = strcspn(output, "\n");
        struct span rest;

        if (begins((struct span){ output, len }, "error ", &rest))
            return rest;
        output += len + (output[len] == '\n');
    }
    return (struct span){ "", 0 };
}

static int without_summary(const struct sanitizer_report *report,
                           const char *output, struct err *err)
{
    const char *trouble = report->trouble;
    struct span runner = runner_error(output);

    if (strstr(trouble, "terminated before first instrumented API call"))
        return err_set(err, ERR_INPUT,
                       "the runner ended before it used the GPU%s%.*s",
                       runner.len ? ": " : "", (int)runner.len, runner.at);
    if (strstr(trouble, "find injection library"))
        return err_set(err, ERR_INPUT,
                       "compute-sanitizer does not find its libraries beside "
                       "it: install all of it, the package cuda-sanitizer of "
                       "the CUDA toolkit");
    if (strstr(trouble, "evice not supported"))
        return err_set(err, ERR_INPUT,
                       "compute-sanitizer does not support this GPU with its "
                       "driver, or this virtual machine (%s)",
                       trouble);
    if (*trouble)
        return err_set(err, ERR_INPUT, "compute-sanitizer said: %s", trouble);
    return err_set(err, ERR_INPUT, "compute-sanitizer printed no summary");
}

int sanitizer_read(const char *output, const char *log,
                   struct sanitizer_report *out, struct err *err)
{
    struct reading reading = { .out = out };

    *out = (struct sanitizer_report){ .errors = -1, .warnings = -1 };
    read_text(&reading, output);
    if (out->errors < 0)
        read_text(&reading, log);
    return out->errors < 0 ? without_summary(out, output, err) : 0;
}
