#!/bin/sh
# For CI: tune into a new database and compare it with the base that is kept in
# the repository.  Run it in the folder of the sweep file:
#
#   deploy/regression.sh BASE.db NEW.db [FLAGS OF fa-coord sweep...]
#
#   FA_COORD     the program (fa-coord)
#   THRESHOLD    ignore smaller changes (3%)
#   COMPARE_JSON file for the whole comparison (none)
#
# Exit code: that of 'fa-coord compare': 0 no regression, 1 regression, 2
# unknown or bad arguments.  If the sweep could not be done (no host, a login, a
# cap, the database): its own code, 3 to 7 or above 128 (docs/exit-codes.md).
set -eu

if [ $# -lt 2 ]; then
    echo "usage: deploy/regression.sh BASE.db NEW.db [FLAGS OF fa-coord sweep...]" >&2
    exit 2
fi
base=$1 new=$2
shift 2
fa_coord=${FA_COORD:-fa-coord}
threshold=${THRESHOLD:-3%}

if [ ! -f "$base" ]; then
    echo "regression.sh: there is no base '$base'; run 'fa-coord sweep --db $base' and commit the database" >&2
    exit 2
fi
if [ -e "$new" ]; then
    echo "regression.sh: '$new' exists already; remove it: only a new measurement can be compared" >&2
    exit 2
fi

# 1 means that nothing is correct; the comparison reports that as a regression.
code=0
"$fa_coord" sweep "$@" --db "$new" --quiet || code=$?
case $code in
0 | 1) ;;
*)
    echo "regression.sh: the sweep ended with code $code; there is nothing to compare" >&2
    exit "$code"
    ;;
esac

if [ -n "${COMPARE_JSON:-}" ]; then
    "$fa_coord" compare "$base" "$new" --threshold "$threshold" --json >"$COMPARE_JSON" || code=$?
fi
exec "$fa_coord" compare "$base" "$new" --threshold "$threshold"
