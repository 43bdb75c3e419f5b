"""The long form of test_connections.py: FA_SWEEPS seeds, with connections that are open on one side only."""

import os
import unittest

import faulty_proxy
import rig
import test_connections

SWEEPS = int(os.environ.get("FA_SWEEPS", "60"))


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Many(test_connections.Connections):
    def test_sweeps_survive_their_connections(self):
        self.suffer(SWEEPS, faulty_proxy.Fate.KINDS + ("half",))


if __name__ == "__main__":
    unittest.main()
