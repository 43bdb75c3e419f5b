#!/bin/sh
# House rules that a tool can check (docs/contributing.md).  Usage: lint.sh BUILD
# where BUILD is a build folder with compile_commands.json.
set -u
cd "$(dirname "$0")/.."
build=${1:?usage: deploy/lint.sh BUILD}
verdict=$(mktemp)
trap 'rm -f "$verdict"' EXIT

complain() { # complain TITLE < lines: fails when there are any
    lines=$(cat)
    [ -z "$lines" ] && return
    printf 'lint: %s\n%s\n' "$1" "$lines"
    echo bad >>"$verdict" # complain runs in a pipe's subshell
}

sources=$(git ls-files '*.c' '*.h' | grep -v '^tests/fixtures/')
units=$(git ls-files 'common/*.c' 'coordinator/*.c' 'worker/*.c')

# shellcheck disable=SC2086  # one word a file
{
    clang-format --dry-run $sources 2>&1 | grep 'warning:' | cut -d: -f1 | sort -u |
        complain "not formatted as .clang-format says (run: cmake --build $build --target format)"

    programs=$(git ls-files 'common/*.[ch]' 'coordinator/*.[ch]' 'worker/*.[ch]')
    grep -nE '\b(strtok|localtime|gmtime|sprintf|strcpy|strcat|system|popen|usleep|gets)\(' $programs |
        complain "banned function"

    git ls-files | grep -E '(^|/)(utils?|helpers?|misc)\.[ch]$|_(v[0-9]+|new|old|final|fixed)\.' |
        complain "a name without an idea, or with a history"

    grep -nE '^# *if 0|\b(TODO|FIXME|XXX)\b' $sources | complain "unfinished or dead"

    for header in $(git ls-files 'common/*.h' 'coordinator/*.h' 'worker/*.h' | grep -v '_cuda\.h$'); do
        printf '#include "%s"\n' "$header" |
            cc -std=c17 -D_GNU_SOURCE -fsyntax-only -I. $(pkg-config --cflags libsodium 2>/dev/null) -x c - 2>/dev/null ||
            echo "$header"
    done | complain "headers that do not compile on their own"

    cppcheck --quiet --inline-suppr --std=c11 --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --error-exitcode=0 -I. -D_GNU_SOURCE \
        -j "$(nproc)" $units 2>&1 | complain "cppcheck"

    known=$(grep -o '"file": "[^"]*"' "$build/compile_commands.json" | cut -d'"' -f4)
    for unit in $units; do
        case "$known" in *"/$unit"*) echo "$unit" ;; esac
    done | xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$build" 2>/dev/null |
        grep -E 'warning:|error:' | sort -u | complain "clang-tidy"
}

[ -s "$verdict" ] && exit 1
echo "lint: clean"
