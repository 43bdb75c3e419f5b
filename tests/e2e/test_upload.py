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


PADDING = 600_000  # bytes of the kernel's source


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Once(boxes.Boxes):
    """Nothing travels to a machine that has it: not the worker, not the sources."""

    def setUp(self):
        super().setUp()
        self.size = os.path.getsize(os.path.join(self.bin, "fa-worker"))

    def padded(self, **values):
        folder = self.few(**values)
        with open(os.path.join(folder, "vector_add.cu"), "a") as f:
            f.write("// padding\n" * (PADDING // 11))
        return folder

    def sweep_all(self, *lines, db, folder):
        self.sweep(folder, *lines, args=("--db", db))
        self.assertEqual(self.coord.wait(240), 0, self.stderr())

    def test_sources_travel_once_though_worker_and_database_are_others(self):
        folder = self.padded()
        line, proxy = self.by_proxy("a", self.box("a"))
        self.sweep_all(line, db="first.db", folder=folder)
        self.assertGreater(proxy.carried, self.size + PADDING)
        name = max(os.listdir(self.path("a", "bundles")), key=lambda n: os.path.getsize(self.path("a", "bundles", n)))
        for what, least, most in ("it is there", 0, PADDING / 2), ("damaged", PADDING, 1.5 * PADDING), (
                "removed", PADDING, 1.5 * PADDING), ("there again", 0, PADDING / 2):
            path = self.path("a", "bundles", name)
            if what == "damaged":
                with open(path, "r+b") as f:
                    f.seek(PADDING // 2)
                    f.write(b"#")
            elif what == "removed":
                os.unlink(path)
            with self.subTest(what):
                before = proxy.carried
                self.sweep_all(line, db=f"{what}.db", folder=folder)
                rig.figure(f"carried to a machine that has the worker, sources: {what}", (proxy.carried - before) / 1e3, "kB")
                self.assertTrue(least <= proxy.carried - before < most, proxy.carried - before)

    def test_two_lines_of_one_machine(self):
        folder = self.padded(BLOCK_SIZE=[32, 64, 128, 256])
        line = self.box("a")
        lines = [self.by_proxy("a", f"{line} gpus={gpu}") for gpu in (0, 1)]
        self.sweep_all(*[line for line, _ in lines], db="vector_add.db", folder=folder)
        self.assertEqual(self.query(folder, "SELECT count(DISTINCT host), count(*) FROM gpu"), [(2, 2)])
        carried = sum(proxy.carried for _, proxy in lines)
        rig.figure("carried for two lines of one machine", carried / (self.size + PADDING), "of worker and sources")
        self.assertLess(carried, 1.3 * (self.size + PADDING))
        self.assertEqual([name for name in os.listdir(self.path("a")) if name.startswith(".fa-")], [])
