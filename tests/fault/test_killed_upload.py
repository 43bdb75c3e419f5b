"""The upload of fa-worker is killed at drawn bytes; the same command goes on, and no part of a file is left (F34).

FA_CUTS says how often, FA_SEED draws the same bytes and victims again.  The victim is the coordinator, the session of
sshd that carries the upload, or the shell that writes the file.
"""

import os
import random
import signal
import unittest

import boxes
import rig

CUTS = int(os.environ.get("FA_CUTS", "4"))
VICTIMS = ("coordinator", "session", "shell")
END_S = 240  # a hang, whatever the speed of the machine


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Upload(boxes.Boxes):
    def parts(self):
        """Uploads that are not complete: name and size."""
        found = []
        for name in os.listdir(self.path("b0")):
            if name.startswith(".fa-worker-"):
                try:
                    found.append((name, os.stat(self.path("b0", name)).st_size))
                except FileNotFoundError:
                    pass
        return found

    def complete(self):
        return [name for name in os.listdir(self.path("b0")) if name.startswith("fa-worker-")]

    def victims(self, kind):
        if kind == "coordinator":
            return [self.coord.pid]
        sessions = [pid for pid in self.tree("b0") if rig.parent(pid) == self.of["b0"].process.pid]
        if kind == "session":
            return sessions
        there = [pid for pid in self.tree("b0") if boxes.working_folder(pid) == self.path("b0") + "/"]
        return [pid for pid in there if rig.parent(pid) not in there]  # without its 'cat'

    def start_sweep(self, folder):
        self.coord = self.start(folder, "sweep", "--device", "replay=../one.json", "--db", "x.db", "--hosts",
                                self.path("hosts.txt"), "--linger", "1")

    def cut(self, n, kind, share):
        """Kill when so much of the file is there, if it is seen in time; then let the sweep end."""
        for name in self.complete():
            os.remove(self.path("b0", name))
        folder = self.path(f"sweep{n}")
        os.mkdir(folder)
        self.start_sweep(folder)
        enough = share * os.path.getsize(os.path.join(rig.BIN, "fa-worker"))
        rig.until("an upload", lambda: self.complete() or any(size >= enough for _, size in self.parts()), END_S)
        seen = not self.complete()
        for pid in self.victims(kind):
            boxes.send(pid, signal.SIGKILL)
        if kind == "coordinator":
            self.coord.wait()
            self.start_sweep(folder)
        self.assertEqual(self.coord.wait(END_S), 0, self.stderr())
        rig.until("nothing runs", lambda: not self.processes(), END_S)
        self.assertEqual((len(self.complete()), self.parts()), (1, []), f"after a killed {kind} at {enough:.0f} bytes")
        self.assertEqual(self.query(folder, "SELECT outcome FROM outcome"), [("correct",)])
        return seen

    def test_an_upload_that_is_killed_is_repeated_and_leaves_nothing(self):
        seed = int(os.environ.get("FA_SEED", str(random.randrange(1 << 30))))
        chance = random.Random(seed)
        print(f"FA_SEED={seed} FA_CUTS={CUTS}", flush=True)
        self.build_replay_runner()  # leaves one.json, which is swept
        self.hosts(self.box("b0"))
        seen = sum(self.cut(n, VICTIMS[n % len(VICTIMS)], chance.random()) for n in range(CUTS))
        print(f"repetitions: {CUTS}")
        rig.figure("killed after the upload", CUTS - seen, "times")


if __name__ == "__main__":
    unittest.main()
