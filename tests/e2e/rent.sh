#!/bin/sh
# rent.sh - a cloud of one machine: starts and stops a real sshd on loopback
#
#   rent.sh FOLDER start|stop
#
# FOLDER is that of an Sshd of rig.py.  The machine's own clock is FOLDER/clock:
# a line for each start and each stop that was done.  To make it behave badly:
#
#   FOLDER/slow        start waits until this file is gone
#   FOLDER/slow_stop   so does stop
#   FOLDER/boot        start takes so many seconds
#   FOLDER/fails       so many starts fail
#   FOLDER/stop_fails  so many stops fail
set -eu
folder=$1
action=$2

fails() { # fails FILE: true while its count is not used up
    [ -s "$1" ] || return 1
    left=$(cat "$1")
    [ "$left" -gt 0 ] || return 1
    echo $((left - 1)) >"$1"
}

tick() { # tick WORD
    echo "$1 $(date +%s.%N) $FA_HOST $FA_ACQUISITION" >>"$folder/clock"
}

start() {
    tick asked
    while [ -e "$folder/slow" ]; do sleep 0.02; done
    if fails "$folder/fails"; then
        echo "no machine is left in this zone" >&2
        exit 3
    fi
    tick start
    [ ! -e "$folder/boot" ] || sleep "$(cat "$folder/boot")"
    PATH=$PATH:/usr/sbin
    "$(command -v sshd)" -E "$folder/sshd.log" -o "PidFile=$folder/pid" -f "$folder/sshd_config"
    echo "the machine boots"
    echo "host=127.0.0.1 port=$(sed -n 's/^Port //p' "$folder/sshd_config") id=m-$FA_ACQUISITION"
}

stop() {
    tick tried
    while [ -e "$folder/slow_stop" ]; do sleep 0.02; done
    if fails "$folder/stop_fails"; then
        echo "the cloud does not answer" >&2
        exit 4
    fi
    if [ -s "$folder/pid" ]; then
        pid=$(cat "$folder/pid")
        for child in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do
            kill "$child" 2>/dev/null || true
        done
        kill "$pid" 2>/dev/null || true
        while [ -n "$(tr -d '\0' <"/proc/$pid/cmdline" 2>/dev/null)" ]; do sleep 0.02; done
        rm -f "$folder/pid"
    fi
    tick stop
}

"$action"
