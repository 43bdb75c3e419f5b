#!/bin/sh
# Set up, build, and run real sweeps of vector_add and flash_attention on this
# machine, at the same time as localhost and through a real sshd on loopback.
# Then confirm the best against the baseline, and print verdicts, reports and
# costs.
#
# Without an NVIDIA GPU the kernels run on the cpu device, an emulation that
# checks results and says nothing about speed.  flash_attention is then not
# swept: a few configurations that show every pair of values are checked at a
# dozen shapes.
#
#   deploy/demo.sh [--keep]    --keep leaves the folder with the databases
set -eu
cd "$(dirname "$0")/.."
source_dir=$PWD

keep=no
case "${1:-}" in
'') ;;
--keep) keep=yes ;;
*) echo "usage: deploy/demo.sh [--keep]" >&2; exit 2 ;;
esac

deploy/setup.sh
mkdir -p build
echo "demo.sh: building (build/release.log)"
{ cmake --preset release && cmake --build build/release -j "$(nproc)" --target fa-coord fa-worker; } \
    >build/release.log 2>&1 || { tail -n 40 build/release.log; exit 1; }
fa_coord=$source_dir/build/release/bin/fa-coord

demo=$(mktemp -d "${TMPDIR:-/tmp}/fa-demo-XXXXXX")
sshd_pid=""
finish() {
    [ -n "$sshd_pid" ] && kill "$sshd_pid" 2>/dev/null
    if [ "$keep" = yes ]; then
        echo "demo.sh: kept $demo"
    else
        rm -rf "$demo"
    fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# A separate sshd with its own keys, port and folder; it ends with this script.
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd)
ssh-keygen -q -t ed25519 -N '' -f "$demo/host_key"
ssh-keygen -q -t ed25519 -N '' -f "$demo/user_key"
cp "$demo/user_key.pub" "$demo/authorized_keys"
[ "$(id -u)" = 0 ] && mkdir -p /run/sshd
port=""
for candidate in $(seq 42022 42072); do
    cat >"$demo/sshd_config" <<CONFIG
Port $candidate
ListenAddress 127.0.0.1
HostKey $demo/host_key
AuthorizedKeysFile $demo/authorized_keys
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin yes
PidFile none
CONFIG
    "$sshd" -D -e -f "$demo/sshd_config" 2>"$demo/sshd.log" &
    sshd_pid=$!
    tries=0
    while [ "$tries" -lt 50 ] && kill -0 "$sshd_pid" 2>/dev/null; do
        if grep -q 'Server listening' "$demo/sshd.log"; then
            port=$candidate
            break 2
        fi
        tries=$((tries + 1))
        sleep 0.1
    done
    kill "$sshd_pid" 2>/dev/null || true
    sshd_pid=""
done
[ -n "$port" ] || { cat "$demo/sshd.log"; echo "demo.sh: no sshd on loopback" >&2; exit 1; }
fingerprint=$(ssh-keygen -lf "$demo/host_key.pub" | cut -d' ' -f2)

cat >"$demo/hosts.txt" <<HOSTS
# this machine twice: as itself, unpriced, and through SSH, at the price of an L4
localhost  workdir=$demo/w1
$(id -un)@127.0.0.1:$port  key=$demo/user_key  hostkey=$fingerprint  rate=0.68  workdir=$demo/w2
HOSTS

device=cpu
if [ -e /dev/nvidia0 ]; then
    device=cuda
    # Two hosts cannot share one GPU: use the SSH host only.
    sed -i '/^localhost/d' "$demo/hosts.txt"
fi
# Print the next command, bold on a terminal.
show() {
    if [ -t 1 ]; then
        printf '\n\033[1m$ %s\033[0m\n' "$1"
    else
        printf '\n$ %s\n' "$1"
    fi
}

for kernel in vector_add flash_attention; do
    cp -r "$source_dir/kernels/$kernel" "$demo/$kernel"
    cd "$demo/$kernel"
    if [ "$kernel $device" = "flash_attention cpu" ]; then
        show "fa-coord fuzz --cover --hosts hosts.txt --device cpu   # $kernel"
        "$fa_coord" fuzz --cover --hosts "$demo/hosts.txt" --device cpu
        continue
    fi
    show "fa-coord sweep --hosts hosts.txt --device $device   # $kernel"
    "$fa_coord" sweep --hosts "$demo/hosts.txt" --device "$device"
    show "fa-coord report --cost"
    "$fa_coord" report --cost
done
