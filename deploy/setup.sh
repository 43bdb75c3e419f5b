#!/bin/sh
# Install what building (and, with --tests, testing) fa-coord needs on Debian or
# Ubuntu.  You can run it again: it installs missing packages only, by name.
set -eu

usage() {
    echo "usage: deploy/setup.sh [--tests] [--browser] [--python] [--package] [--site] [--slurm]"
    echo "  --tests    also what deploy/check.sh needs: clang, linters, cmocka, scipy"
    echo "  --browser  also what deploy/check.sh --browser needs: Chromium"
    echo "  --python   also what deploy/check.sh --python needs: pandas, matplotlib, jupyter"
    echo "  --package  also what deploy/package.sh needs: lintian, debootstrap"
    echo "  --slurm    also what deploy/check.sh --slurm needs: munge, slurm-wlm"
    echo "  --site     also what deploy/site.sh and deploy/check.sh --site need: mkdocs"
}

tests=no
browser=no
python=no
package=no
site=no
slurm=no
for arg in "$@"; do
    case "$arg" in
    --tests) tests=yes ;;
    --browser) browser=yes ;;
    --python) python=yes ;;
    --package) package=yes ;;
    --site) site=yes ;;
    --slurm) slurm=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup.sh: unknown argument '$arg'" >&2; usage >&2; exit 2 ;;
    esac
done

if ! command -v apt-get >/dev/null 2>&1; then
    cat >&2 <<'MSG'
setup.sh: there is no apt-get; this script supports Debian and Ubuntu only.
Install by hand: a C and C++ compiler, cmake >= 3.22, ninja, pkg-config, and the
development files of libzmq, libssh2, sqlite3, cJSON, libsodium, openssl, zlib, msgpack-c
and cmocka; then build with: cmake --preset release && cmake --build build/release
MSG
    exit 1
fi

# msgpack-c is libmsgpack-dev up to Debian 12 and Ubuntu 22.04, then
# libmsgpack-c-dev.
msgpack=libmsgpack-dev
if apt-cache show libmsgpack-c-dev >/dev/null 2>&1; then
    msgpack=libmsgpack-c-dev
fi

packages="gcc g++ cmake ninja-build pkg-config git ca-certificates
    libssh2-1-dev libzmq3-dev libsqlite3-dev libcjson-dev libsodium-dev libssl-dev
    zlib1g-dev $msgpack libpgm-dev libnorm-dev libcmocka-dev openssh-client openssh-server"
# Pictures of 'report --html'; without it the build goes on.
if apt-cache show node-d3 >/dev/null 2>&1; then
    packages="$packages node-d3"
fi
# 'fa-coord serve'; without it the build goes on.
packages="$packages libmicrohttpd-dev"
if [ "$browser" = yes ]; then
    packages="$packages chromium python3"
fi
if [ "$python" = yes ]; then
    packages="$packages python3 python3-pandas python3-matplotlib jupyter-nbconvert python3-ipykernel
        python3-pip python3-venv python3-setuptools python3-wheel"
fi
if [ "$package" = yes ]; then
    packages="$packages binutils debian-archive-keyring debootstrap dpkg-dev file lintian python3 shellcheck"
fi
if [ "$site" = yes ]; then
    packages="$packages mkdocs mkdocs-material python3"
fi
if [ "$slurm" = yes ]; then
    packages="$packages munge python3 slurm-wlm"
fi
if [ "$tests" = yes ]; then
    packages="$packages clang clang-format clang-tidy cppcheck python3 python3-scipy
        universal-ctags binutils util-linux procps zsh fish mandoc"
    # The example of an external strategy is tested where Optuna is packaged.
    if apt-cache show python3-optuna >/dev/null 2>&1; then
        packages="$packages python3-optuna"
    fi
fi

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

list_missing() {
    for p in $packages; do
        is_installed "$p" || printf '%s ' "$p"
    done
}

missing=$(list_missing)
# The fuzzers' and sanitizers' run-time library is named after clang's version.
clang_runtime() {
    version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    [ -n "$version" ] && echo "libclang-rt-$version-dev"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "setup.sh: these packages are missing: $missing" >&2
        echo "setup.sh: run this script as root, or install sudo" >&2
        exit 1
    fi
}

install() {
    echo "setup.sh: installing: $*"
    as_root apt-get update -qq
    # shellcheck disable=SC2068  # one word a package
    as_root apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $@ >/dev/null
}

# The tests start their own sshd on loopback.  A service that lets others log in
# is not wanted.
had_sshd=no
is_installed openssh-server && had_sshd=yes
if [ -n "$missing" ]; then
    install $missing
fi
if [ "$had_sshd" = no ] && [ -d /run/systemd/system ]; then
    echo "setup.sh: disabling the ssh service that came with openssh-server"
    as_root systemctl disable --now ssh.service ssh.socket >/dev/null 2>&1 || true
fi
if [ "$tests" = yes ]; then
    runtime=$(clang_runtime)
    if [ -n "$runtime" ] && apt-cache show "$runtime" >/dev/null 2>&1 &&
        ! is_installed "$runtime"; then
        missing=$runtime
        install "$runtime"
    fi
fi
if [ -z "$missing" ]; then
    echo "setup.sh: everything is installed"
fi
if ! command -v nvcc >/dev/null 2>&1 && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "setup.sh: there is no nvcc on this machine; tests that need it are skipped (GPU hosts need nvcc, this machine does not)"
fi
