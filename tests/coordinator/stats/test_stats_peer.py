"""The statistics of the coordinator beside those of scipy, on random inputs.

FA_STATS_PEER is the program stats_peer.  Everything comes from fixed seeds.
"""
import itertools
import json
import os
import subprocess
import unittest
import warnings

try:
    import numpy as np
    from scipy import stats
except ImportError:
    stats = None

warnings.simplefilter("ignore")  # scipy's about ties and small samples


@unittest.skipIf(stats is None, "scipy is not here (Debian: python3-scipy)")
class Peer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer = subprocess.Popen([os.environ["FA_STATS_PEER"]], text=True,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @classmethod
    def tearDownClass(cls):
        cls.peer.stdin.close()
        cls.peer.stdout.close()
        cls.peer.wait(timeout=10)

    def ask(self, what, **fields):
        fields = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        self.peer.stdin.write(json.dumps({"ask": what, **fields}) + "\n")
        self.peer.stdin.flush()
        return json.loads(self.peer.stdout.readline())

    def near(self, ours, theirs, relative=1e-9):
        self.assertLessEqual(abs(ours - theirs), relative * max(abs(theirs), 1e-300) + 1e-13)

    def signed_rank(self, values, strata=None, confidence=0.95):
        strata = np.zeros(len(values), int) if strata is None else strata
        return self.ask("signed_rank", values=values, strata=strata, confidence=confidence)


class RankTest(Peer):
    def both(self, x, y, method):
        ours = self.ask("rank_test", x=x, y=y)
        theirs = stats.mannwhitneyu(x, y, alternative="two-sided", method=method)
        self.near(ours["u"], theirs.statistic)
        self.near(ours["p"], theirs.pvalue)
        self.assertEqual(ours["exact"], method == "exact")
        delta = np.sign(np.subtract.outer(x, y)).mean()
        self.near(ours["delta"], delta)

    def test_small_sets_are_exact(self):
        rng = np.random.default_rng(1)
        for _ in range(300):
            nx, ny = rng.integers(1, 21), rng.integers(1, 40)
            self.both(rng.normal(rng.normal(), 1, nx), rng.normal(0, 1, ny), "exact")

    def test_ties_and_large_sets_are_normal(self):
        rng = np.random.default_rng(2)
        for _ in range(300):
            nx, ny = rng.integers(4, 60), rng.integers(4, 60)
            x = rng.integers(0, 12, nx) + rng.integers(0, 3)
            x[0] = y0 = 5
            y = np.append(rng.integers(0, 12, ny), y0)
            self.both(x.astype(float), y.astype(float), "asymptotic")
        for _ in range(50):
            self.both(rng.normal(0.2, 1, 100), rng.exponential(1, 80), "asymptotic")


class SignedRank(Peer):
    def test_p_is_exact_without_ties(self):
        rng = np.random.default_rng(3)
        for _ in range(300):
            d = rng.normal(rng.normal() / 2, 1, rng.integers(1, 60))
            self.near(self.signed_rank(d)["p"], stats.wilcoxon(d, mode="exact").pvalue, 1e-7)

    def test_one_sided_p_beyond_a_floor_is_exact(self):
        rng = np.random.default_rng(11)
        for _ in range(300):
            d = rng.normal(rng.normal() / 2, 1, rng.integers(1, 60)) - 0.005
            theirs = stats.wilcoxon(d, alternative="greater", mode="exact").pvalue
            self.near(self.signed_rank(d)["p_above"], theirs, 1e-7)

    def test_p_of_many_is_as_good_as_normal(self):
        rng = np.random.default_rng(4)
        for _ in range(30):
            d = rng.normal(0.1, 1, rng.integers(129, 300))
            theirs = stats.wilcoxon(d, mode="approx", correction=True).pvalue
            self.near(self.signed_rank(d)["p"], theirs, 0.15)

    def test_estimate_and_interval_by_walsh_averages(self):
        """The low end lies between two averages: shifted to just below them
        the p is at most 5 %, shifted to just above it is not."""
        rng = np.random.default_rng(5)
        for _ in range(100):
            d = rng.standard_t(2, rng.integers(6, 40))
            ours = self.signed_rank(d)
            i, j = np.triu_indices(len(d))
            walsh = np.sort((d[i] + d[j]) / 2)
            self.near(ours["estimate"], np.median(walsh))

            def p_after(k):  # with the centre between average k and the next
                centre = (walsh[k - 1] + walsh[k]) / 2
                return stats.wilcoxon(d - centre, mode="exact").pvalue

            at = np.searchsorted(walsh, ours["lo"], side="right")
            if at > 1:
                self.assertLessEqual(p_after(at - 1), 0.05 + 1e-9)
            self.assertGreater(p_after(at + 1), 0.05 - 1e-9)
            self.near(ours["hi"], -self.signed_rank(-d)["lo"])

    def test_strata_by_all_signs(self):
        rng = np.random.default_rng(6)
        for sizes in [(3, 3), (5, 4), (6, 2), (4, 3, 2), (1, 7)]:
            d = rng.normal(0.6, 1, sum(sizes))
            strata = np.repeat(np.arange(len(sizes)), sizes)
            most = max(n * (n + 1) // 2 for n in sizes)
            weight = [int(8 * most / (n * (n + 1) / 2) + 0.5) for n in sizes]
            ranks = np.concatenate([stats.rankdata(abs(d[strata == s])) * weight[s]
                                    for s in range(len(sizes))])
            seen = ranks[d > 0].sum()
            seen = min(seen, ranks.sum() - seen)
            signs = np.array(list(itertools.product((0, 1), repeat=len(d))))
            p = min(1, 2 * np.mean(signs @ ranks <= seen))
            self.near(self.signed_rank(d, strata)["p"], p)


class Rates(Peer):
    """The rates that test_analysis.c counts, with scipy's test on the same
    pairs: 20 blocks of 5 samples at 1 % of noise, drifting by 9 %."""

    def rate(self, gap, seed):
        rng = np.random.default_rng(seed)
        ours = theirs = 0
        for _ in range(1000):
            drift = np.linspace(0, 0.09, 20)
            a, b = (np.median(drift[:, None] + rng.normal(0, 0.01, (20, 5)), axis=1)
                    for _ in range(2))
            d = b - (a - gap)
            ours += self.signed_rank(d)["p"] <= 0.05
            theirs += stats.wilcoxon(d, mode="exact").pvalue <= 0.05
        return ours, theirs

    def test_equals_differ_at_the_stated_rate(self):
        ours, theirs = self.rate(0, 7)
        self.assertEqual(ours, theirs)
        self.assertLessEqual(ours, 71)  # 50 expected, three sigma

    def test_two_percent_are_found(self):
        ours, theirs = self.rate(0.02, 8)
        self.assertEqual(ours, theirs)
        self.assertGreaterEqual(ours, 950)


    def test_finalists_at_the_floor_are_fast_at_the_stated_rate(self):
        """Ten finalists at the floor share a baseline; some FAST by Holm."""
        rng = np.random.default_rng(12)
        ours = theirs = 0
        for _ in range(200):
            base, *others = np.median(rng.normal(0, 0.01, (11, 20, 5)), axis=2)
            d = [base - other for other in others]  # less the floor: around 0
            p = [2 * self.signed_rank(values)["p_above"] for values in d]
            ours += min(self.ask("holm", p=p)["p"]) <= 0.05
            scipy_p = [stats.wilcoxon(values, alternative="greater", mode="exact").pvalue for values in d]
            theirs += 10 * 2 * min(scipy_p) <= 0.05  # Holm's first step
        self.assertEqual(ours, theirs)
        self.assertLessEqual(ours, 12)  # at most 5 expected, three sigma


class Rest(Peer):
    def test_holm(self):
        rng = np.random.default_rng(9)
        for _ in range(100):
            p = rng.uniform(0, 0.2, rng.integers(1, 30)) ** 2
            order = np.argsort(p)
            steps = np.minimum(1, p[order] * np.arange(len(p), 0, -1))
            want = np.empty(len(p))
            want[order] = np.maximum.accumulate(steps)
            np.testing.assert_allclose(self.ask("holm", p=p)["p"], want, rtol=1e-12)

    def test_median_and_its_interval(self):
        rng = np.random.default_rng(10)
        for _ in range(100):
            s = rng.lognormal(0, 1, rng.integers(1, 300))
            confidence = rng.choice([0.9, 0.95, 0.99])
            ours = self.ask("median", samples=s, confidence=confidence)
            self.near(ours["median"], np.median(s))
            self.near(ours["spread"], 1.4826 * stats.median_abs_deviation(s))
            skip = 0
            while (skip + 1 < (len(s) + 1) // 2 and
                   stats.binom.cdf(skip + 1, len(s), 0.5) <= (1 - confidence) / 2):
                skip += 1
            s.sort()
            self.assertEqual(ours["lo"], s[skip])
            self.assertEqual(ours["hi"], s[len(s) - 1 - skip])

    def test_normal_quantiles(self):
        for p in [1e-12, 1e-6, 0.01, 0.05, 0.3, 0.5, 0.7, 0.975, 0.999999]:
            ours = self.ask("normal", p=p)
            self.near(ours["z"], stats.norm.ppf(p))
            self.near(ours["p"], p)

    def test_variance_ratio(self):
        for upper in (9, 20, 50, 200):
            for lower in (20, 40, 400, 5000):
                for p in (0.5, 0.1, 0.01, 0.001):
                    ratio = stats.f.isf(p, upper, lower)
                    ours = self.ask("variance_ratio", ratio=ratio, upper=upper, lower=lower)
                    self.near(ours["p"], p, 0.12)


class Spending(Peer):
    """Lan and DeMets: the statistic of each look is a Brownian motion at its
    share.  What is spent at a look is the chance to be below all bounds before
    and above this one."""

    def spent_by(self, levels, shares):
        bounds = stats.norm.isf(levels)
        corr = np.array([[np.sqrt(min(s, t) / max(s, t)) for t in shares] for s in shares])
        below = [1.0] + [stats.multivariate_normal(np.zeros(k), corr[:k, :k], allow_singular=True)
                         .cdf(bounds[:k]) if k > 1 else stats.norm.cdf(bounds[0])
                         for k in range(1, len(shares) + 1)]
        return 1 - np.array(below[1:])

    def test_levels_spend_what_the_function_says(self):
        rng = np.random.default_rng(13)
        for alpha in (0.05, 0.025, 0.0025):
            for n in (1, 2, 3):
                shares = np.sort(rng.uniform(0.05, 1, n))
                ours = self.ask("spending", alpha=alpha, shares=shares)
                want = alpha * np.log(1 + (np.e - 1) * shares)
                np.testing.assert_allclose(ours["spent"], want, rtol=1e-12)
                np.testing.assert_allclose(self.spent_by(ours["levels"], shares), want,
                                           rtol=0.002, atol=2e-5)


if __name__ == "__main__":
    unittest.main()
