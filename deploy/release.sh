#!/bin/sh
# Tag a version, with its section of CHANGELOG.md as the message of the tag.
#
#   deploy/release.sh VERSION            check, then make the tag vVERSION here
#   deploy/release.sh --check VERSION    check only
#
# It pushes nothing.  docs/install.md says what to write before.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "release.sh: $1" >&2
    exit 1
}

tag=yes
if [ "${1:-}" = --check ]; then
    tag=no
    shift
fi
[ $# = 1 ] || { echo "usage: deploy/release.sh [--check] VERSION" >&2; exit 2; }
version=$1
echo "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' ||
    { echo "release.sh: '$version' is not a version such as 1.2.3" >&2; exit 2; }

section() { # the lines below "## VERSION" in CHANGELOG.md, up to the next version
    awk -v heading="## $version" '
        /^## / { inside = ($0 == heading || index($0, heading " ") == 1); next }
        inside && (NF || said) { said = 1; print }' CHANGELOG.md
}

built=$(sed -n 's/^project(fa-coord VERSION \([^ )]*\).*/\1/p' CMakeLists.txt)
[ "$built" = "$version" ] || fail "CMakeLists.txt has version $built, not $version"
day=$(sed -n 's/^set(FA_VERSION_DATE \([^ )]*\)).*/\1/p' CMakeLists.txt)
[ -n "$day" ] || fail "CMakeLists.txt has no FA_VERSION_DATE"
date -u -d "$day" >/dev/null 2>&1 ||
    fail "FA_VERSION_DATE in CMakeLists.txt is no date: $day"
[ -n "$(section)" ] || fail "CHANGELOG.md has no section '## $version', or nothing in it"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null && fail "the tag v$version exists already"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"

if [ $tag = yes ]; then
    { printf 'fa-coord %s (%s)\n\n' "$version" "$day"; section; } |
        git tag -a "v$version" --cleanup=verbatim -F -
    echo "release.sh: tagged v$version; publish it with: git push origin v$version"
else
    echo "release.sh: $version can be tagged"
fi
