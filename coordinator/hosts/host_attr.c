#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/hosts/host_line.h"
#include "coordinator/text/suggest.h"

#define SLOTS_MAX 1024
#define GPU_INDEX_MAX 63
#define SECONDS_MAX 86400
#define HOST_WORD "{host}"
#define RATE_MAX 100000.0 /* US dollars an hour; above it is a typing error */

struct attr {
    const char *name;
    int (*set)(struct host_line *line, struct word value, struct err *err);
};

static bool is_word(struct word word, const char *text)
{
    return strlen(text) == word.len && memcmp(text, word.at, word.len) == 0;
}

static int copy(struct host_line *line, struct word value, char *out,
                size_t size, struct err *err)
{
    if (value.len >= size)
        return caret_err(err, &line->where, value.at, "make it shorter",
                         "this is longer than %zu bytes", size - 1);
    memcpy(out, value.at, value.len);
    out[value.len] = '\0';
    return 0;
}

static int set_role(struct host_line *line, struct word value, struct err *err)
{
    static const char *const names[] = { "both", "gpu", "builder" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_word(value, names[i])) {
            line->attrs.role = (enum host_role)i;
            return 0;
        }
    return caret_err(err, &line->where, value.at,
                     "choose gpu (measures), builder (compiles) or both",
                     "unknown role '%.*s'", (int)value.len, value.at);
}

/* A number from..to that is written in digits only. */
static bool small_number(struct word value, long from, long to, long *out)
{
    *out = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!isdigit((unsigned char)value.at[i]) || i > 6)
            return false;
        *out = *out * 10 + (value.at[i] - '0');
    }
    return value.len > 0 && *out >= from && *out <= to;
}

static int set_gpus(struct host_line *line, struct word value, struct err *err)
{
    const char *end = value.at + value.len;
    bool seen[GPU_INDEX_MAX + 1] = { false };

    if (is_word(value, "all") || is_word(value, "none"))
        return copy(line, value, line->attrs.gpus, sizeof(line->attrs.gpus),
                    err);
    for (const char *p = value.at; p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        struct word one = { p, (size_t)((comma ? comma : end) - p) };
        long index;

        if (!small_number(one, 0, GPU_INDEX_MAX, &index))
            return caret_err(
                err, &line->where, p, "write all, none or indices such as 0,1",
                "'%.*s' is not a GPU index in 0..63", (int)one.len, p);
        if (seen[index])
            return caret_err(err, &line->where, p, "name each GPU once",
                             "GPU %ld is given twice", index);
        seen[index] = true;
        p += one.len + 1;
    }
    return copy(line, value, line->attrs.gpus, sizeof(line->attrs.gpus), err);
}

static int set_slots(struct host_line *line, struct word value, struct err *err)
{
    long slots;

    if (!small_number(value, 1, SLOTS_MAX, &slots))
        return caret_err(err, &line->where, value.at,
                         "slots= is the number of builds at a time; leave it "
                         "out, and the host chooses by its cores",
                         "slots '%.*s' is not in 1..1024", (int)value.len,
                         value.at);
    line->attrs.slots = (int)slots;
    return 0;
}

static int set_rate(struct host_line *line, struct word value, struct err *err)
{
    const char *why = "rate= is US dollars per hour for the whole host, such "
                      "as 0.68; leave it out for a host without a price";
    size_t dots = 0, digits = 0;
    char text[32];

    for (size_t i = 0; i < value.len; i++) {
        dots += value.at[i] == '.';
        digits += isdigit((unsigned char)value.at[i]) != 0;
    }
    if (*value.at == '-')
        return caret_err(err, &line->where, value.at, why,
                         "rate '%.*s' is negative", (int)value.len, value.at);
    if (memchr(value.at, ',', value.len))
        why = "write a decimal point, as in 0.71";
    if (dots + digits != value.len || dots > 1 || digits == 0 ||
        value.len >= sizeof(text))
        return caret_err(err, &line->where, value.at, why,
                         "rate '%.*s' is not a number", (int)value.len,
                         value.at);
    snprintf(text, sizeof(text), "%.*s", (int)value.len, value.at);
    line->attrs.rate = strtod(text, NULL);
    if (line->attrs.rate > RATE_MAX)
        return caret_err(err, &line->where, value.at, why,
                         "rate %s is more than 100000 USD per hour", text);
    line->attrs.has_rate = true;
    return 0;
}

static int set_key(struct host_line *line, struct word value, struct err *err)
{
    if (value.len > 4 && memcmp(value.at + value.len - 4, ".pub", 4) == 0)
        return caret_err(err, &line->where, value.at,
                         "name the private key: the same file without '.pub'",
                         "'%.*s' is a public key", (int)value.len, value.at);
    if (*value.at != '/' && !(value.len > 2 && memcmp(value.at, "~/", 2) == 0))
        return caret_err(err, &line->where, value.at,
                         "write /path/of/key or ~/.ssh/key, so that it does "
                         "not depend on the current folder",
                         "key '%.*s' is a relative path", (int)value.len,
                         value.at);
    return copy(line, value, line->attrs.key, sizeof(line->attrs.key), err);
}

/* A path on the remote machine.  A login shell of unknown kind reads it, so
 * only characters that no shell changes are allowed. */
static int remote_path(struct host_line *line, struct word value, char *out,
                       size_t size, struct err *err)
{
    bool home = value.len > 2 && memcmp(value.at, "~/", 2) == 0;

    for (size_t i = home; i < value.len; i++)
        if (!isalnum((unsigned char)value.at[i]) &&
            !strchr("/._-+@%,:", value.at[i]))
            return caret_err(err, &line->where, value.at + i,
                             "a remote path may contain only letters, digits "
                             "and / . _ - + @ % , :",
                             "a remote path contains the character '%c'",
                             value.at[i]);
    if (!home && *value.at != '/')
        return caret_err(err, &line->where, value.at, "write /path or ~/path",
                         "'%.*s' is a relative path", (int)value.len, value.at);
    return copy(line, value, out, size, err);
}

static int set_workdir(struct host_line *line, struct word value,
                       struct err *err)
{
    return remote_path(line, value, line->attrs.workdir,
                       sizeof(line->attrs.workdir), err);
}

static int set_nvcc(struct host_line *line, struct word value, struct err *err)
{
    return remote_path(line, value, line->attrs.nvcc, sizeof(line->attrs.nvcc),
                       err);
}

/* The worker says which of them it cannot show. */
static int set_allow(struct host_line *line, struct word value, struct err *err)
{
    const char *end = value.at + value.len;

    for (const char *p = value.at; p <= end;) {
        const char *colon = memchr(p, ':', (size_t)(end - p));
        struct word one = { p, (size_t)((colon ? colon : end) - p) };
        char path[sizeof(line->attrs.allow)];
        int rc;

        if (one.len == 0)
            return caret_err(err, &line->where, p,
                             "write folders as in allow=~/cuda:~/miniconda3",
                             "allow has an empty folder");
        rc = remote_path(line, one, path, sizeof(path), err);
        if (rc < 0)
            return rc;
        p += one.len + 1;
    }
    return copy(line, value, line->attrs.allow, sizeof(line->attrs.allow), err);
}

/* It is part of the name of a database. */
static int set_model(struct host_line *line, struct word value, struct err *err)
{
    for (size_t i = 0; i < value.len; i++)
        if (!isalnum((unsigned char)value.at[i]) && !strchr("_-", value.at[i]))
            return caret_err(err, &line->where, value.at + i,
                             "a model may contain only letters, digits, _ "
                             "and -, as in model=l4",
                             "a model contains the character '%c'",
                             value.at[i]);
    if (is_word(value, "fuzz"))
        return caret_err(err, &line->where, value.at,
                         "NAME.fuzz.db is the database of fa-coord fuzz",
                         "no model can be called fuzz");
    return copy(line, value, line->attrs.model, sizeof(line->attrs.model), err);
}

static int set_transport(struct host_line *line, struct word value,
                         struct err *err)
{
    if (is_word(value, "ssh"))
        return 0;
    line->attrs.dial.back = is_word(value, "tcp");
    if (line->attrs.dial.back)
        return 0;
    return caret_err(err, &line->where, value.at,
                     "write transport=ssh, or transport=tcp for a worker that "
                     "dials back",
                     "unknown transport '%.*s'", (int)value.len, value.at);
}

static int set_hostkey(struct host_line *line, struct word value,
                       struct err *err)
{
    size_t n = 7;

    while (n < value.len && (isalnum((unsigned char)value.at[n]) ||
                             value.at[n] == '+' || value.at[n] == '/'))
        n++;
    if (value.len != 50 || n != 50 || memcmp(value.at, "SHA256:", 7) != 0)
        return caret_err(err, &line->where, value.at,
                         "write SHA256: and 43 characters, as printed by "
                         "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
                         "'%.*s' is not a fingerprint", (int)value.len,
                         value.at);
    return copy(line, value, line->attrs.hostkey, sizeof(line->attrs.hostkey),
                err);
}

static int set_jump(struct host_line *line, struct word value, struct err *err)
{
    struct host jump = { 0 };
    char text[256];
    int rc = copy(line, value, text, sizeof(text), err);

    if (rc == 0 && strchr(text, ','))
        return caret_err(err, &line->where, value.at,
                         "name the last machine here, and describe the way to "
                         "it in ~/.ssh/config (ProxyJump)",
                         "jump= takes one machine");
    if (rc == 0)
        rc = host_endpoint_read(line, value.at, text, &jump, err);
    if (rc == 0)
        memcpy(line->attrs.jump, text, sizeof(text));
    return rc;
}

static int set_address(struct host_line *line, struct word value,
                       struct err *err)
{
    struct host host = { 0 };
    char text[256];
    int rc = copy(line, value, text, sizeof(text), err);

    if (rc == 0)
        rc = host_endpoint_read(line, value.at, text, &host, err);
    if (rc == 0)
        memcpy(line->attrs.address, host.address, sizeof(host.address));
    return rc;
}

static int set_user(struct host_line *line, struct word value, struct err *err)
{
    struct host host = { 0 };
    char text[80];
    int n = snprintf(text, sizeof(text), "%.*s@host", (int)value.len, value.at);
    int rc;

    if (n < 0 || n >= (int)sizeof(text))
        return caret_err(err, &line->where, value.at, "make it shorter",
                         "the user is too long");
    rc = host_endpoint_read(line, value.at, text, &host, err);
    if (rc == 0)
        memcpy(line->attrs.user, host.user, sizeof(host.user));
    return rc;
}

static int set_port(struct host_line *line, struct word value, struct err *err)
{
    long port;

    if (!small_number(value, 1, 65535, &port))
        return caret_err(err, &line->where, value.at, "write a number",
                         "port '%.*s' is not in 1..65535", (int)value.len,
                         value.at);
    line->attrs.port = (int)port;
    return 0;
}

static int set_connection(struct host_line *line, struct word value,
                          struct err *err)
{
    if (is_word(value, "local"))
        line->attrs.local = true;
    else if (!is_word(value, "ssh") && !is_word(value, "smart"))
        return caret_err(err, &line->where, value.at, "write ssh or local",
                         "connection '%.*s' is not SSH", (int)value.len,
                         value.at);
    return 0;
}

static int set_max(struct host_line *line, struct word value, struct err *err)
{
    long max;

    if (!line->pool)
        return caret_err(err, &line->where, value.at,
                         "write pool NAME max=8 start=... stop=...",
                         "max= is for a pool");
    if (!small_number(value, 1, HOSTS_MAX, &max))
        return caret_err(err, &line->where, value.at,
                         "max= is the number of machines at most",
                         "max '%.*s' is not in 1..4096", (int)value.len,
                         value.at);
    line->max = (int)max;
    return 0;
}

static int set_nothing(struct host_line *line, struct word value,
                       struct err *err)
{
    (void)line;
    (void)value;
    (void)err;
    return 0;
}

/* Its words must be those that are run: a shell would change them. */
static int set_command(struct host_line *line, struct word value, char *out,
                       size_t size, struct err *err)
{
    const char *blank = memchr(value.at, ' ', value.len);
    size_t first = blank ? (size_t)(blank - value.at) : value.len;

    if (first == 0 || memchr(value.at, '=', first))
        return caret_err(err, &line->where, value.at,
                         "begin with a program, such as start=\"./rent gpu7\"",
                         "'%.*s' is not a program", (int)first, value.at);
    for (size_t i = 0; i < value.len; i++)
        if (strchr("|&;<>$`*?\"'\\", value.at[i]))
            return caret_err(err, &line->where, value.at + i,
                             "no shell reads the command; write a script, and "
                             "name it here",
                             "the command contains the character '%c'",
                             value.at[i]);
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] == '{' &&
            (value.len - i < strlen(HOST_WORD) ||
             memcmp(value.at + i, HOST_WORD, strlen(HOST_WORD)) != 0))
            return caret_err(err, &line->where, value.at + i,
                             "only " HOST_WORD
                             " is replaced, by the host's name",
                             "the command contains '{'");
    return copy(line, value, out, size, err);
}

static int set_start(struct host_line *line, struct word value, struct err *err)
{
    return set_command(line, value, line->attrs.rental.start,
                       sizeof(line->attrs.rental.start), err);
}

static int set_stop(struct host_line *line, struct word value, struct err *err)
{
    return set_command(line, value, line->attrs.rental.stop,
                       sizeof(line->attrs.rental.stop), err);
}

static int set_poweroff(struct host_line *line, struct word value,
                        struct err *err)
{
    return set_command(line, value, line->attrs.rental.poweroff,
                       sizeof(line->attrs.rental.poweroff), err);
}

/* "90s", "2m" or "1h"; a number alone has no unit. */
static int set_seconds(struct host_line *line, struct word value, double *out,
                       struct err *err)
{
    static const struct {
        char letter;
        double s;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
    struct word digits = { value.at, value.len - 1 };
    long number;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (value.at[value.len - 1] == units[i].letter &&
            small_number(digits, 0, SECONDS_MAX, &number)) {
            *out = (double)number * units[i].s;
            return 0;
        }
    return caret_err(err, &line->where, value.at,
                     "write seconds, minutes or hours, whole and up to 86400: "
                     "90s, 2m, 1h",
                     "'%.*s' is not a time", (int)value.len, value.at);
}

static int set_boot(struct host_line *line, struct word value, struct err *err)
{
    return set_seconds(line, value, &line->attrs.rental.boot_s, err);
}

static int set_min_bill(struct host_line *line, struct word value,
                        struct err *err)
{
    return set_seconds(line, value, &line->attrs.rental.min_bill_s, err);
}

static int set_round(struct host_line *line, struct word value, struct err *err)
{
    return set_seconds(line, value, &line->attrs.rental.round_s, err);
}

static int set_spot(struct host_line *line, struct word value, struct err *err)
{
    if (!is_word(value, "spot"))
        return caret_err(err, &line->where, value.at,
                         "write the word spot alone",
                         "attribute 'spot' has no value");
    line->attrs.rental.spot = true;
    return 0;
}

/* Our own names come first: suggestions prefer them. */
static const struct attr attrs[] = {
    { "role", set_role },
    { "gpus", set_gpus },
    { "slots", set_slots },
    { "rate", set_rate },
    { "key", set_key },
    { "workdir", set_workdir },
    { "nvcc", set_nvcc },
    { "allow", set_allow },
    { "hostkey", set_hostkey },
    { "jump", set_jump },
    { "transport", set_transport },
    { "model", set_model },
    { "nodes", host_slurm_set_nodes },
    { "time", host_slurm_set_time },
    { "start", set_start },
    { "stop", set_stop },
    { "poweroff", set_poweroff },
    { "boot", set_boot },
    { "min_bill", set_min_bill },
    { "round", set_round },
    { "spot", set_spot },
    { "max", set_max },
    { "max_slots", set_nothing },
    { "max-slots", set_nothing },
    { "ansible_host", set_address },
    { "ansible_ssh_host", set_address },
    { "ansible_user", set_user },
    { "ansible_ssh_user", set_user },
    { "ansible_port", set_port },
    { "ansible_ssh_port", set_port },
    { "ansible_ssh_private_key_file", set_key },
    { "ansible_private_key_file", set_key },
    { "ansible_connection", set_connection },
    { "ansible_python_interpreter", set_nothing },
};

#define ATTRS (sizeof(attrs) / sizeof(attrs[0]))
_Static_assert(ATTRS <= HOST_ATTRS_MAX, "struct host_line has a row for each");

static int refuse_unknown(struct host_line *line, struct word name,
                          struct err *err)
{
    const char *names[ATTRS], *near;
    char why[320];

    for (size_t i = 0; i < ATTRS; i++)
        names[i] = attrs[i].name;
    near = suggest_name(name.at, name.len, names, ATTRS);
    snprintf(
        why, sizeof(why),
        "the attributes are role gpus slots rate key workdir nvcc allow "
        "hostkey jump transport model start stop poweroff boot min_bill round "
        "spot max%s%s%s",
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return caret_err(err, &line->where, name.at, why,
                     "unknown attribute '%.*s'", (int)name.len, name.at);
}

int host_attr_set(struct host_line *line, struct word name, struct word value,
                  struct err *err)
{
    size_t i = 0;

    while (i < ATTRS && !is_word(name, attrs[i].name))
        i++;
    if (i == ATTRS)
        return refuse_unknown(line, name, err);
    if (line->seen[i])
        return caret_err(err, &line->where, name.at, "remove one of the two",
                         "attribute '%s' is given twice on this line",
                         attrs[i].name);
    line->seen[i] = name.at;
    return attrs[i].set(line, value, err);
}

const char *host_attr_place(const struct host_line *line, const char *name)
{
    for (size_t i = 0; i < ATTRS; i++)
        if (strcmp(attrs[i].name, name) == 0)
            return line->seen[i];
    return NULL;
}
