"""A real Slurm on one machine: munged, slurmctld and some slurmd, each with its own folder, ports and processes.

A node has two GPUs, which are device files without a device.  Jobs of the partition 'urgent' preempt those of 'gpu'.

As root only: slurmd starts the jobs of users, and here it is one user.  SLURM_CONF says to every Slurm command which
cluster it speaks to, so several of them may run beside each other.
"""

import os
import shutil
import signal
import socket
import stat
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def missing():
    """Why no Slurm can run here, or None."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if absent:
        return "not installed (deploy/setup.sh --slurm): " + " ".join(absent)
    return None if os.geteuid() == 0 else "slurmd needs root"


def free_ports(n):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder, nodes=2, cpus=2, gpus=2):
        self.folder = folder
        self.processes = {}
        self.nodes = nodes
        os.makedirs(folder, mode=0o755)
        os.makedirs(self.path("state"))
        self.env = {"PATH": PATH, "SLURM_CONF": self.path("slurm.conf"), "LANG": "C", "HOME": folder}
        self._munge()
        self._make_gpus(gpus)
        self._configure(cpus, gpus)
        self.start_controller()
        for i in range(1, nodes + 1):
            self.start_node(i)
        self._await_nodes()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, name, *args, key=None):
        program = shutil.which(name, path=PATH)
        with open(self.path(f"{key or name}.out"), "ab") as log:
            self.processes[key or name] = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=log,
                                                           stderr=log, env=self.env)

    def start_controller(self):
        self.start("slurmctld", "-D", "-f", self.path("slurm.conf"))

    def stop_controller(self):
        self.processes["slurmctld"].terminate()
        self.processes["slurmctld"].wait(60)

    def start_node(self, i):
        self.start("slurmd", "-D", "-f", self.path("slurm.conf"), "-N", f"n{i}", key=f"n{i}")

    def _munge(self):
        with open(self.path("munge.key"), "wb") as f:
            f.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o600)
        # its socket must lie where every folder above belongs to root and nobody else may write
        self.start("munged", "-F", "--force", f"--key-file={self.path('munge.key')}",
                   f"--socket={self.path('munge.sock')}", f"--pid-file={self.path('munge.pid')}",
                   f"--log-file={self.path('munged.log')}", f"--seed-file={self.path('munge.seed')}")
        self._until("munged listens", lambda: os.path.exists(self.path("munge.sock")))

    def _make_gpus(self, gpus):
        """Regular files would be refused."""
        with open(self.path("gres.conf"), "w") as f:
            for node in range(1, self.nodes + 1):
                for gpu in range(gpus):
                    device = self.path(f"n{node}-gpu{gpu}")
                    os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
                    f.write(f"NodeName=n{node} Name=gpu File={device}\n")

    def _configure(self, cpus, gpus):
        ports = free_ports(self.nodes + 1)
        host = socket.gethostname()
        lines = [
            "ClusterName=rig", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", f"SlurmctldPort={ports[0]}",
            "AuthType=auth/munge", "CredType=cred/munge", f"AuthInfo=socket={self.path('munge.sock')}",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "ReturnToService=2", "MpiDefault=none",
            f"StateSaveLocation={self.path('state')}", f"SlurmdSpoolDir={self.path('spool-%n')}",
            f"SlurmctldPidFile={self.path('ctld.pid')}", f"SlurmdPidFile={self.path('slurmd-%n.pid')}",
            f"SlurmctldLogFile={self.path('ctld.log')}", f"SlurmdLogFile={self.path('slurmd-%n.log')}",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SchedulerParameters=sched_min_interval=0",
            "AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none",
            "SlurmdParameters=config_overrides", "GresTypes=gpu",
            "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", "KillWait=5", "MinJobAge=300", "SlurmdTimeout=300",
        ]
        for i in range(1, self.nodes + 1):
            lines.append(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} CPUs={cpus} "
                         f"RealMemory=1000 Gres=gpu:{gpus}")
        lines.append(f"PartitionName=gpu Nodes=n[1-{self.nodes}] Default=YES MaxTime=60 State=UP")
        lines.append(f"PartitionName=urgent Nodes=n[1-{self.nodes}] MaxTime=60 State=UP PriorityTier=10 PreemptMode=OFF")
        lines.append(f"PartitionName=closed Nodes=n[1-{self.nodes}] MaxTime=60 State=DOWN")
        with open(self.path("slurm.conf"), "w") as f:
            f.write("\n".join(lines) + "\n")

    def run(self, *command):
        return subprocess.run([shutil.which(command[0], path=PATH), *command[1:]], env=self.env, capture_output=True,
                              text=True, timeout=60)

    def jobs(self, *fields):
        """A line a job, also one that has ended."""
        return self.run("squeue", "--noheader", "--array", "--states=all", "--format", "|".join(fields or ("%i", "%T"))
                        ).stdout.split("\n")[:-1]

    def _await_nodes(self):
        self._until("all nodes are idle",
                    lambda: self.run("sinfo", "-h", "-p", "gpu", "-t", "idle", "-o", "%D").stdout.strip() == str(self.nodes))

    def _until(self, what, check, seconds=60):
        deadline = time.monotonic() + seconds
        while not check():
            if time.monotonic() > deadline or any(p.poll() is not None for p in self.processes.values()):
                raise AssertionError(f"{what}: " + self.logs())
            time.sleep(0.05)

    def logs(self):
        said = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".out", ".log")):
                with open(self.path(name), errors="replace") as f:
                    said.append(f"{name}: {f.read()[-1500:]}")
        return "\n".join(said)

    def stop(self):
        """Jobs first: their processes are slurmd's."""
        self.run("scancel", "--full", "--signal=KILL", "--state=RUNNING", "-u", "root")
        self.run("scancel", "-u", "root")
        deadline = time.monotonic() + 20
        while self.run("squeue", "-h").stdout.strip() and time.monotonic() < deadline:
            time.sleep(0.05)
        for process in reversed(list(self.processes.values())):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
