#!/bin/sh
# In a root of its own (deploy/package.sh --try), or on a machine to be tried:
# install the package, or unpack the tarball, and sweep one of its kernels on
# the cpu device.  As root, for apt.
#
#   package_try.sh /PATH/OF/fa-coord.deb
#   package_try.sh /PATH/OF/fa-coord.tar.gz
set -eu
file=${1:?usage: package_try.sh /PATH/OF/FILE.deb or .tar.gz}
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
install() {
    apt-get update -qq
    apt-get install -y -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null
}

system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
echo "package_try.sh: $(basename "$file") on $system"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case "$file" in
*.deb)
    install --reinstall "$file"
    prefix=/usr
    ;;
*.tar.gz)
    install --no-install-recommends g++
    tar -x -z -f "$file" -C "$folder"
    prefix=$(echo "$folder"/fa-coord-*)
    ;;
*)
    echo "package_try.sh: '$file' is no .deb and no .tar.gz" >&2
    exit 2
    ;;
esac

export HOME="$folder/home"
mkdir "$HOME"
cp -r "$prefix/share/fa-coord/kernels/vector_add" "$folder/mine"
cd "$folder/mine"
PATH=$prefix/bin:$PATH
fa-coord --version
fa-coord sweep --device cpu --strategy random --evaluations 4 --quiet
fa-coord report
fa-coord verify
echo "package_try.sh: it sweeps"
