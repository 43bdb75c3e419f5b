"""F5, F6: sweeps over a real sshd through a proxy that breaks connections (faulty_proxy.py), drawn by FA_SEED."""

import concurrent.futures
import os
import random
import re
import subprocess
import time
import unittest

import faulty_proxy
import landscape
import rig

AT_ONCE = 3
END_S = 280


class Connections(rig.Rig):
    def setUp(self):
        super().setUp()
        self.proxies = []
        self.record = self.path("bowl.json")
        self.cache = landscape.make(self.record, xs=(16, 32, 64, 128), ys=(1, 2, 4), unrolls=(1, 2))

    def tearDown(self):
        for proxy in self.proxies:
            proxy.close()
        super().tearDown()

    def one(self, seed, kinds):
        """A sweep of one host behind a proxy; what is wrong or None, its seconds, and what happened."""
        folder = self.path(str(seed))
        os.mkdir(folder)
        sshd = self.sshd(name=f"sshd-{seed}")
        proxy = faulty_proxy.FaultyProxy(sshd.port, seed, kinds)
        self.proxies.append(proxy)
        line = sshd.line(f"workdir={self.with_runner(os.path.join(folder, 'work'))}")
        with open(os.path.join(folder, "hosts.txt"), "w") as f:
            f.write(re.sub(f":{sshd.port} ", f":{proxy.port} ", line) + "\n")
        began = time.monotonic()
        ran = subprocess.run([os.path.join(self.bin, "fa-coord"), "sweep", "--device", f"replay={self.record}", "--speed-up",
                              "2000", "--db", "x.db", "--hosts", "hosts.txt", "--linger", "60"], cwd=folder, env=self.env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=END_S)
        took = time.monotonic() - began
        fates = ", ".join(map(str, proxy.fates))
        if ran.returncode != 0:
            return f"FA_SEED={seed}: exit {ran.returncode} with {fates}\n{ran.stderr}", took
        outcomes = dict(self.query(folder, "SELECT outcome, count(*) FROM outcome GROUP BY 1"))
        if outcomes != landscape.words(self.cache):
            return f"FA_SEED={seed}: {outcomes} with {fates}", took
        self.assert_invariants(folder)
        return None, took

    def suffer(self, n, kinds):
        first = os.environ.get("FA_SEED")
        seeds = [int(first)] if first else random.sample(range(1 << 30), n)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(lambda seed: self.one(seed, kinds), seeds))
        wrong = [text for text, _ in ends if text]
        print(f"{len(ends)} repetitions, {len(ends) - len(wrong)} passed, worst {max(took for _, took in ends):.1f} s")
        self.assertEqual(wrong, [], "\n".join(wrong))


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Drawn(Connections):
    def test_a_sweep_survives_its_connections(self):
        self.suffer(3, faulty_proxy.Fate.KINDS)


if __name__ == "__main__":
    unittest.main()
