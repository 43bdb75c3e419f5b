#!/bin/sh
# Set up, build and test everything: what CI runs (docs/testing.md says what
# each step shows).  It needs no GPU; without nvcc it covers less.
#
#   deploy/check.sh            everything but the tests labelled slow
#   deploy/check.sh --quick    one build with gcc and its tests
#   deploy/check.sh --slow     the tests labelled slow, and unit tests under clang's UBSan
#   deploy/check.sh --browser  the page of 'report --html' in Chromium
#   deploy/check.sh --python   the package of deploy/python, with pandas and jupyter
#   deploy/check.sh --package  the Debian package and the tarball; best as root
#   deploy/check.sh --site     the documentation as a site, and its commands
#   deploy/check.sh --slurm    sweeps on a real Slurm; as root
set -eu
cd "$(dirname "$0")/.."

mode=${1:-}
case "$mode" in
'' | --quick | --slow | --browser | --python | --package | --site | --slurm) ;;
*) echo "usage: deploy/check.sh [--quick | --slow | --browser | --python | --package | --site | --slurm]" >&2; exit 2 ;;
esac

jobs=$(nproc)
mkdir -p build
times=build/check.times
: >"$times"
aside=""
threads=""
# shellcheck disable=SC2154  # of the loop
trap 'for pid in $aside $threads; do kill "$pid" 2>/dev/null || true; done' EXIT

# step NAME COMMAND...: run, time and note the verdict; after a failure, go on.
step() {
    name=$1
    shift
    echo "== $name"
    began=$(date +%s)
    verdict=ok
    "$@" || verdict=FAILED
    echo "== $name: $verdict, $(($(date +%s) - began)) s"
    echo "$name $verdict $(($(date +%s) - began))" >>"$times"
}

if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# Some python3 are scripts that look for one at each of hundreds of starts (pyenv's: 0.2 s).
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && [ -x "$python" ] && PATH=$(dirname "$python"):$PATH

units= # folders whose unit tests the build without sanitizers has; empty: all
compiles="|compiles" # tests left out, whose time goes into compilers

configure() { # configure PRESET
    case "$1" in
    dev) set -- dev -DFA_UNIT_TESTS="$units" -DFA_COMPILING_TESTS="$([ "$units" = none ] && [ -n "$compiles" ] && echo OFF || echo ON)" ;;
    fuzz) set -- fuzz -DCMAKE_BUILD_TYPE=Debug ;; # clang takes half the time
    esac
    cmake --preset "$@" >build/"$1".log 2>&1 || { cat build/"$1".log; return 1; }
}

build() { # build PRESET TARGET...
    preset=$1
    shift
    configure "$preset" || return 1
    cmake --build build/"$preset" -j "$jobs" --target "$@" >build/"$preset".log 2>&1 ||
        { tail -n 60 build/"$preset".log; return 1; }
}

tests() { # tests PRESET CTEST-ARGUMENTS...
    preset=$1
    shift
    ctest --test-dir build/"$preset" --output-on-failure "$@"
}

finish() { # print the table, exit as the steps say
    echo
    awk '{ printf "%-16s %-7s %5d s\n", $1, $2, $3 }' "$times"
    echo "all together: $(($(date +%s) - start)) s"
    if grep -q ' FAILED ' "$times"; then
        echo "check.sh: failed: $(awk '$2 == "FAILED" { printf "%s ", $1 }' "$times")"
        exit 1
    fi
    echo "check.sh: all steps passed"
    exit 0
}

start=$(date +%s)
step setup deploy/setup.sh --tests
case "$mode" in
--quick)
    step build-gcc build dev all
    step tests tests dev -j $((jobs + 1)) -LE 'slow|bench|browser|python|package|site|slurm'
    finish
    ;;
--slow)
    step build-gcc build dev all
    step tests-slow tests dev -j "$jobs" -L slow -LE 'browser|python|package|site|slurm'
    # clang's UBSan sees more of pointers than gcc's
    step build-ubsan build ubsan all
    step tests-ubsan tests ubsan -j "$jobs" -LE "slow|bench|e2e|fault|browser|python|package|site|slurm$compiles"
    finish
    ;;
--browser)
    step setup-browser deploy/setup.sh --browser
    step build-gcc build dev fa-coord
    step tests-browser tests dev -L browser
    finish
    ;;
--python)
    step setup-python deploy/setup.sh --python
    step build-gcc build dev fa-coord fa-worker
    step tests-python tests dev -L python
    finish
    ;;
--package)
    step setup-package deploy/setup.sh --package
    step configure configure dev
    step tests-package tests dev -L '^package$'
    finish
    ;;
--slurm)
    step setup-slurm deploy/setup.sh --slurm
    step build-gcc build dev fa-coord fa-worker
    step tests-slurm tests dev -L slurm
    finish
    ;;
--site)
    step setup-site deploy/setup.sh --site
    # the programs that commands in the documentation name
    step build-gcc build dev fa-coord fa-worker fa-runner simulate simulate_rental
    step site deploy/site.sh
    step tests-site tests dev -L 'docs|site'
    finish
    ;;
esac

# Unit tests run with sanitizers, and with --quick without.
units=none
touched=$(deploy/changed.sh)
if echo "$touched" | grep -v CMakeLists | grep -qE '^(tests/)?(kernels|cheats|worker/(build|runner))/'; then
    compiles=
fi

# How much slower than the one where deadlines of tests were chosen this machine
# is, 1 to 4: by the first build (40 s there), and by fifty starts of fa-coord
# (1.5 s there), because where a process is dear, tests lose more than builds.
patience() {
    begun=$(date +%s%N)
    i=0
    while [ "$i" -lt 50 ]; do
        build/asan/bin/fa-coord --version >/dev/null || return 0
        i=$((i + 1))
    done
    awk -v starts=$(($(date +%s%N) - begun)) '
        $1 == "build-e2e" { p = $3 / 40; q = starts / 1.5e9; p = p > q ? p : q
                            printf "%.2f\n", (p < 1 ? 1 : (p > 4 ? 4 : p)) }' "$times"
}

# The end-to-end tests mostly wait, so they start as soon as their programs are
# there and run beside all others.  Those labelled plain run without sanitizers,
# the others with them.
export FA_KILLS=5
# Workers fork often, and what freed memory they keep is copied each time.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=12
step build-e2e build asan sanitized
FA_PATIENCE=$(patience)
export FA_PATIENCE
slow=
many=$((jobs * 2))
if [ "${FA_PATIENCE%.*}" -ge 2 ] 2>/dev/null || [ "${FA_PATIENCE#1.[5-9]}" != "$FA_PATIENCE" ]; then
    echo "a slow machine ($FA_PATIENCE times the usual): TSan, fuzzing and tests labelled compiles are left out, and lint looks at less (docs/testing.md)"
    slow=yes
    many=$((jobs + 1))
    compiles="|compiles"
    export FA_LINT_MOST=2
fi
# Whichever comes first, the end of the end-to-end tests or that of the others,
# has time for the unit tests with sanitizers.
unit_tests() { # unit_tests JOBS
    mkdir build/unit-tests 2>/dev/null || return 0
    until grep -q "^build-asan " "$times"; do sleep 1; done
    step tests-asan tests asan -j "$1" -LE "slow|bench|plain|sanitized|browser|python|package|site|slurm$compiles"
}
rm -rf build/unit-tests
(
    step tests-e2e tests asan -j "$many" -L sanitized
    unit_tests "$many"
) >build/aside.log 2>&1 &
aside=$!
step build-asan build asan all
if [ -z "$slow" ]; then
    step build-tsan build tsan fa-coord \
        test_coordinator_link_host_thread test_coordinator_link_host_thread_waits \
        test_coordinator_link_link test_coordinator_link_router
    # fa-worker has one thread, so any will do there.
    cp -f build/asan/bin/fa-worker build/tsan/bin/ || true
fi
step build-gcc build dev all
[ -n "$slow" ] || step build-fuzz build fuzz fuzzers
step lint deploy/lint.sh build/dev
if [ -z "$slow" ]; then
    # They mostly wait, too.
    (step tests-tsan tests tsan -j "$jobs" -L threads) >build/tsan-tests.log 2>&1 &
    threads=$!
fi
step tests-plain tests dev -j $((jobs + 1)) -LE "slow|bench|left_out|sanitized|browser|python|package|site|slurm$compiles"
if [ -z "$slow" ]; then
    step fuzz tests fuzz -j $((jobs * 10)) -L fuzz
    wait "$threads" || true
    threads=""
    cat build/tsan-tests.log
    grep -q "^tests-tsan " "$times" || echo "tests-tsan FAILED 0" >>"$times"
fi
unit_tests $((jobs + 1))
echo "== the end-to-end tests, which ran beside these"
wait "$aside" || true
aside=""
cat build/aside.log
for name in tests-e2e tests-asan; do
    grep -q "^$name " "$times" || echo "$name FAILED 0" >>"$times"
done
finish
