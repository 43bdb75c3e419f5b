#!/bin/sh
# Print how many lines of the coordinator's and the worker's I/O code the unit
# tests and the simulation run, by gcov, one folder a line.  It makes a build of
# its own.  The simulation simulates the worker, so e2e.attach, e2e.lease and
# e2e.tool, which run the real one's loop, count as well (some 4 minutes).
#
#   deploy/coverage.sh [SEEDS]     SEEDS of the simulation, 1..300
set -eu
cd "$(dirname "$0")/.."
seeds=${1:-1..300}
build=build/coverage
folders="coordinator/state coordinator/reactor coordinator/link coordinator/passes worker/agent"

if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
mkdir -p build
cmake --preset coverage >build/coverage.log
targets=$(ninja -C $build -t targets all |
    sed -n 's/^\(test_\(coordinator_\(state\|reactor\|link\|passes\)\|worker_agent\)_[a-z_]*\): phony$/\1/p')
targets="$targets test_e2e_attach test_e2e_lease test_e2e_tool"
# shellcheck disable=SC2086  # one word a target
cmake --build $build -j "$(nproc)" --target simulate fa-worker $targets >build/coverage.log 2>&1 ||
    { tail -n 40 build/coverage.log; exit 1; }
find $build -name '*.gcda' -exec rm {} +
for target in $targets; do
    # one of them has a folder of its own, with what stands beside it
    program=$(cd $build/tests && find . -name "$target" -type f)
    (cd $build/tests && "$program" >/dev/null 2>&1) || echo "coverage.sh: $target failed" >&2
done
$build/bin/simulate --seeds "$seeds" >/dev/null || echo "coverage.sh: the simulation has findings" >&2

for folder in $folders; do
    # an object that no test loaded has no counters: none of its lines ran
    find "$build/$folder" -name '*.gcno' | sort | while read -r notes; do
        gcov -n "$notes" 2>/dev/null | grep -A1 "^File '.*/$folder/[a-z_]*\.c'" | sed -n 's/^Lines executed:\([0-9.]*\)% of \([0-9]*\)$/\1 \2/p'
    done | awk -v folder="$folder" \
        '{ ran += $1 * $2 / 100; all += $2 } END { printf "%-22s %5.1f %% of %5d lines\n", folder, all ? 100 * ran / all : 0, all }'
done
