#include "tests/e2e/ssh_case.h"

const struct ssh_case ssh_case_quick[] = {
    { "plain", NULL, NULL, true, NULL },
    { "an unknown host key", NULL,
      SSH_CASE_BOX " UserKnownHostsFile /dev/null\n", false,
      "--accept-new-host-keys" },
    { "a changed host key", NULL,
      SSH_CASE_BOX " UserKnownHostsFile DIR/changed\n", false,
      "box: host key: CHANGED" },
    { "a revoked host key", NULL,
      SSH_CASE_BOX " UserKnownHostsFile DIR/revoked\n", false,
      "box: host key: REVOKED" },
    { "only an RSA host key",
      "HostKey DIR/id_rsa\nHostKeyAlgorithms "
      "rsa-sha2-512,rsa-sha2-256",
      NULL, true, "libssh2 cannot agree with the server on algorithms" },
    { "RevokedHostKeys", NULL,
      SSH_CASE_BOX " RevokedHostKeys DIR/host_ed25519.pub\n", false,
      "libssh2 cannot follow RevokedHostKeys" },
    { "a ProxyCommand", NULL,
      "Host inner\n HostName 127.0.0.1\n Port NUM\n IdentityFile "
      "DIR/id_ed25519\n UserKnownHostsFile DIR/known_hosts\n" SSH_CASE_BOX
      " ProxyCommand ssh -F DIR/ssh_config -W %h:%p inner\n",
      true, "libssh2 cannot follow ProxyCommand" },
    { "two jump hosts", NULL,
      "Host first second\n HostName 127.0.0.1\n Port NUM\n IdentityFile "
      "DIR/id_ed25519\n UserKnownHostsFile DIR/known_hosts\n" SSH_CASE_BOX
      " ProxyJump first,second\n",
      true, NULL },
    { "a key that all may read", "AuthorizedKeysFile DIR/id_open.pub",
      SSH_CASE_BOX " IdentityFile DIR/id_open\n", false, "id_open" },
    { "MaxSessions 1", "MaxSessions 1", NULL, true, NULL },
    { "an RSA key, sha-512 only",
      "AuthorizedKeysFile DIR/id_rsa.pub\nPubkeyAcceptedAlgorithms "
      "rsa-sha2-512",
      SSH_CASE_BOX " IdentityFile DIR/id_rsa\n", true, NULL },
    { "two keys, both wanted", "AuthenticationMethods publickey,publickey",
      SSH_CASE_BOX " IdentityFile DIR/id_ecdsa\n", true, NULL },
    { "a key and a password",
      "AuthenticationMethods "
      "publickey,keyboard-interactive",
      NULL, false, "the key was accepted" },
    { "a certificate of the user",
      "TrustedUserCAKeys DIR/id_stranger.pub\nAuthorizedKeysFile none",
      SSH_CASE_BOX " IdentityFile DIR/id_signed\n", true,
      "libssh2 cannot use the certificate" },
    { "ETM MACs only", "MACs hmac-sha2-256-etm@openssh.com\nCiphers aes128-ctr",
      NULL, true, "libssh2 cannot agree with the server on algorithms" },
};

const size_t ssh_case_n_quick =
    sizeof(ssh_case_quick) / sizeof(ssh_case_quick[0]);

const struct ssh_case ssh_case_slow[] = {
    { "hashed names", NULL, SSH_CASE_BOX " UserKnownHostsFile DIR/hashed\n",
      true, NULL },
    { "settings by Match and Include", NULL,
      "Match host box exec true\n Include DIR/more\n", true, NULL },
    { "a KnownHostsCommand", NULL,
      SSH_CASE_BOX " UserKnownHostsFile /dev/null\n"
                   " KnownHostsCommand /bin/cat DIR/known_hosts\n",
      true, "libssh2 cannot follow KnownHostsCommand" },
    { "only its RSA host key is known", "HostKey DIR/id_rsa",
      SSH_CASE_BOX " UserKnownHostsFile DIR/known_rsa\n", true,
      "libssh2 cannot verify host keys of the type ssh-rsa" },
    { "a password only", "AuthenticationMethods keyboard-interactive", NULL,
      false, "accepts keyboard-interactive but no keys" },
    { "an encrypted key", "AuthorizedKeysFile DIR/id_locked.pub",
      SSH_CASE_BOX " IdentityFile DIR/id_locked\n", false, "ssh-add" },
    { "a certificate of the host",
      "HostKey DIR/host_signed\nHostCertificate DIR/host_signed-cert.pub",
      SSH_CASE_BOX " UserKnownHostsFile DIR/authority\n", true,
      "libssh2 cannot verify the certificate" },
    { "an ECDSA key", NULL, SSH_CASE_BOX " IdentityFile DIR/id_ecdsa\n", true,
      NULL },
    { "a FIDO key without its token", "AuthorizedKeysFile DIR/id_rsa.pub",
      SSH_CASE_BOX " IdentityFile DIR/id_token\n", false,
      "libssh2 cannot use the key" },
    { "no forwarding, and a banner",
      "AllowTcpForwarding no\nBanner DIR/known_hosts", NULL, true, NULL },
    { "a login shell that prints 200 kB",
      "ForceCommand head -c 200000 /dev/zero | tr '\\0' x; exec sh -c "
      "\"$SSH_ORIGINAL_COMMAND\"",
      NULL, true, NULL },
    { "no shell for the user", "ForceCommand /bin/false", NULL, false,
      "does not run 'sh'" },
    { "chacha20 only", "Ciphers chacha20-poly1305@openssh.com", NULL, true,
      "libssh2 cannot agree" },
    { "AES-GCM only", "Ciphers aes256-gcm@openssh.com", NULL, true,
      "libssh2 cannot agree" },
    { "sntrup761 only", "KexAlgorithms sntrup761x25519-sha512@openssh.com",
      NULL, true, "libssh2 cannot agree" },
    { "curve25519 only", "KexAlgorithms curve25519-sha256", NULL, true, NULL },
};

const size_t ssh_case_n_slow = sizeof(ssh_case_slow) / sizeof(ssh_case_slow[0]);
