#!/usr/bin/env python3
"""A strategy for fa-coord that asks Optuna's TPE (Debian: python3-optuna).

Speaks the protocol of docs/strategies.md.  Ordered tunables are integers to
Optuna, the others categories.  What is illegal or failed is told as pruned,
which TPE ranks behind everything that was timed.  Optuna may propose a point
again and again: a repetition is told as failed, which TPE ignores, and after
REFUSED_MAX points in a row that were of no use one is drawn at random.
"""
import json
import random
import sys

import optuna

REFUSED_MAX = 20


def make_study(start):
    distributions = {}
    for tunable in start["tunables"]:
        levels = len(tunable["values"])
        if levels == 1:
            continue
        if tunable["ordered"]:
            at = optuna.distributions.IntDistribution(0, levels - 1)
        else:
            at = optuna.distributions.CategoricalDistribution(list(range(levels)))
        distributions[tunable["name"]] = at
    sampler = optuna.samplers.TPESampler(seed=start["seed"] % 2**32)
    return optuna.create_study(sampler=sampler), distributions


class Search:
    def __init__(self, start):
        self.study, self.distributions = make_study(start)
        self.names = [tunable["name"] for tunable in start["tunables"]]
        self.random = random.Random(start["seed"])
        self.trials = {}  # of a point, not told yet
        self.known = set()
        self.refused = 0

    def ask(self):
        if self.refused >= REFUSED_MAX:
            self.study.enqueue_trial(
                {name: self.random.randint(0, self.last(name)) for name in self.distributions})
        trial = self.study.ask(self.distributions)
        point = tuple(trial.params.get(name, 0) for name in self.names)
        self.trials[point] = trial
        return point

    def last(self, name):
        distribution = self.distributions[name]
        return getattr(distribution, "high", len(getattr(distribution, "choices", "x")) - 1)

    def tell(self, point, state, time):
        trial = self.trials.pop(point, None)
        repeated = point in self.known
        self.refused = self.refused + 1 if repeated or state == "illegal" else 0
        self.known.add(point)
        if trial is None:
            return  # a result of an earlier run
        if repeated or state == "lost":
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        elif state == "timed":
            self.study.tell(trial, time)
        else:
            self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    search = None
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            search = Search(order)
            print(json.dumps({"ready": "Optuna " + optuna.__version__ + " TPE"}), flush=True)
        elif "ask" in order:
            print(json.dumps({"point": search.ask()}), flush=True)
        elif "tell" in order:
            search.tell(tuple(order["tell"]), order["state"], order.get("time"))


if __name__ == "__main__":
    main()
