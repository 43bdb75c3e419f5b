#!/usr/bin/env python3
"""start= and stop= of a machine of Vast.ai, by vastai (docs/fleet.md).

    pool l4 max=4 rate=0.40 start="deploy/fleet/vast.py start L4 0.40 IMAGE" stop="deploy/fleet/vast.py stop"

The cheapest offer with this GPU, at up to so many dollars an hour, is taken.  GPU names have '_' for each blank.  The
acquisition is the label, by which stop finds the machine.
"""

import json
import os
import subprocess
import sys
import time


def vastai(*args):
    return json.loads(subprocess.run(["vastai", *args, "--raw"], check=True, stdout=subprocess.PIPE, text=True).stdout)


def order(*args):
    """What is refused has the exit status 0, too."""
    answer = vastai(*args)
    if not answer.get("success"):
        sys.exit(f"vast.py: vastai {args[0]} {args[1]} is refused: {answer.get('msg', answer)}")


def mine(label):
    return [one for one in vastai("show", "instances") if one.get("label") == label]


def place(one):
    """The address of its sshd; None while it boots."""
    ports = (one.get("ports") or {}).get("22/tcp")
    if one.get("actual_status") != "running" or not ports:
        return None
    return one["public_ipaddr"].strip(), ports[0]["HostPort"]


def start(label, gpu, most, image):
    offers = vastai("search", "offers", f"gpu_name={gpu} num_gpus=1 rentable=true dph<={most}", "-o", "dph")
    if not offers:
        sys.exit(f"vast.py: no offer of {gpu} at up to ${most} an hour")
    order("create", "instance", str(offers[0]["id"]), "--image", image, "--disk", "20", "--ssh", "--direct", "--label",
          label)
    while not (found := [one for one in mine(label) if place(one)]):
        time.sleep(1)  # start= has a time limit
    address, port = place(found[0])
    print(f"host={address} port={port} user=root id={found[0]['id']}")


def stop(label):
    for one in mine(label):
        order("destroy", "instance", str(one["id"]))


def main(args):
    label = os.environ["FA_ACQUISITION"]
    if len(args) == 4 and args[0] == "start":
        start(label, *args[1:])
    elif args == ["stop"]:
        stop(label)
    else:
        sys.exit("usage: vast.py start GPU DOLLARS IMAGE, or vast.py stop")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as failed:
        sys.exit(f"vast.py: {' '.join(failed.cmd)} ended with status {failed.returncode}")
