/* nogssapi.c - replaces Kerberos in the static fa-worker
 *
 * Debian's libzmq.a has the GSSAPI mechanism compiled in, and there is no
 * static Kerberos.  The worker never chooses that mechanism (CURVE is the only
 * one), so none of these is called.
 */
#define GSS_S_FAILURE 0xd0000u

#define ABSENT(name)          \
    unsigned name(void);      \
    unsigned name(void)       \
    {                         \
        return GSS_S_FAILURE; \
    }

extern const void *GSS_C_NT_HOSTBASED_SERVICE;
extern const void *GSS_C_NT_USER_NAME;
const void *GSS_C_NT_HOSTBASED_SERVICE;
const void *GSS_C_NT_USER_NAME;

ABSENT(gss_accept_sec_context)
ABSENT(gss_acquire_cred)
ABSENT(gss_delete_sec_context)
ABSENT(gss_display_name)
ABSENT(gss_import_name)
ABSENT(gss_init_sec_context)
ABSENT(gss_release_buffer)
ABSENT(gss_release_cred)
ABSENT(gss_release_name)
ABSENT(gss_unwrap)
ABSENT(gss_wrap)
