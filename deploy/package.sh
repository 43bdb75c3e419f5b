#!/bin/sh
# Build the Debian package and check it (docs/install.md).
#
#   deploy/package.sh              build/package/fa-coord_VERSION-1_ARCH.deb, and lintian on it
#   deploy/package.sh --twice      build it twice, in two folders, and compare the bytes
#   deploy/package.sh --try ROOT   install it in ROOT, and sweep there on the cpu device; as root.
#                                  ROOT is made by debootstrap (Debian 12) if it is not there
#
# deploy/setup.sh --package installs what this needs.
set -eu
cd "$(dirname "$0")/.."
umask 022

usage="usage: deploy/package.sh [--twice | --try ROOT]"
mode=${1:-}
case "$mode:$#" in
:0 | --twice:1 | --try:2) ;;
*) echo "$usage" >&2; exit 2 ;;
esac

out=$PWD/build/package
day=$(sed -n 's/^set(FA_VERSION_DATE \([0-9-]*\)).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date -u -d "$day" +%s)}
export SOURCE_DATE_EPOCH

quietly() { # quietly LOG COMMAND...
    log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 60 "$log" >&2; return 1; }
}

build() { # build SOURCE BUILD: BUILD/fa-coord_*.deb
    mkdir -p "$2"
    quietly "$2/log" cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF
    quietly "$2/log" cmake --build "$2" -j "$(nproc)" --target fa-coord fa-worker
    rm -f "$2"/fa-coord_*.deb
    (cd "$2" && quietly "$2/log" cpack -G DEB)
}

copy_source() { # copy_source TO: the working tree, without what git ignores
    rm -rf "$1"
    mkdir -p "$1"
    git ls-files -z -co --exclude-standard | tar -c --null -T - | tar -x -C "$1"
}

twice() { # the same bytes, from folders of different names and depths
    export CCACHE_DISABLE=1
    one=$out/twice/one two=$out/twice/another/folder
    for folder in "$one" "$two"; do
        copy_source "$folder"
        build "$folder" "$folder/build"
    done
    first=$(ls "$one"/build/fa-coord_*.deb)
    cmp "$first" "$two/build/$(basename "$first")"
    echo "package.sh: twice the same bytes: $(sha256sum <"$first" | cut -d' ' -f1) $(basename "$first")"
}

try() { # try ROOT DEB
    [ "$(id -u)" = 0 ] || { echo "package.sh: --try needs root, for debootstrap and chroot" >&2; exit 1; }
    if [ ! -e "$1/etc/os-release" ]; then
        mkdir -p "$1"
        quietly "$out/debootstrap.log" debootstrap --variant=minbase bookworm "$1" http://deb.debian.org/debian
    fi
    cp "$2" "$1/tmp/fa-coord.deb"
    cp deploy/package_try.sh "$1/tmp/package_try.sh"
    # PIDs of their own: what runs in there ends with its first process.
    # shellcheck disable=SC2016  # the inner shell expands it
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
            exec chroot "$1" sh /tmp/package_try.sh /tmp/fa-coord.deb' try "$1"
}

if [ "$mode" = --twice ]; then
    twice
    exit
fi
build "$PWD" "$out/build"
rm -f "$out"/fa-coord_*.deb
mv "$out"/build/fa-coord_*.deb "$out"
deb=$(ls "$out"/fa-coord_*.deb)
lintian --allow-root --fail-on error "$deb"
echo "package.sh: $deb, lintian without errors"
[ "$mode" != --try ] || try "$2" "$deb"
