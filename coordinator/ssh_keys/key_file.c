#include "coordinator/ssh_keys/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "common/err.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/ssh_wire.h"

#define FILE_BYTES_MAX 32768
#define OPENSSH_MAGIC "openssh-key-v1" /* a NUL follows it */

static const char begin_openssh[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
static const char end_openssh[] = "-----END OPENSSH PRIVATE KEY-----";

/* magic, cipher, kdf, kdf options, number of keys (4 bytes), public key */
static bool read_openssh(const unsigned char *bytes, size_t len,
                         struct key_file *out)
{
    struct ssh_wire wire = { bytes + sizeof(OPENSSH_MAGIC),
                             len - sizeof(OPENSSH_MAGIC) };
    const unsigned char *text;
    uint32_t keys;
    size_t n;

    if (len < sizeof(OPENSSH_MAGIC) ||
        memcmp(bytes, OPENSSH_MAGIC, sizeof(OPENSSH_MAGIC)) != 0)
        return false;
    text = ssh_wire_string(&wire, &n);
    if (!text)
        return false;
    out->encrypted = n != 4 || memcmp(text, "none", 4) != 0;
    for (int skipped = 0; skipped < 2; skipped++)
        if (!ssh_wire_string(&wire, &n))
            return false;
    if (!ssh_wire_u32(&wire, &keys))
        return false;
    text = ssh_wire_string(&wire, &n);
    if (!text || n > sizeof(out->blob))
        return false;
    memcpy(out->blob, text, n);
    out->blob_len = n;
    known_hosts_type(text, n, out->type);
    return *out->type;
}

static int parse_openssh(const char *path, const char *text,
                         struct key_file *out, struct err *err)
{
    const char *start = text + sizeof(begin_openssh) - 1;
    const char *end = strstr(start, end_openssh);
    unsigned char bytes[FILE_BYTES_MAX];
    size_t n = 0;
    bool good = end &&
                sodium_base642bin(bytes, sizeof(bytes), start,
                                  (size_t)(end - start), "\r\n ", &n, NULL,
                                  sodium_base64_VARIANT_ORIGINAL) == 0 &&
                read_openssh(bytes, n, out);

    sodium_memzero(bytes, sizeof(bytes));
    if (!good)
        return err_set(err, ERR_AUTH,
                       "key: %s is damaged; restore it from a copy", path);
    return 0;
}

int key_file_parse(const char *path, const char *text, struct key_file *out,
                   struct err *err)
{
    static const char *const public_marks[] = { "ssh-", "ecdsa-", "sk-",
                                                "-----BEGIN PUBLIC KEY",
                                                "---- BEGIN SSH2 PUBLIC" };
    const char *begin;

    *out = (struct key_file){ 0 };
    for (size_t i = 0; i < sizeof(public_marks) / sizeof(char *); i++)
        if (strncmp(text, public_marks[i], strlen(public_marks[i])) == 0)
            return err_set(err, ERR_AUTH,
                           "key: %s is a public key; name the private one, the "
                           "same file without '.pub'",
                           path);
    begin = strstr(text, begin_openssh);
    if (begin)
        return parse_openssh(path, begin, out, err);
    if (!strstr(text, "-----BEGIN ") || !strstr(text, "PRIVATE KEY-----"))
        return err_set(err, ERR_AUTH,
                       "key: %s holds no private key; make one with ssh-keygen "
                       "-t ed25519",
                       path);
    out->encrypted = strstr(text, "Proc-Type: 4,ENCRYPTED") ||
                     strstr(text, "BEGIN ENCRYPTED PRIVATE KEY");
    if (strstr(text, "BEGIN RSA "))
        memcpy(out->type, "ssh-rsa", sizeof("ssh-rsa"));
    else if (strstr(text, "BEGIN DSA "))
        memcpy(out->type, "ssh-dss", sizeof("ssh-dss"));
    return 0;
}

int key_file_read(const char *path, struct key_file *out, struct err *err)
{
    char text[FILE_BYTES_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
    bool exposed = false;
    struct stat st;
    size_t len = 0;
    ssize_t n = 1;

    *out = (struct key_file){ 0 };
    if (fd >= 0 && fstat(fd, &st) == 0)
        exposed = st.st_uid == getuid() && (st.st_mode & 077) != 0;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 1;
    while (fd >= 0 && len < FILE_BYTES_MAX && n > 0) {
        n = read(fd, text + len, FILE_BYTES_MAX - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (fd < 0 || n < 0) {
        rc = err_set(err, ERR_AUTH, "key: %s: %s", path, strerror(errno));
    } else {
        text[len] = '\0';
        rc = key_file_parse(path, text, out, err);
        out->exposed = exposed;
    }
    sodium_memzero(text, len);
    if (fd >= 0)
        close(fd);
    return rc;
}

const char *key_file_obstacle(const char *type)
{
    if (strncmp(type, "sk-", 3) == 0)
        return "keys in a hardware token need --ssh=openssh";
    if (strstr(type, "-cert-v01"))
        return "certificates need --ssh=openssh";
    if (strcmp(type, "ssh-dss") == 0)
        return "servers no longer accept DSA keys; make an ed25519 key";
    if (strncmp(type, "ssh-xmss", 8) == 0)
        return "XMSS keys need --ssh=openssh";
    return NULL;
}
