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
        self.asked = {}  # trials of a point that are not told yet; the last is the newest
        self.results = {}  # of a point: its trial as it came out
        self.refused = 0

    def ask(self):
        if self.refused >= REFUSED_MAX:
            self.study.enqueue_trial(
                {name: self.random.randint(0, self.last(name)) for name in self.distributions})
        trial = self.study.ask(self.distributions)
        point = tuple(trial.params.get(name, 0) for name in self.names)
        self.asked.setdefault(point, []).append(trial)
        return point

    def last(self, name):
        distribution = self.distributions[name]
        return getattr(distribution, "high", len(getattr(distribution, "choices", "x")) - 1)

    def tell(self, point, state, time):
        trials = self.asked.get(point)
        if not trials:
            self.learn(point, state, time)
            return
        trial = trials.pop()
        repeated = bool(trials) or point in self.results
        self.refused = self.refused + 1 if repeated or state == "illegal" else 0
        if repeated or state == "lost":
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, **outcome(state, time))
            self.results[point] = self.study.trials[trial.number]

    def learn(self, point, state, time):
        """A result of an earlier run; or another one, after the first was in doubt."""
        if state == "lost":
            return
        known = point in self.results
        self.results[point] = self.finished(point, state, time)
        if known:
            self.begin_again()
        else:
            self.study.add_trial(self.results[point])

    def finished(self, point, state, time):
        told = outcome(state, time)
        told["value"] = told.pop("values", None)
        return optuna.trial.create_trial(params=self.params(point), distributions=self.distributions, **told)

    def params(self, point):
        return {name: level for name, level in zip(self.names, point) if name in self.distributions}

    def begin_again(self):
        """What is told to a study stays in it, so there is a new one."""
        self.study = optuna.create_study(sampler=self.study.sampler)
        self.study.add_trials(self.results.values())
        for point, trials in self.asked.items():
            for i in range(len(trials)):
                self.study.enqueue_trial(self.params(point))
                trials[i] = self.study.ask(self.distributions)


def outcome(state, time):
    if state == "timed":
        return {"state": optuna.trial.TrialState.COMPLETE, "values": time}
    return {"state": optuna.trial.TrialState.PRUNED}


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
