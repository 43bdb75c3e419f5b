#!/bin/sh
# The experiments of docs/reliability.md: what goes wrong, how often it was
# tried, and the worst figure.
#
#   deploy/chaos.sh                    the short forms, side by side: all of
#                                      them are tests that CI runs
#   deploy/chaos.sh F5 F9              some of them
#   deploy/chaos.sh --long             the long forms, one after the other
#   deploy/chaos.sh --long F3 --repeat 10 --write
#
# --repeat N is for tests that do not repeat by themselves (3).  --write puts
# the figures into docs/reliability.md.  The programs are those of build/dev,
# or of FA_BUILD.
set -eu
cd "$(dirname "$0")/.."
build=${FA_BUILD:-build/dev}
if [ ! -x "$build/bin/fa-coord" ]; then
    echo "chaos.sh: $build has no programs; build them: cmake --preset dev && cmake --build $build" >&2
    exit 2
fi
exec python3 -B tests/fault/run.py "$build" "$@"
