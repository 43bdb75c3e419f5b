#!/usr/bin/env python3
"""The command lines of clouds, as far as deploy/fleet/ uses them; each machine is a real sshd on loopback.

Called by a link named gcloud, aws, runpodctl or vastai.  FA_CLOUD is the folder of its one machine, which rent.sh
starts and stops; FA_CLOUD/machines has a line for each that exists, with its name, label or tag.  What the script does
not pass as the real tool wants it is refused.  With FA_CLOUD/down every tool fails, as without a network; with
FA_CLOUD/refuses vastai refuses orders, as the real one does; with FA_CLOUD/late aws does not know a machine at first.
"""

import json
import os
import re
import subprocess
import sys

FOLDER = os.environ["FA_CLOUD"]
RENT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "rent.sh")
LIST = os.path.join(FOLDER, "machines")
ID = {"gcloud": "{}", "aws": "i-0{}", "runpodctl": "pod{}", "vastai": "77"}


def machines():
    try:
        with open(LIST) as f:
            return f.read().split()
    except FileNotFoundError:
        return []


def rent(action):
    env = {**os.environ, "FA_HOST": os.environ.get("FA_HOST", "-")}
    subprocess.run([RENT, FOLDER, action], check=True, stdout=subprocess.DEVNULL, env=env)


def create(name):
    if machines():
        sys.exit("quota exceeded: one machine")
    with open(LIST, "w") as f:
        f.write(name + "\n")
    rent("start")


def destroy(name):
    if name not in machines():
        sys.exit(f"{name}: not found")
    rent("stop")
    os.unlink(LIST)


def port():
    with open(os.path.join(FOLDER, "sshd_config")) as f:
        return int(re.search(r"^Port (\d+)", f.read(), re.M)[1])


def is_late():
    """Not all of EC2 knows a new machine at once: FA_CLOUD/late has how many questions come too early."""
    path = os.path.join(FOLDER, "late")
    left = 0
    if os.path.exists(path):
        with open(path) as f:
            left = int(f.read())
    if left > 0:
        with open(path, "w") as f:
            f.write(str(left - 1))
    return left > 0


def option(args, name):
    """The value of an option, which must be there."""
    return args[args.index(name) + 1]


def gcloud(args):
    verb, name = args[2], args[3]
    if args[:2] != ["compute", "instances"]:
        sys.exit("unknown group")
    if verb == "create":
        option(args, "--zone"), option(args, "--source-instance-template")
        if not re.fullmatch(r"[a-z][-a-z0-9]{0,61}[a-z0-9]", name):
            sys.exit(f"invalid name {name}")
        create(name)
    elif verb == "describe":
        print("127.0.0.1" if name in machines() else sys.exit("not found"))
    elif verb == "list":
        print("\n".join(m for m in machines() if option(args, "--filter") == f"name={m}"))
    elif verb == "delete" and "--quiet" in args:
        destroy(name)
    else:
        sys.exit(f"unknown command {verb}")


def aws(args):
    verb = args[1]
    option(args, "--region")
    if verb == "run-instances":
        tag = re.search(r"Key=fa-acquisition,Value=([-\w]+)", option(args, "--tag-specifications"))[1]
        if option(args, "--client-token") != tag:
            sys.exit("another token")
        create(tag)
        print(f"i-0{tag}")
    elif verb == "wait":
        option(args, "--instance-ids")
    elif verb == "describe-instances" and "--filters" in args:
        token = re.fullmatch(r"Name=client-token,Values=([-\w]+)", option(args, "--filters"))[1]
        print("\n".join(f"i-0{m}" for m in machines() if m == token and not is_late()))
    elif verb == "describe-instances":
        print("127.0.0.1" if option(args, "--instance-ids")[3:] in machines() else sys.exit("not found"))
    elif verb == "terminate-instances":
        if is_late() or option(args, "--instance-ids")[3:] not in machines():
            sys.exit("An error occurred (InvalidInstanceID.NotFound) when calling the TerminateInstances operation")
        destroy(option(args, "--instance-ids")[3:])
    else:
        sys.exit(f"unknown command {verb}")


def runpodctl(args):
    if args[:2] == ["create", "pod"]:
        if option(args, "--gpuType") != "NVIDIA L4" or option(args, "--ports") != "22/tcp":
            sys.exit("no such pod")
        option(args, "--imageName")
        create(option(args, "--name"))
        print(f'pod "pod{machines()[0]}" created for $0.430 / hr')
    elif args[:2] == ["get", "pod"] and "--allfields" in args:
        print("ID\tNAME\tGPU\tIMAGE NAME\tSTATUS\tPORTS")
        for m in machines():
            print(f"pod{m}\t{m}\t1 NVIDIA L4\timage\tRUNNING\t10.0.0.1:60->60 (prv,http),127.0.0.1:{port()}->22 (pub,tcp)")
    elif args[:2] == ["remove", "pod"]:
        destroy(args[2][3:])
    else:
        sys.exit("unknown command")


def vastai(args):
    if "--raw" not in args:
        sys.exit("not for programs")
    if args[:2] == ["search", "offers"]:
        print(json.dumps([{"id": 77, "dph_total": 0.31}] if "gpu_name=L4 " in args[2] else []))
    elif args[1] == "instance" and os.path.exists(os.path.join(FOLDER, "refuses")):
        print(json.dumps({"success": False, "msg": "try again later"}))
    elif args[:2] == ["create", "instance"] and args[2] == "77":
        option(args, "--image")
        create(option(args, "--label"))
        print(json.dumps({"success": True, "new_contract": 4711}))
    elif args[:2] == ["show", "instances"]:
        print(json.dumps([{"id": 4711, "label": m, "actual_status": "running", "public_ipaddr": "127.0.0.1\n",
                           "ports": {"22/tcp": [{"HostIp": "0.0.0.0", "HostPort": str(port())}]}}
                          for m in machines()]))
    elif args[:2] == ["destroy", "instance"] and args[2] == "4711":
        destroy(machines()[0])
        print(json.dumps({"success": True}))
    else:
        sys.exit("unknown command")


if os.path.exists(os.path.join(FOLDER, "down")):
    sys.exit("the service does not answer")
{"gcloud": gcloud, "aws": aws, "runpodctl": runpodctl, "vastai": vastai}[os.path.basename(sys.argv[0])](sys.argv[1:])
