#include "coordinator/rental/rental_answer.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"

#define BLANKS " \t\r\n"
#define HOST_WORD "{host}"

/* Append one character; false if there is no room. */
static bool put(char *text, size_t *used, char c)
{
    if (*used >= RENTAL_ANSWER_BYTES)
        return false;
    text[(*used)++] = c;
    return true;
}

/* Append a word with its names replaced, and a NUL. */
static bool put_word(char *text, size_t *used, const char *word, size_t len,
                     const char *host)
{
    bool fits = true;

    for (size_t i = 0; i < len && fits;) {
        if (len - i >= strlen(HOST_WORD) &&
            memcmp(word + i, HOST_WORD, strlen(HOST_WORD)) == 0) {
            for (const char *c = host; *c && fits; c++)
                fits = put(text, used, *c);
            i += strlen(HOST_WORD);
        } else {
            fits = put(text, used, word[i++]);
        }
    }
    return fits && put(text, used, '\0');
}

int rental_answer_split(const char *command, const char *host,
                        char text[RENTAL_ANSWER_BYTES],
                        const char *words[RENTAL_ANSWER_WORDS], size_t *n,
                        struct err *err)
{
    size_t used = 0;

    *n = 0;
    for (const char *p = command + strspn(command, BLANKS); *p;
         p += strspn(p, BLANKS)) {
        size_t len = strcspn(p, BLANKS);

        if (*n == RENTAL_ANSWER_WORDS)
            return err_set(err, ERR_INPUT, "a command has at most %d words",
                           RENTAL_ANSWER_WORDS);
        words[(*n)++] = text + used;
        if (!put_word(text, &used, p, len, host))
            return err_set(err, ERR_INPUT, "a command has at most %d bytes",
                           RENTAL_ANSWER_BYTES);
        p += len;
    }
    return *n > 0 ? 0 : err_set(err, ERR_INPUT, "the command is empty");
}

static bool is_plain(const char *value, const char *extra)
{
    size_t i = 0;

    for (; value[i]; i++)
        if (!isalnum((unsigned char)value[i]) && !strchr(extra, value[i]))
            return false;
    return i > 0 && value[0] != '-';
}

static int refuse(const char *word, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT, "it printed '%.80s': %s", word, what);
}

static int read_text(const char *word, const char *value, const char *extra,
                     char *out, size_t size, struct err *err)
{
    if (!is_plain(value, extra) || strlen(value) >= size)
        return refuse(word, "this is not a name or an address", err);
    snprintf(out, size, "%s", value);
    return 0;
}

/* [2001:db8::1] is written so in a hosts file. */
static int read_address(const char *word, const char *value, char *out,
                        size_t size, struct err *err)
{
    size_t len = strlen(value);
    char inner[512];

    if (len > 2 && value[0] == '[' && value[len - 1] == ']' &&
        strchr(value, ':'))
        snprintf(inner, sizeof(inner), "%.*s", (int)len - 2, value + 1);
    else
        snprintf(inner, sizeof(inner), "%s", value);
    return read_text(word, inner, "._-:%", out, size, err);
}

static int read_port(const char *word, const char *value, int *out,
                     struct err *err)
{
    long port = strtol(value, NULL, 10);

    if (value[strspn(value, "0123456789")] || strlen(value) > 5 || port < 1 ||
        port > 65535)
        return refuse(word, "a port is in 1..65535", err);
    *out = (int)port;
    return 0;
}

static int read_word(const char *word, struct rental_answer *out,
                     struct err *err)
{
    const char *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : "";
    size_t len = equals ? (size_t)(equals - word) : 0;

    if (len == 4 && memcmp(word, "host", 4) == 0)
        return read_address(word, value, out->address, sizeof(out->address),
                            err);
    if (len == 4 && memcmp(word, "port", 4) == 0)
        return read_port(word, value, &out->port, err);
    if (len == 4 && memcmp(word, "user", 4) == 0)
        return read_text(word, value, "._-", out->user, sizeof(out->user), err);
    if (len == 7 && memcmp(word, "hostkey", 7) == 0)
        return read_text(word, value, ":+/", out->hostkey, sizeof(out->hostkey),
                         err);
    if (len == 2 && memcmp(word, "id", 2) == 0)
        return read_text(word, value, "._-:/", out->machine,
                         sizeof(out->machine), err);
    return 0;
}

static void end_word(struct rental_answer_reader *reader)
{
    struct err err;
    int rc;

    reader->word[reader->len] = '\0';
    reader->len = 0;
    rc = read_word(reader->word, &reader->answer, &err);
    if (rc == 0 || reader->rc < 0)
        return;
    reader->rc = rc;
    reader->err = err;
}

void rental_answer_add(struct rental_answer_reader *reader, const char *bytes,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!bytes[i] || strchr(BLANKS, bytes[i]))
            end_word(reader);
        else if (reader->len + 1 < sizeof(reader->word))
            reader->word[reader->len++] = bytes[i];
    }
}

int rental_answer_end(struct rental_answer_reader *reader,
                      struct rental_answer *out, struct err *err)
{
    end_word(reader);
    *out = reader->answer;
    return reader->rc < 0 ? err_set(err, reader->rc, "%s", reader->err.text)
                          : 0;
}

void rental_answer_text(const struct rental_answer *answer, char *out,
                        size_t size)
{
    char port[16] = "";

    if (answer->port)
        snprintf(port, sizeof(port), "%d", answer->port);
    snprintf(out, size, "%s%s%s%s%s%s%s%s", answer->address[0] ? "host=" : "",
             answer->address, port[0] ? " port=" : "", port,
             answer->user[0] ? " user=" : "", answer->user,
             answer->hostkey[0] ? " hostkey=" : "", answer->hostkey);
}

void rental_answer_apply(const struct rental_answer *answer, struct host *host)
{
    if (answer->address[0])
        snprintf(host->address, sizeof(host->address), "%s", answer->address);
    if (answer->port)
        host->port = answer->port;
    if (answer->user[0])
        snprintf(host->user, sizeof(host->user), "%s", answer->user);
    if (answer->hostkey[0])
        snprintf(host->hostkey, sizeof(host->hostkey), "%s", answer->hostkey);
}
