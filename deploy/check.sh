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

build() {
    cmake --preset "$1" >build/"$1".log 2>&1 || { cat build/"$1".log; return 1; }
    cmake --build build/"$1" -j "$jobs" >build/"$1".log 2>&1 ||
        { tail -n 60 build/"$1".log; return 1; }
}

tests() { # tests PRESET CTEST-ARGUMENTS...
    preset=$1
    shift
    ctest --test-dir build/"$preset" --output-on-failure -j "$jobs" "$@"
}

mkdir -p build
step build-gcc build dev
if [ "$mode" = --slow ]; then
    step tests-slow tests dev -L slow
    [ -z "$failed" ] || { echo "check.sh: failed:$failed"; exit 1; }
    exit 0
fi
if [ "$mode" = "" ]; then
    step build-clang build clang
    step build-asan build asan
    step build-tsan build tsan
    step build-fuzz build fuzz
    step lint cmake --build build/dev --target lint
    step tests-asan tests asan -LE 'slow|bench'
    step tests-tsan tests tsan -L threads
    step fuzz tests fuzz -L fuzz
fi
step tests tests dev -LE 'slow|bench'
if [ -n "$failed" ]; then
    echo "check.sh: failed:$failed"
    exit 1
fi
echo "check.sh: all steps passed"
