"""Faults that must not make a sweep wait for ever.

In every test here (I7, I8), the sweep must end by itself with exit status 0 and every configuration correct,
within the seconds that the test names.  Without the fault it takes about 4 s.
"""

import os
import time
import unittest

import boxes
import rig


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Artifacts(boxes.Boxes):
    """Artifacts are missing on the host that built them."""

    def test_deleted_in_mid_sweep_they_are_built_again(self):
        self.sweep(self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8]), self.box("both"))
        for n in 2, 5, 8, 11, 14:
            self.until_settled(n)
            self.empty("both")
        self.finish()

    def test_deleted_on_a_builder_they_are_built_again(self):
        self.sweep(self.small(shapes=3, elements=100001),
                   self.box("builds", "role=builder"), self.box("measures", "role=gpu"))
        for _ in range(3):
            self.until_it_builds_ahead(shapes=3)
            self.empty("builds")
        self.finish()

    def test_a_worker_that_kept_its_journal_and_lost_its_cache_is_resumed(self):
        self.sweep(self.small(shapes=3, elements=100001), self.box("both"))
        self.until_settled(3)
        self.end_coordinator()
        time.sleep(1)  # the worker finishes what it runs and keeps the results
        self.empty("both")
        self.resume()
        self.finish()

    def test_a_builder_whose_artifacts_are_always_missing_is_replaced(self):
        """A worker answers MISSING to every FETCH: another host must build."""
        self.sweep(self.small(), self.stand_in("builds", "vanish", "role=builder"), self.box("both"))
        self.finish()
        self.assertGreater(self.heard("builds", "FETCH"), 0)

    def test_a_fetch_that_is_never_answered_has_a_deadline(self):
        self.sweep(self.small(), self.stand_in("builds", "mute-fetch", "role=builder"), self.box("both"), within=60)
        self.finish()
        self.assertGreater(self.heard("builds", "FETCH"), 0)

    def test_a_fetch_whose_answer_died_with_the_worker_is_sent_again(self):
        """The coordinator has no copies, for which there is no folder: the GPU's host needs the builder's."""
        os.makedirs(self.path("home", ".cache", "fa-coord"), exist_ok=True)
        with open(self.path("home", ".cache", "fa-coord", "kept"), "w"):
            pass
        self.sweep(self.small(shapes=3, elements=100001),
                   self.box("builds", "role=builder"), self.box("measures", "role=gpu"))
        self.until_it_builds_ahead(shapes=3)
        self.freeze("builds")
        self.until_stuck()  # the GPU's host has asked for an artifact of the frozen one
        self.kill("builds")
        self.finish()


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Workers(boxes.Boxes):
    """One worker misbehaves, another is honest."""

    def test_a_worker_that_only_beats_loses_its_leases(self):
        """The silent worker loses a lease LOST_S after its limit at the latest."""
        timeout_s = 0.5
        folder = self.small(shapes=3, elements=100001, timeout_s=timeout_s)
        self.sweep(folder, self.stand_in("beats", "beats", "role=gpu", ["credit 1"]), self.box("both"),
                   within=timeout_s + boxes.SLACK_S + boxes.LOST_S + 10)
        self.until("it has a lease", lambda: self.heard("beats", "MEASURE") > 0)
        self.finish()

    def test_a_worker_that_claims_foreign_work_does_not_get_it(self):
        """Its HELLO.running lists all builds and measurements of the sweep."""
        honest, before = self.box("both"), self.small("before")
        self.sweep(before, honest)
        self.finish()
        ids = [f"vector_add/{config}/n0/screen/0/measure/1" for config, in
               self.query(before, "SELECT config FROM outcome")]
        ids += [f"vector_add/{config}//{purpose}/0/build/1" for config, purpose in
                self.query(before, "SELECT config, purpose FROM build")]
        claims = self.stand_in("claims", "claims", "role=gpu", ["credit 0", *(f"claim {i}" for i in ids)])
        self.sweep(self.small(), claims, honest, within=20)
        self.finish()

    def refuse(self, role, leases):
        self.sweep(self.small(shapes=3, elements=100001, items=[1]),
                   self.stand_in("refuses", "refuses", f"role={role}"), self.box("both"), within=25)
        self.finish()
        self.assertGreater(self.heard("refuses", leases), 0)
        self.assertLess(self.heard("refuses", leases), 100)
        said = [line for line in self.stderr().splitlines() if "the stand-in refuses" in line]
        self.assertIn(self.address("refuses"), "".join(said), "the user does not read who refuses, and why")

    def test_one_that_refuses_to_measure_is_named(self):
        self.refuse("gpu", "MEASURE")

    def test_one_that_refuses_to_build_is_named(self):
        self.refuse("builder", "BUILD")


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Silence(boxes.Boxes):
    """A host is silent, but its connections stay open."""

    def test_a_half_open_link_is_replaced_by_a_new_login_within_45_s(self):
        line, proxy = self.by_proxy("both", self.box("both"))
        self.sweep(self.few(BLOCK_SIZE=[64, 128, 256, 512], ITEMS=[1, 2, 4, 8]), line, within=70)
        self.until_settled(3)
        proxy.freeze()
        before, frozen = proxy.accepted, time.monotonic()
        self.until("a new login", lambda: proxy.accepted > before or time.monotonic() > frozen + 45 * rig.PATIENCE)
        rig.figure("a new login", time.monotonic() - frozen, "s")
        self.assertGreater(proxy.accepted, before, "no new login within 45 s; its last line: " + self.last_line())
        self.finish()

    def test_idle_gpus_repeat_what_a_frozen_host_holds(self):
        """Its lease is repeated while it is still open, so before the frozen host counts as lost."""
        self.sweep(self.small(shapes=6, elements=100001, items=[1]),
                   self.stand_in("freezes", "beats", "role=gpu", ["credit 1"]), self.box("lives"))
        self.until("it has a lease", lambda: self.heard("freezes", "MEASURE") > 0)
        self.until("the other one measures", lambda: self.count("result", "1") > 0)
        self.freeze("freezes")
        self.until_settled(2)
        self.assertEqual(self.leases("freezes", "measure"), 1)
        self.finish()


if __name__ == "__main__":
    unittest.main()
