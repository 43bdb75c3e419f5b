#!/bin/sh
# Build the documentation as a site, and check it: every page is in the nav of
# mkdocs.yml, every link and anchor leads somewhere, and no page loads anything
# from another host.
#
#   deploy/site.sh [FOLDER]    into FOLDER, or build/site/html
#
# deploy/setup.sh --site installs what it needs.
set -eu
case "${1:-}" in
-*) echo "usage: deploy/site.sh [FOLDER]" >&2; exit 2 ;;
esac
out=${1:-}
[ -z "$out" ] || { mkdir -p "$out" && out=$(cd "$out" && pwd); }
cd "$(dirname "$0")/.."
out=${out:-$PWD/build/site/html}
if ! command -v mkdocs >/dev/null 2>&1; then
    echo "site.sh: mkdocs is not installed: deploy/setup.sh --site installs it" >&2
    exit 1
fi

# The pages, with README.md as the first one, and the small files that they link
# to.  Links between them stay right.
pages=build/site/pages
rm -rf "$pages"
mkdir -p "$pages"
(cd docs && find . -name '*.md' -o -name '*.png' -o -name '*.py' -o -name '*.json' -o -name '*.ipynb') |
    while read -r file; do
        mkdir -p "$pages/$(dirname "$file")"
        sed 's#](\.\./CHANGELOG\.md#](CHANGELOG.md#g' "docs/$file" >"$pages/$file"
    done
sed 's#](docs/#](#g' README.md >"$pages/index.md"
sed 's#](docs/#](#g' CHANGELOG.md >"$pages/CHANGELOG.md"

log=build/site/mkdocs.log
mkdocs build --strict --clean --site-dir "$out" >"$log" 2>&1 || { cat "$log"; exit 1; }
deploy/site_links.py "$out"
echo "site.sh: $(find "$out" -name '*.html' | wc -l) pages in $out"
