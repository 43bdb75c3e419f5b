#!/bin/sh
# The rules of docs/style.md that a tool can check.
#
#   lint.sh BUILD          clang-tidy, its analyzer and cppcheck on changed
#                          files, the rest on all files
#   lint.sh --all BUILD    everything on all files; 4 minutes on two cores
#
# BUILD is a build folder with compile_commands.json.  Changed files are those
# that differ from FA_BASE (a commit).  Without FA_BASE they are those of the
# newest commits (changed.sh), the last ones first: FA_LINT_MOST (12) for the
# analyzer, three times as many programs and tests for clang-tidy's patterns and
# cppcheck.  Of each function the analyzer follows a third of the states that it
# follows with --all, which takes a third of the time.
set -u
cd "$(dirname "$0")/.."
all=no
if [ "${1:-}" = --all ]; then
    all=yes
    shift
fi
build=${1:?usage: deploy/lint.sh [--all] BUILD}
verdict=$(mktemp)
trap 'rm -f "$verdict"' EXIT

complain() { # complain TITLE < lines: any line is a failure
    lines=$(cat)
    [ -z "$lines" ] && return
    printf 'lint: %s\n%s\n' "$1" "$lines"
    echo bad >>"$verdict" # complain runs in a pipe's subshell
}

sources=$(git ls-files '*.c' '*.h' | grep -v '^tests/fixtures/')
units=$(git ls-files 'common/*.c' 'coordinator/*.c' 'worker/*.c')
known=$(grep -o '"file": "[^"]*"' "$build/compile_commands.json" | cut -d'"' -f4)
compiled() { # compiled FILE...: those that BUILD compiles
    for unit in "$@"; do
        case "$known" in *"/$unit"*) echo "$unit" ;; esac
    done
}

newest() { # newest N < files: of those the first N that changed, newest first
    candidates=$(cat)
    for file in $touched; do
        case "
$candidates
" in *"
$file
"*) echo "$file" ;; esac
    done | awk '!seen[$0]++' | head -n "$1"
}

# shellcheck disable=SC2046,SC2086  # one word a file
built=$(compiled $units)
tests=$(compiled $(git ls-files 'tests/*.c'))
nodes=225000 # the default
if [ $all = yes ]; then
    deep=$built
    shallow=$built
else
    nodes=75000
    touched=$(deploy/changed.sh) || exit 1
    most=${FA_LINT_MOST:-12}
    [ -z "${FA_BASE:-}" ] || most=$(echo "$touched" | wc -l)
    deep=$(echo "$built" | newest "$most")
    shallow=$(echo "$built" | newest $((3 * most)))
    tests=$(echo "$tests" | newest $((3 * most)))
    echo "lint: clang-tidy and cppcheck on $(echo "$shallow" | grep -c .), the analyzer on $(echo "$deep" | grep -c .)" \
        "of $(echo "$built" | grep -c .) files"
fi

tidy() { # tidy CHECKS ARGUMENT... < files
    checks=$1
    shift
    xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet --checks="$checks" "$@" \
        --extra-arg=-Wno-unknown-warning-option -p "$build" 2>/dev/null |
        grep -E 'warning:|error:' | sort -u
}

# Headers that a source includes before anything else; its build shows that they compile alone.
included_first() { # included_first SOURCE...
    awk 'FNR == 1 { before = 1 }
        before && /^#include/ { before = 0; if (gsub(/"/, "", $2)) print $2 }' "$@" | sort -u
}

self_contained() { # self_contained HEADER...: those that do not compile alone
    for header in "$@"; do
        printf '#include "%s"\n' "$header" |
            cc -std=c17 -D_GNU_SOURCE -fsyntax-only -I. $(pkg-config --cflags libsodium 2>/dev/null) -x c - 2>/dev/null ||
            echo "$header"
    done
}

# shellcheck disable=SC2086  # one word a file
{
    echo "$sources" | xargs -r -P "$(nproc)" -n 64 clang-format --dry-run 2>&1 |
        grep 'warning:' | cut -d: -f1 | sort -u |
        complain "not formatted as .clang-format says (run: cmake --build $build --target format)"

    programs=$(git ls-files 'common/*.[ch]' 'coordinator/*.[ch]' 'worker/*.[ch]')
    grep -nE '\b(strtok|localtime|gmtime|sprintf|strcpy|strcat|system|popen|usleep|gets)\(' $programs |
        complain "banned function"

    git ls-files | grep -E '(^|/)(utils?|helpers?|misc)\.[ch]$|_(v[0-9]+|new|old|final|fixed)\.' |
        complain "a file name that says nothing (util, helper, misc) or tells a history (_v2, _new)"

    grep -nE '^# *if 0|\b(TODO|FIXME|XXX)\b' $sources | complain "unfinished or dead"

    deploy/lint_order.py "$build" | complain "breaks the order of the folders (docs/code-map.md)"

    deploy/measure_house.py --beyond "$build" 2>&1 | complain "beyond a measure of docs/contributing.md"

    self_contained $(git ls-files 'common/*.h' 'coordinator/*.h' 'worker/*.h' | grep -v '_cuda\.h$' |
        grep -vxF "$(included_first $built)") |
        complain "headers that do not compile on their own"

    [ -z "$shallow" ] || cppcheck --quiet --inline-suppr --std=c11 --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --error-exitcode=0 -I. -D_GNU_SOURCE \
        -j "$(nproc)" $shallow 2>&1 | complain "cppcheck"

    # clang-tidy's patterns, and the compiler's warnings that come with them, are
    # quick; its analyzer takes ten times as long.
    echo "$tests" | tidy '-*,clang-diagnostic-*,misc-redundant-expression' | complain "clang's warnings"
    echo "$shallow" | tidy '-clang-analyzer-*' | complain "clang-tidy"
    echo "$deep" | tidy '-*,clang-analyzer-*,-clang-analyzer-valist.Uninitialized,-clang-analyzer-optin.performance.Padding,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling' \
        --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=$nodes |
        complain "clang-tidy's analyzer"
}

[ -s "$verdict" ] && exit 1
echo "lint: clean"
