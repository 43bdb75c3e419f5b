"""Connections without a key to the socket of a running coordinator (F13): the sweep goes on as without them.

FA_CONNECTIONS of them (200) are open at once: silent ones, random bytes, greetings of ZMTP without CURVE and with
noise for CURVE.  From 1,000 on, the rate is compared with those of sweeps without them.
"""

import glob
import os
import random
import resource
import socket
import statistics
import struct
import subprocess
import tempfile
import unittest

import boxes
import landscape
import rig

CONNECTIONS = int(os.environ.get("FA_CONNECTIONS", "200"))
COMPARED = 1000
PAIRS = 5
MEMORY_MIB = 128
END_S = 240  # a hang, whatever the speed of the machine


def greeting(mechanism):
    """The first 64 bytes of ZMTP 3.0 (rfc.zeromq.org/spec/23)."""
    return b"\xff" + bytes(8) + b"\x7f\x03\x00" + mechanism.ljust(20, b"\0") + bytes(32)


class Unauthenticated(boxes.Boxes):
    def first_words(self):
        chance = random.Random(1)
        while True:
            yield b""
            yield chance.randbytes(chance.randrange(1, 4096))
            yield greeting(b"NULL") + b"\x04\x19\x05READY"
            yield greeting(b"CURVE") + chance.randbytes(200)

    def flood(self):
        """Connections to the socket of the coordinator; they stay open."""
        [path] = glob.glob(os.path.join(self.env["XDG_RUNTIME_DIR"], "fa-coord-*", "*"))
        for _, word in zip(range(CONNECTIONS), self.first_words()):
            one = socket.socket(socket.AF_UNIX)
            self.addCleanup(one.close)
            # It may wait for room in the queue of new connections, but not for ever.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", END_S, 0))
            one.connect(path)
            try:
                one.sendall(word)
            except OSError:
                pass  # refused already

    def peak_mib(self):
        with open(f"/proc/{self.coord.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024

    def swept(self, name, attack):
        """Results a second of a sweep."""
        folder = tempfile.mkdtemp(dir=self.folder)
        landscape.make(os.path.join(folder, "bowl.json"), xs=(16, 32, 64), ys=(1, 2, 4), compile_ms=200)
        self.coord = self.start(folder, "sweep", "--device", "replay=bowl.json", "--db", "x.db", "--linger", "1")
        rig.until("a result", lambda: self.settled(folder) > 0 or self.coord.poll() is not None, END_S)
        if attack:
            self.flood()
        peak = self.peak_mib()
        while self.coord.poll() is None:
            try:
                peak = max(peak, self.peak_mib())
                self.coord.wait(0.05)
            except (OSError, StopIteration, subprocess.TimeoutExpired):
                pass
        self.assertEqual(self.coord.returncode, 0, self.stderr())
        rig.figure(f"memory of the coordinator {name}", peak, "MiB")
        self.assertLess(peak, MEMORY_MIB)
        self.assert_invariants(folder)
        [(n, seconds)] = self.query(folder, "SELECT count(*), (max(ended_utc) - min(ended_utc)) / 1e9 FROM lease "
                                            "WHERE purpose = 'screen' AND ending = 'done'")
        return n / seconds

    def test_connections_without_a_key_change_nothing(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, PAIRS * CONNECTIONS + 200), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.build_replay_runner()
        if CONNECTIONS < COMPARED:
            self.swept("with them", attack=True)
        else:  # in turn, so that what else the machine does meets both
            ratios = [self.swept("without", attack=False) / self.swept("with them", attack=True) for _ in range(PAIRS)]
            rig.figure("rate without them over rate with them", statistics.median(ratios), "times")
        print(f"repetitions: {CONNECTIONS}")


if __name__ == "__main__":
    unittest.main()
