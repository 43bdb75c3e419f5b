#!/bin/sh
# In a root of its own (deploy/package.sh --try), or on a machine to be tried:
# install the package, and sweep one of its kernels on the cpu device.
#
#   package_try.sh /PATH/OF/fa-coord.deb
set -eu
deb=${1:?usage: package_try.sh /PATH/OF/fa-coord.deb}
export DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C
. /etc/os-release
echo "package_try.sh: on ${PRETTY_NAME:-an unknown system}"
apt-get update -qq
apt-get install -y -qq -o Dpkg::Use-Pty=0 --reinstall "$deb" >/dev/null

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home"
mkdir "$HOME"
cp -r /usr/share/fa-coord/kernels/vector_add "$folder/mine"
cd "$folder/mine"
fa-coord --version
fa-coord sweep --device cpu --strategy random --evaluations 4 --quiet
fa-coord report
fa-coord verify
echo "package_try.sh: it sweeps"
