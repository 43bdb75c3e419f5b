"""As many hosts behind one sshd as two cores can serve, with the limits of docs/reliability.md."""

import unittest

import rig
import test_crowd


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Large(test_crowd.Crowd):
    def large(self, n, within):
        _, busiest_ms = self.crowd(n, "10:30:100", within=within)
        self.assertLess(busiest_ms, 100)

    def test_64_within_half_a_minute(self):
        self.large(64, 30)

    def test_256_within_two_minutes(self):
        self.large(256, 120)
