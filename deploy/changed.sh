#!/bin/sh
# The files that differ from FA_BASE (a commit); without FA_BASE those of the
# newest day, of 16 commits at most, the last ones first.  For checks that look
# at what changed only.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${FA_BASE:-}" ]; then
    base=$(git merge-base "$FA_BASE" HEAD) || {
        echo "changed.sh: FA_BASE '$FA_BASE' has no commit in common with HEAD" >&2
        exit 1
    }
    git diff --name-only "$base"
    exit
fi
git diff --name-only HEAD
since=$(($(git log -1 --format=%ct) - 86400))
git log -n 16 --since="$since" --name-only --format=
