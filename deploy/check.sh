#!/bin/sh
# Set up, build and test everything: what CI runs.  Works without a GPU, and with
# less coverage without nvcc.
#
#   deploy/check.sh            everything but the tests labelled slow
#   deploy/check.sh --quick    one build with gcc and its tests
#   deploy/check.sh --slow     the long forms of the experiments
set -eu
cd "$(dirname "$0")/.."

mode=${1:-}
case "$mode" in
'' | --quick | --slow) ;;
*) echo "usage: deploy/check.sh [--quick | --slow]" >&2; exit 2 ;;
esac

deploy/setup.sh --tests
jobs=$(nproc)
failed=""

# step NAME COMMAND...: run, time and remember; a failure does not hide the rest.
step() {
    name=$1
    shift
    echo "== $name"
    began=$(date +%s)
    if "$@"; then
        echo "== $name: ok, $(($(date +%s) - began)) s"
    else
        echo "== $name: FAILED, $(($(date +%s) - began)) s"
        failed="$failed $name"
    fi
}

if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

build() { # build PRESET TARGET...
    preset=$1
    shift
    cmake --preset "$preset" >build/"$preset".log 2>&1 || { cat build/"$preset".log; return 1; }
    cmake --build build/"$preset" -j "$jobs" --target "$@" >build/"$preset".log 2>&1 ||
        { tail -n 60 build/"$preset".log; return 1; }
}

tests() { # tests PRESET CTEST-ARGUMENTS...
    preset=$1
    shift
    ctest --test-dir build/"$preset" --output-on-failure -j "$jobs" "$@"
}

mkdir -p build
step build-gcc build dev all
if [ "$mode" = --slow ]; then
    step tests-slow tests dev -L slow
    [ -z "$failed" ] || { echo "check.sh: failed:$failed"; exit 1; }
    exit 0
fi
if [ "$mode" = "" ]; then
    # The tests are built by clang too, in the fuzz build.
    step build-clang build clang fa-coord fa-worker fa-runner
    step build-asan build asan all
    step build-tsan build tsan fa-coord fa-worker test_coordinator_server
    step build-fuzz build fuzz all
    step lint cmake --build build/dev --target lint
    FA_KILLS=5 step tests-asan tests asan -LE 'slow|bench'
    step tests-tsan tests tsan -L threads
    step fuzz tests fuzz -L fuzz
fi
step tests tests dev -LE 'slow|bench'
if [ -n "$failed" ]; then
    echo "check.sh: failed:$failed"
    exit 1
fi
echo "check.sh: all steps passed"
