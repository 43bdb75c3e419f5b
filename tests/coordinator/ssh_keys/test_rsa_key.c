#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/ssh_keys/rsa_key.h"
#include "coordinator/ssh_keys/ssh_wire.h"

/* One key that was made for this test, as ssh-keygen writes it: its own format,
 * PKCS#1 and PKCS#8. */
static const char openssh[] =
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAlwAAAAdzc2gtcn\n"
    "NhAAAAAwEAAQAAAIEAo4tU5JrawUoxEI8ulB1tSJiShpSLIVRXg0JACJ5McCxE5+S9rki6\n"
    "5KYl4PF/Hwbdjsh+3/ld0IZTpmpIlKX0xQx0s+FXEjs/4Kbb5ZbMqC9U3qLg+fGUbZHDXc\n"
    "ce7bpCUvgzJihBMIdJcAWl/ALTyCTI7dvIeVuC1EK9Ing/EQkAAAIAoz82GKM/NhgAAAAH\n"
    "c3NoLXJzYQAAAIEAo4tU5JrawUoxEI8ulB1tSJiShpSLIVRXg0JACJ5McCxE5+S9rki65K\n"
    "Yl4PF/Hwbdjsh+3/ld0IZTpmpIlKX0xQx0s+FXEjs/4Kbb5ZbMqC9U3qLg+fGUbZHDXcce\n"
    "7bpCUvgzJihBMIdJcAWl/ALTyCTI7dvIeVuC1EK9Ing/EQkAAAADAQABAAAAgBcGh+ZDsy\n"
    "bhljTZo9owpnFBIegWw9vmbwfI7REJkIN+iBkKCHagQMfuaIjaF2a75beznMFV75JrRx23\n"
    "+w4Kq4JVF5L6ui4fTZVlLH89c3werkKAwdNuZmLvgsM2OemBt/xfGE9mVX04y5OQe/YYYl\n"
    "BM6vcGQJBQGwiDDWJi2DABAAAAQEV3qEWEpyWrRwPmhSkItSHgbOSVnnHiJhoVSg2cjnQK\n"
    "8ro4sbAaoduxQV/kS6ZIgoxvHq7L8nrTEp3eYIogge4AAABBAM2ZkM/UZQVRPBQlz7qya3\n"
    "SzPo476AOmc+r2PJAdygHUZM50XWOlC+6lNBOkecPv6X8LfHfDSRymNOQL1WFIDwkAAABB\n"
    "AMuikEpwJbhXHCGuuLjuDUfzvpJRqhMrAQ/vJwOI37Nk2vYmJarBRxMx/9lFVBGnrCxnvc\n"
    "QHOdOefC/yGbpdcgEAAAAEdGVzdAECAwQFBgc=\n"
    "-----END OPENSSH PRIVATE KEY-----\n";
static const char pkcs1[] =
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "MIICWwIBAAKBgQCji1TkmtrBSjEQjy6UHW1ImJKGlIshVFeDQkAInkxwLETn5L2u\n"
    "SLrkpiXg8X8fBt2OyH7f+V3QhlOmakiUpfTFDHSz4VcSOz/gptvllsyoL1TeouD5\n"
    "8ZRtkcNdxx7tukJS+DMmKEEwh0lwBaX8AtPIJMjt28h5W4LUQr0ieD8RCQIDAQAB\n"
    "AoGAFwaH5kOzJuGWNNmj2jCmcUEh6BbD2+ZvB8jtEQmQg36IGQoIdqBAx+5oiNoX\n"
    "Zrvlt7OcwVXvkmtHHbf7DgqrglUXkvq6Lh9NlWUsfz1zfB6uQoDB025mYu+CwzY5\n"
    "6YG3/F8YT2ZVfTjLk5B79hhiUEzq9wZAkFAbCIMNYmLYMAECQQDNmZDP1GUFUTwU\n"
    "Jc+6smt0sz6OO+gDpnPq9jyQHcoB1GTOdF1jpQvupTQTpHnD7+l/C3x3w0kcpjTk\n"
    "C9VhSA8JAkEAy6KQSnAluFccIa64uO4NR/O+klGqEysBD+8nA4jfs2Ta9iYlqsFH\n"
    "EzH/2UVUEaesLGe9xAc50558L/IZul1yAQJAKpI7m+z8pec2K23Q33WGLnnW4Bij\n"
    "Z+4VXndx/t1MMKjL3rvVgoZwPA/VAqQx2lJY5Md6FEpJXzdDCF0y55vGEQJAHF/u\n"
    "kzDFUMZymQ7rlnk1SI1iRKk0da9MWpgMa6Wq5ihrilkObpi3+qjA6dmLOVqP1zAt\n"
    "dR88o4w16chmZV2YAQJARXeoRYSnJatHA+aFKQi1IeBs5JWeceImGhVKDZyOdAry\n"
    "ujixsBqh27FBX+RLpkiCjG8ersvyetMSnd5giiCB7g==\n"
    "-----END RSA PRIVATE KEY-----\n";
static const char pkcs8[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAKOLVOSa2sFKMRCP\n"
    "LpQdbUiYkoaUiyFUV4NCQAieTHAsROfkva5IuuSmJeDxfx8G3Y7Ift/5XdCGU6Zq\n"
    "SJSl9MUMdLPhVxI7P+Cm2+WWzKgvVN6i4PnxlG2Rw13HHu26QlL4MyYoQTCHSXAF\n"
    "pfwC08gkyO3byHlbgtRCvSJ4PxEJAgMBAAECgYAXBofmQ7Mm4ZY02aPaMKZxQSHo\n"
    "FsPb5m8HyO0RCZCDfogZCgh2oEDH7miI2hdmu+W3s5zBVe+Sa0cdt/sOCquCVReS\n"
    "+rouH02VZSx/PXN8Hq5CgMHTbmZi74LDNjnpgbf8XxhPZlV9OMuTkHv2GGJQTOr3\n"
    "BkCQUBsIgw1iYtgwAQJBAM2ZkM/UZQVRPBQlz7qya3SzPo476AOmc+r2PJAdygHU\n"
    "ZM50XWOlC+6lNBOkecPv6X8LfHfDSRymNOQL1WFIDwkCQQDLopBKcCW4Vxwhrri4\n"
    "7g1H876SUaoTKwEP7ycDiN+zZNr2JiWqwUcTMf/ZRVQRp6wsZ73EBznTnnwv8hm6\n"
    "XXIBAkAqkjub7Pyl5zYrbdDfdYYuedbgGKNn7hVed3H+3UwwqMveu9WChnA8D9UC\n"
    "pDHaUljkx3oUSklfN0MIXTLnm8YRAkAcX+6TMMVQxnKZDuuWeTVIjWJEqTR1r0xa\n"
    "mAxrparmKGuKWQ5umLf6qMDp2Ys5Wo/XMC11HzyjjDXpyGZlXZgBAkBFd6hFhKcl\n"
    "q0cD5oUpCLUh4GzklZ5x4iYaFUoNnI50CvK6OLGwGqHbsUFf5EumSIKMbx6uy/J6\n"
    "0xKd3mCKIIHu\n"
    "-----END PRIVATE KEY-----\n";

static struct rsa_key *parse(const char *text)
{
    struct rsa_key *key;

    assert_int_equal(rsa_key_parse(text, strlen(text), &key), 0);
    return key;
}

/* The algorithm has no random part. */
static void all_formats_hold_the_same_key(void **state)
{
    static const char *const texts[] = { openssh, pkcs1, pkcs8 };
    unsigned char first[RSA_KEY_BLOB_MAX], made[RSA_KEY_BLOB_MAX];
    struct buf blob, public;

    (void)state;
    buf_init(&public, RSA_KEY_BLOB_MAX);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rsa_key *key = parse(texts[i]);

        buf_init(&blob, RSA_KEY_BLOB_MAX);
        assert_true(rsa_key_login_blob(key, &blob));
        assert_int_equal(rsa_key_sign(key, "login", 5, made), 1024 / 8);
        if (i == 0) {
            memcpy(first, made, 1024 / 8);
            buf_add(&public, blob.bytes, blob.len);
        }
        assert_memory_equal(made, first, 1024 / 8);
        assert_int_equal(blob.len, public.len);
        assert_memory_equal(blob.bytes, public.bytes, blob.len);
        buf_fini(&blob);
        rsa_key_free(key);
    }
    buf_fini(&public);
}

/* Made by openssl dgst -sha512 -sign. */
static void the_signature_is_that_of_openssl(void **state)
{
    static const unsigned char want[] = {
        0x98, 0x46, 0x9f, 0x4a, 0x3c, 0xd2, 0xce, 0x24, 0xd7, 0x9b, 0xcd, 0x2e,
        0x14, 0x08, 0x72, 0x57, 0x78, 0x4b, 0xb9, 0x7f, 0x55, 0x23, 0xf2, 0xcb,
        0xb9, 0x71, 0xd9, 0x4f, 0xe7, 0xdc, 0x78, 0xe7, 0xfd, 0x3b, 0x34, 0x00,
        0x81, 0x2d, 0x7d, 0xdf, 0x03, 0x42, 0xb7, 0x84, 0x39, 0xc5, 0xbf, 0x55,
        0x76, 0x37, 0xe5, 0x29, 0x7d, 0x0a, 0xdc, 0x04, 0xe0, 0xdd, 0x2e, 0xf7,
        0x17, 0xfc, 0x02, 0x13, 0xae, 0xc4, 0x58, 0x99, 0x5e, 0x54, 0xc2, 0x07,
        0x10, 0x08, 0x50, 0x6d, 0x78, 0x77, 0x2d, 0x0b, 0x2c, 0xe8, 0x46, 0x84,
        0x64, 0xf6, 0x3d, 0x17, 0x1f, 0xbb, 0x78, 0xb9, 0x50, 0x3b, 0x30, 0x8a,
        0x5d, 0x03, 0xe2, 0xa5, 0x54, 0x72, 0x61, 0x0c, 0x47, 0x9c, 0xef, 0xdd,
        0xa5, 0x13, 0xc7, 0x0c, 0x96, 0xa1, 0x6a, 0x95, 0xb9, 0x52, 0x7a, 0x8e,
        0x16, 0x79, 0x8c, 0x3b, 0xa1, 0x5c, 0xb0, 0x87
    };
    unsigned char made[RSA_KEY_BLOB_MAX];
    struct rsa_key *key = parse(openssh);

    (void)state;
    assert_int_equal(rsa_key_sign(key, "login", 5, made), 1024 / 8);
    assert_memory_equal(made, want, sizeof(want));
    rsa_key_free(key);
}

static void the_public_half_begins_with_the_algorithm(void **state)
{
    struct rsa_key *key = parse(openssh);
    struct buf blob, again, real;
    struct ssh_wire wire;
    size_t n;

    (void)state;
    buf_init(&blob, RSA_KEY_BLOB_MAX);
    buf_init(&again, RSA_KEY_BLOB_MAX);
    buf_init(&real, RSA_KEY_BLOB_MAX);
    assert_true(rsa_key_login_blob(key, &blob));
    wire = (struct ssh_wire){ (unsigned char *)blob.bytes, blob.len };
    assert_memory_equal(ssh_wire_string(&wire, &n), RSA_KEY_LOGIN_TYPE,
                        strlen(RSA_KEY_LOGIN_TYPE));
    ssh_wire_add_string(&real, RSA_KEY_TYPE, strlen(RSA_KEY_TYPE));
    buf_add(&real, wire.p, wire.left);
    assert_true(rsa_key_login_blob_of(real.bytes, real.len, &again));
    assert_int_equal(again.len, blob.len);
    assert_memory_equal(again.bytes, blob.bytes, blob.len);
    assert_false(rsa_key_login_blob_of(blob.bytes, blob.len, &again));
    assert_false(rsa_key_login_blob_of("", 0, &again));
    buf_fini(&blob);
    buf_fini(&again);
    buf_fini(&real);
    rsa_key_free(key);
}

static void what_is_no_rsa_key_is_left_alone(void **state)
{
    static const char *const texts[] = {
        "", "-----BEGIN OPENSSH PRIVATE KEY-----\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"
        "-----END OPENSSH PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n"
        "-----END RSA PRIVATE KEY-----\n"
    };
    struct rsa_key *key;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(rsa_key_parse(texts[i], strlen(texts[i]), &key), 1);
        assert_null(key);
    }
    assert_int_equal(rsa_key_read("nowhere/id_rsa", &key, &err), ERR_AUTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_hold_the_same_key),
        cmocka_unit_test(the_signature_is_that_of_openssl),
        cmocka_unit_test(the_public_half_begins_with_the_algorithm),
        cmocka_unit_test(what_is_no_rsa_key_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
