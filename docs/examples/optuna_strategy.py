#!/usr/bin/env python3
"""A strategy for fa-coord that asks Optuna's TPE (Debian: python3-optuna).

Speaks the protocol of docs/strategies.md.  Ordered tunables are integers to
Optuna, the others categories.  What is illegal or failed is told as pruned,
which TPE ranks behind everything that was timed.
"""
import json
import sys

import optuna


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


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names, asked = [], {}
    study = distributions = None
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            study, distributions = make_study(order)
            names = [tunable["name"] for tunable in order["tunables"]]
            print(json.dumps({"ready": "Optuna " + optuna.__version__ + " TPE"}), flush=True)
        elif "ask" in order:
            trial = study.ask(distributions)
            point = [trial.params.get(name, 0) for name in names]
            asked.setdefault(tuple(point), []).append(trial)
            print(json.dumps({"point": point}), flush=True)
        elif "tell" in order:
            for trial in asked.pop(tuple(order["tell"]), []):
                if order["state"] == "timed":
                    study.tell(trial, order["time"])
                elif order["state"] == "lost":
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)


if __name__ == "__main__":
    main()
