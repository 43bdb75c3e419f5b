# shellcheck shell=sh
# sshd.sh - a real sshd on loopback for shell scripts; tests/e2e/sshd.h is the
# same for C, with the same folder.  Source it, then:
#
#   sshd_start DIR [LINE...]   make keys, start it with these lines of
#                              sshd_config in front; sets SSHD_PORT, SSHD_PID,
#                              SSHD_PIN (SHA256:... of its ed25519 key)
#   sshd_host_line             a line for hosts.txt that reaches it
#   sshd_stop                  end it

sshd_key() { # sshd_key FILE TYPE
    [ -f "$1" ] || ssh-keygen -q -t "$2" -N '' -C "$(basename "$1")" -f "$1"
}

sshd_configure() { # sshd_configure DIR [LINE...]
    sshd_dir=$1
    shift
    {
        for line in "$@"; do echo "$line"; done
        cat <<END
Port $SSHD_PORT
ListenAddress 127.0.0.1
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
PidFile none
HostKey $sshd_dir/host_ed25519
HostKey $sshd_dir/host_ecdsa
AuthorizedKeysFile $sshd_dir/authorized_keys
LogLevel VERBOSE
END
    } >"$sshd_dir/sshd_config"
    cat >"$sshd_dir/ssh_config" <<END
Host box
  HostName 127.0.0.1
  Port $SSHD_PORT
  User $(id -un)
  IdentityFile $sshd_dir/id_ed25519
  IdentitiesOnly yes
Host box 127.0.0.1
  UserKnownHostsFile $sshd_dir/known_hosts
  GlobalKnownHostsFile none
  HashKnownHosts no
END
    echo "[127.0.0.1]:$SSHD_PORT $(cut -d' ' -f1,2 "$sshd_dir/host_ed25519.pub")" >"$sshd_dir/known_hosts"
}

# Try ports until one is free: on a port in use, sshd ends at once.
sshd_start() { # sshd_start DIR [LINE...]
    sshd_dir=$1
    shift
    mkdir -p "$sshd_dir"
    for kind in ed25519 ecdsa; do
        sshd_key "$sshd_dir/id_$kind" $kind
        sshd_key "$sshd_dir/host_$kind" $kind
    done
    cat "$sshd_dir"/id_*.pub >"$sshd_dir/authorized_keys"
    [ "$(id -u)" = 0 ] && mkdir -p /run/sshd
    SSHD_PIN=$(ssh-keygen -lf "$sshd_dir/host_ed25519.pub" | cut -d' ' -f2)
    SSHD_PORT=$((20000 + $$ % 10000))
    sshd_tries=0
    while [ $sshd_tries -lt 20 ]; do
        sshd_tries=$((sshd_tries + 1))
        SSHD_PORT=$((SSHD_PORT + 7))
        sshd_configure "$sshd_dir" "$@"
        : >"$sshd_dir/sshd.log"
        /usr/sbin/sshd -D -e -f "$sshd_dir/sshd_config" 2>"$sshd_dir/sshd.log" &
        SSHD_PID=$!
        sshd_listens && return 0
    done
    echo "sshd.sh: no sshd on loopback: $(tail -n 3 "$sshd_dir/sshd.log")" >&2
    return 1
}

# Until the log says that it listens, or it ended; at most ten seconds.
sshd_listens() {
    sshd_polls=0
    while [ $sshd_polls -lt 200 ] && kill -0 "$SSHD_PID" 2>/dev/null; do
        grep -q '^Server listening' "$sshd_dir/sshd.log" && return 0
        sshd_polls=$((sshd_polls + 1))
        sleep 0.05
    done
    wait "$SSHD_PID" 2>/dev/null
    return 1
}

sshd_host_line() {
    echo "$(id -un)@127.0.0.1:$SSHD_PORT key=$sshd_dir/id_ed25519 hostkey=$SSHD_PIN"
}

sshd_stop() {
    [ -n "${SSHD_PID:-}" ] || return 0
    kill "$SSHD_PID" 2>/dev/null
    wait "$SSHD_PID" 2>/dev/null
    SSHD_PID=
}
