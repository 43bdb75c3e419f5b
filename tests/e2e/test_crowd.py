"""Many hosts behind one sshd, which drops logins when there are too many at once (MaxStartups).

The hosts run the stand-in, which answers HELLO and never a lease.  test_crowd_slow.py has more of them.
"""

import getpass
import re
import time
import unittest

import boxes
import rig


class Crowd(boxes.Boxes):
    def crowd(self, n, startups, *args, addresses=1, within=240):
        """All of them get there, and none is blamed.  Returns the seconds and the CPU ms of the longest turn."""
        addresses = [f"127.0.0.{i + 1}" for i in range(addresses)]  # sshd takes 16 at most
        sshd = self.sshd([f"MaxStartups {startups}", *(f"ListenAddress {a}" for a in addresses[1:])])
        self.install_stand_in()
        self.of = {f"box{i:03}": sshd for i in range(n)}
        lines = []
        for i, name in enumerate(self.of):
            self.stand_in_folder(name, "beats", [f"seconds {within}"])
            lines.append(f"{name} ansible_host={addresses[i % len(addresses)]} ansible_port={sshd.port} "
                         f"ansible_user={getpass.getuser()} "
                         f"key={sshd.path('user')} hostkey={sshd.fingerprint()} workdir={self.path(name)}")
        self.sweep(self.small(), *lines, args=("--log", self.path("log"), *args), within=within)
        self.until("all hosts are there", lambda: all(self.heard(name, "WELCOME") for name in self.of))
        seconds = time.monotonic() - self.began
        log = self.log()
        self.assertNotIn("HOST-BROKEN", log)
        self.assertNotIn("HOST-FAILED", log)
        self.assertNotIn("trying again", self.stderr())
        self.stop()
        turns = re.search(r" TURNS n=\d+ cpu_ms=(\d+) busiest_us=(\d+)", self.log())
        print(f"\n{n} hosts in {seconds:.1f} s, MaxStartups {startups}: {log.count('LOGIN-DROPPED')} connections "
              f"dropped; reactor: {turns[1]} ms of CPU, {int(turns[2]) / 1000} ms in its longest turn")
        return seconds, int(turns[2]) / 1000

    def log(self):
        with open(self.path("log")) as f:
            return f.read()


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Small(Crowd):
    def test_all_get_there_and_none_is_blamed(self):
        self.crowd(24, "10:30:100")

    def test_addresses_of_one_sshd_are_one_server(self):
        self.crowd(16, "3", addresses=16)

    def test_with_the_systems_ssh_each_command_may_be_dropped(self):
        self.crowd(4, "2", "--ssh=openssh")
