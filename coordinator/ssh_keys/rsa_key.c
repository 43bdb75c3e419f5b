#include "coordinator/ssh_keys/rsa_key.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <sodium.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/ssh_keys/ssh_wire.h"

#define FILE_BYTES_MAX 32768
#define OPENSSH_MAGIC "openssh-key-v1" /* a NUL follows it */
#define NUMBERS 3                      /* n, e and d; no more is needed */

static const char begin_openssh[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
static const char end_openssh[] = "-----END OPENSSH PRIVATE KEY-----";

struct rsa_key {
    EVP_PKEY *pkey;
};

static EVP_PKEY *from_numbers(BIGNUM *const numbers[NUMBERS])
{
    static const char *const names[NUMBERS] = { OSSL_PKEY_PARAM_RSA_N,
                                                OSSL_PKEY_PARAM_RSA_E,
                                                OSSL_PKEY_PARAM_RSA_D };
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    EVP_PKEY *pkey = NULL;
    bool good = context && build;

    for (int i = 0; i < NUMBERS && good; i++)
        good = OSSL_PARAM_BLD_push_BN(build, names[i], numbers[i]) == 1;
    if (good)
        params = OSSL_PARAM_BLD_to_param(build);
    if (!params || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &pkey, EVP_PKEY_KEYPAIR, params) != 1)
        pkey = NULL;
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    EVP_PKEY_CTX_free(context);
    return pkey;
}

/* The private part: two equal check numbers, the type, n, e, d, and more. */
static EVP_PKEY *read_private(struct ssh_wire wire)
{
    BIGNUM *numbers[NUMBERS] = { NULL };
    const unsigned char *text;
    uint32_t check[2];
    EVP_PKEY *pkey = NULL;
    bool good;
    size_t n;

    good = ssh_wire_u32(&wire, &check[0]) && ssh_wire_u32(&wire, &check[1]) &&
           check[0] == check[1] && (text = ssh_wire_string(&wire, &n)) &&
           n == strlen(RSA_KEY_TYPE) && memcmp(text, RSA_KEY_TYPE, n) == 0;
    for (int i = 0; i < NUMBERS && good; i++) {
        text = ssh_wire_string(&wire, &n);
        numbers[i] = text ? BN_bin2bn(text, (int)n, NULL) : NULL;
        good = numbers[i] != NULL;
    }
    if (good)
        pkey = from_numbers(numbers);
    for (int i = 0; i < NUMBERS; i++)
        BN_clear_free(numbers[i]);
    return pkey;
}

/* magic, cipher, kdf, kdf options, number of keys, public key, private part */
static EVP_PKEY *read_openssh(const unsigned char *bytes, size_t len)
{
    struct ssh_wire wire = { bytes + sizeof(OPENSSH_MAGIC),
                             len - sizeof(OPENSSH_MAGIC) };
    const unsigned char *text;
    uint32_t keys;
    size_t n;

    if (len < sizeof(OPENSSH_MAGIC) ||
        memcmp(bytes, OPENSSH_MAGIC, sizeof(OPENSSH_MAGIC)) != 0)
        return NULL;
    text = ssh_wire_string(&wire, &n);
    if (!text || n != 4 || memcmp(text, "none", 4) != 0 ||
        !ssh_wire_string(&wire, &n) || !ssh_wire_string(&wire, &n) ||
        !ssh_wire_u32(&wire, &keys) || keys != 1 || !ssh_wire_string(&wire, &n))
        return NULL;
    text = ssh_wire_string(&wire, &n);
    return text ? read_private((struct ssh_wire){ text, n }) : NULL;
}

static EVP_PKEY *parse_openssh(const char *start)
{
    const char *end = strstr(start, end_openssh);
    unsigned char bytes[FILE_BYTES_MAX];
    EVP_PKEY *pkey = NULL;
    size_t n = 0;

    if (end && sodium_base642bin(bytes, sizeof(bytes), start,
                                 (size_t)(end - start), "\r\n ", &n, NULL,
                                 sodium_base64_VARIANT_ORIGINAL) == 0)
        pkey = read_openssh(bytes, n);
    sodium_memzero(bytes, sizeof(bytes));
    return pkey;
}

/* libcrypto would ask on the terminal. */
static int no_passphrase(char *out, int size, int writing, void *user)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

static EVP_PKEY *parse_pem(const char *text, size_t len)
{
    BIO *bio = BIO_new_mem_buf(text, (int)len);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);

    BIO_free(bio);
    if (pkey && EVP_PKEY_base_id(pkey) == EVP_PKEY_RSA)
        return pkey;
    EVP_PKEY_free(pkey);
    return NULL;
}

int rsa_key_parse(const char *text, size_t len, struct rsa_key **out)
{
    const char *begin = strstr(text, begin_openssh);
    EVP_PKEY *pkey = begin ? parse_openssh(begin + sizeof(begin_openssh) - 1)
                           : parse_pem(text, len);

    *out = NULL;
    if (!pkey)
        return 1;
    *out = mem_new(1, sizeof(**out));
    (*out)->pkey = pkey;
    return 0;
}

int rsa_key_read(const char *path, struct rsa_key **out, struct err *err)
{
    char text[FILE_BYTES_MAX + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
    ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_BYTES_MAX);

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return err_set(err, ERR_AUTH, "key: %s cannot be read", path);
    text[n] = '\0';
    rc = rsa_key_parse(text, (size_t)n, out);
    sodium_memzero(text, sizeof(text));
    return rc;
}

void rsa_key_free(struct rsa_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->pkey);
    free(key);
}

static bool add_number(const struct rsa_key *key, const char *name,
                       struct buf *out)
{
    unsigned char bytes[RSA_KEY_BLOB_MAX];
    BIGNUM *number = NULL;
    bool good = EVP_PKEY_get_bn_param(key->pkey, name, &number) == 1 &&
                BN_num_bytes(number) <= (int)sizeof(bytes);

    if (good)
        ssh_wire_add_mpint(out, bytes, (size_t)BN_bn2bin(number, bytes));
    BN_free(number);
    return good;
}

bool rsa_key_login_blob(const struct rsa_key *key, struct buf *out)
{
    ssh_wire_add_string(out, RSA_KEY_LOGIN_TYPE, strlen(RSA_KEY_LOGIN_TYPE));
    return add_number(key, OSSL_PKEY_PARAM_RSA_E, out) &&
           add_number(key, OSSL_PKEY_PARAM_RSA_N, out) && !out->truncated;
}

bool rsa_key_login_blob_of(const void *blob, size_t len, struct buf *out)
{
    struct ssh_wire wire = { blob, len };
    size_t n;
    const unsigned char *type = ssh_wire_string(&wire, &n);

    if (!type || n != strlen(RSA_KEY_TYPE) ||
        memcmp(type, RSA_KEY_TYPE, n) != 0)
        return false;
    ssh_wire_add_string(out, RSA_KEY_LOGIN_TYPE, strlen(RSA_KEY_LOGIN_TYPE));
    buf_add(out, wire.p, wire.left);
    return !out->truncated;
}

size_t rsa_key_sign(const struct rsa_key *key, const void *bytes, size_t len,
                    unsigned char *out)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t n = RSA_KEY_BLOB_MAX;

    if (!context ||
        EVP_DigestSignInit(context, NULL, EVP_sha512(), NULL, key->pkey) != 1 ||
        EVP_DigestSign(context, out, &n, bytes, len) != 1)
        n = 0;
    EVP_MD_CTX_free(context);
    return n;
}
