#!/bin/sh
# runpod.sh - start= and stop= of a pod of RunPod, by runpodctl (docs/fleet.md)
#
#   pool l4 max=4 rate=0.43 start="deploy/fleet/runpod.sh start NVIDIA_L4 IMAGE" stop="deploy/fleet/runpod.sh stop"
#
# The GPU's name has '_' for each blank.  The image must run sshd on port 22.
# The pod is called as the acquisition is, by which stop finds it.
set -eu
name=${FA_ACQUISITION:?it is set by fa-coord}

pods() { # ID NAME ... PORTS of this acquisition; runpodctl separates columns by tabs
    all=$(runpodctl get pod --allfields) # a pipe would hide that it failed
    printf '%s\n' "$all" | awk -F '\t' -v name="$name" '
        { for (i = 1; i <= NF; i++) gsub(/^ +| +$/, "", $i) }
        $2 == name'
}

place() { # "1.2.3.4:10022->22 (pub,tcp)" among the ports
    pods | sed -n 's/.*[ ,\t]\([0-9.]*\):\([0-9]*\)->22 (pub,tcp).*/host=\1 port=\2/p'
}

start() {
    runpodctl create pod --name "$name" --gpuType "$(echo "$1" | tr _ ' ')" --imageName "$2" \
        --containerDiskSize 20 --ports 22/tcp --startSSH >&2
    until found=$(place) && [ -n "$found" ]; do sleep 1; done # start= has a time limit
    echo "$found user=root id=$(pods | cut -f 1 | tr -d ' ')"
}

stop() {
    mine=$(pods)
    for id in $(printf '%s\n' "$mine" | cut -f 1); do
        runpodctl remove pod "$id" >&2
    done
}

case ${1:?usage: runpod.sh start GPU IMAGE, or runpod.sh stop} in
start) start "${2:?usage: runpod.sh start GPU IMAGE}" "${3:?usage: runpod.sh start GPU IMAGE}" ;;
stop) stop ;;
*) echo "runpod.sh: '$1' is not start or stop" >&2; exit 2 ;;
esac
