#!/bin/sh
# Build the Debian package, or the tarball, and check it (docs/install.md).
#
#   deploy/package.sh              build/package/fa-coord_VERSION-1_ARCH.deb, and lintian on it
#   deploy/package.sh --twice      build it twice, in two folders, and compare the bytes
#   deploy/package.sh --try ROOT   install it in ROOT, and sweep there on the cpu device; as root.
#                                  ROOT is made by debootstrap (Debian 12) if it is not there
#   deploy/package.sh --tarball    build/package/fa-coord-VERSION-ARCH.tar.gz, for glibc >= 2.31
#   deploy/package.sh --tarball ROOT    unpack it in ROOT, made likewise (Debian 11), and sweep there
#
# deploy/setup.sh --package installs what this needs.
set -eu
cd "$(dirname "$0")/.."
umask 022

usage="usage: deploy/package.sh [--twice | --try ROOT | --tarball [ROOT]]"
mode=${1:-}
case "$mode:$#" in
:0 | --twice:1 | --tarball:[12] | --try:2) ;;
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

compile() { # compile SOURCE BUILD CMAKE-ARGUMENT...
    from=$1 to=$2
    shift 2
    quietly "$to/log" cmake -S "$from" -B "$to" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF "$@"
    quietly "$to/log" cmake --build "$to" -j "$(nproc)" --target fa-coord fa-worker
}

build() { # build SOURCE BUILD: BUILD/fa-coord_*.deb
    mkdir -p "$2"
    compile "$1" "$2"
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

try() { # try ROOT RELEASE FILE
    [ "$(id -u)" = 0 ] || { echo "package.sh: $mode needs root, for debootstrap and chroot" >&2; exit 1; }
    if [ ! -e "$1/etc/os-release" ]; then
        mkdir -p "$1"
        quietly "$out/log" debootstrap --variant=minbase "$2" "$1" http://deb.debian.org/debian
    fi
    cp "$3" "$1/tmp/"
    cp deploy/package_try.sh "$1/tmp/package_try.sh"
    # PIDs of their own: what runs in there ends with its first process.
    # shellcheck disable=SC2016  # the inner shell expands it
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
            exec chroot "$1" sh /tmp/package_try.sh "/tmp/$2"' try "$1" "$(basename "$3")"
}

fetch_glibc() { # fetch_glibc TO: libc6 and libc6-dev of Debian 11, whose glibc is 2.31
    rm -rf "$1" "$1.apt"
    mkdir -p "$1" "$1.apt/lists/partial"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian bullseye main" >"$1.apt/sources.list"
    set -- "$1" -o Dir::Etc::sourcelist="$1.apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$1.apt/lists" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$1.apt" -o APT::Sandbox::User=root
    root=$1
    shift
    quietly "$out/log" apt-get "$@" update
    (cd "$root.apt" && quietly "$out/log" apt-get "$@" download libc6 libc6-dev)
    for package in "$root".apt/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    # Links to /lib/... would lead out of the folder.
    find "$root" -type l -lname '/*' | while read -r link; do
        ln -sfn "$root$(readlink "$link")" "$link"
    done
}

tarball() {
    glibc=$out/glibc-2.31
    mkdir -p "$out/portable"
    [ -e "$glibc/usr/include/stdio.h" ] || fetch_glibc "$glibc"
    compile "$PWD" "$out/portable" -DFA_OLD_GLIBC="$glibc"
    version=$(sed -n 's/^project(fa-coord VERSION \([^ )]*\).*/\1/p' CMakeLists.txt)
    name=fa-coord-$version-$(uname -m)
    rm -rf "${out:?}/$name"
    quietly "$out/portable/log" cmake --install "$out/portable" --prefix "$out/$name" --strip
    tar -c -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" |
        gzip -9n >"$out/$name.tar.gz"
    rm -r "${out:?}/$name"
    echo "package.sh: $out/$name.tar.gz"
}

if [ "$mode" = --tarball ]; then
    tarball
    [ $# = 1 ] || try "$2" bullseye "$out/$name.tar.gz"
    exit
fi
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
[ "$mode" != --try ] || try "$2" bookworm "$deb"
