"""An upload of the worker over a link that breaks off goes on where it stopped."""

import os
import unittest

import boxes
import rig

PACKETS = 66_000  # of a connection, which are not yet on the disk or no part of the program


class Upload(boxes.Boxes):
    def upload(self, early, *args):
        """The link breaks off so many times after 100 kB, and once after half of the worker."""
        line, proxy = self.by_proxy("a", self.stand_in("a", "beats"))
        size = os.path.getsize(os.path.join(self.bin, "fa-worker"))
        proxy.cuts = [100_000] * early + [size // 2]
        proxy.before_cut = self.arrived
        self.there = 0
        self.sweep(self.small(), line, within=240, args=("--log", self.path("log"), *args))
        self.until("the worker is there", lambda: self.heard("a", "WELCOME"))
        with open(self.path("log")) as f:
            log = f.read()
        self.stop()
        self.assertEqual(proxy.cuts, [])
        self.assertEqual(log.count("UPLOAD-CUT"), early + 1)
        since = log[log.index("UPLOAD-CUT"):]  # a crowded machine may refuse the first login
        self.assertNotIn("HOST-BROKEN", since, self.of["a"].said())
        self.assertEqual(self.stderr().count("the upload continues where it stopped"), 1)
        self.assertLess(proxy.carried, size + (early + 2) * PACKETS)

    def parts(self):
        return [self.path("a", name) for name in os.listdir(self.path("a")) if name.startswith(".fa-worker")]

    def arrived(self, carried):
        """Wait until the disk of the host has what this connection carried."""
        least = self.there + carried - PACKETS
        rig.until("it has arrived", lambda: max(map(os.path.getsize, self.parts()), default=0) >= least, 60)
        self.there = max(map(os.path.getsize, self.parts()))


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Broken(Upload):
    def test_three_quick_cuts_are_not_the_end(self):
        self.upload(3)

    def test_the_systems_ssh_goes_on_as_well(self):
        self.upload(1, "--ssh=openssh")
