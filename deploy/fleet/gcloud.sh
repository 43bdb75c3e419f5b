#!/bin/sh
# gcloud.sh - start= and stop= of a machine of Google Compute Engine (docs/fleet.md)
#
#   pool l4 max=8 rate=0.71 start="deploy/fleet/gcloud.sh start ZONE TEMPLATE" stop="deploy/fleet/gcloud.sh stop ZONE"
#
# TEMPLATE is an instance template with the GPU, the image and your SSH key.
# The machine is called as the acquisition is, so that stop finds it even if
# start was interrupted before it printed anything.
set -eu
zone=${2:?usage: gcloud.sh start ZONE TEMPLATE, or gcloud.sh stop ZONE}
name=${FA_ACQUISITION:?it is set by fa-coord}

start() {
    gcloud compute instances create "$name" --zone "$zone" --source-instance-template "$1" --quiet >&2
    address=$(gcloud compute instances describe "$name" --zone "$zone" \
        --format 'value(networkInterfaces[0].accessConfigs[0].natIP)')
    echo "host=$address id=$name"
}

stop() {
    found=$(gcloud compute instances list --filter "name=$name" --zones "$zone" --format 'value(name)')
    [ -n "$found" ] || return 0
    gcloud compute instances delete "$name" --zone "$zone" --quiet >&2
}

case $1 in
start) start "${3:?usage: gcloud.sh start ZONE TEMPLATE}" ;;
stop) stop ;;
*) echo "gcloud.sh: '$1' is not start or stop" >&2; exit 2 ;;
esac
