"""Judge mutants: which test, if any, fails with one."""
import concurrent.futures
import os
import threading

from workshop import NO_LEAKS, PRESETS, Run, Unsound

# Whose unit tests run after those of the folder itself.
ABOVE = {
    "schedule": ["state", "reactor", "passes"],
    "store": ["stored", "confirm", "result", "inspect", "conclusion", "report", "state", "reactor", "passes"],
    "stored": ["confirm", "config", "result", "inspect", "conclusion", "report", "reactor", "passes"],
    "state": ["reactor", "passes", "tasks"],
    "link": ["state", "reactor", "tasks"],
    "reactor": ["state", "passes", "tasks"],
}
SEEDS = 60  # of the simulation; they have all passes among them
WHOLE_SEEDS = 12  # of one life each, so that a leak is a mistake
LEAST_S, FACTOR = 10, 10  # a mutant may take this long, or this much longer than without it


class Check:
    """A program to run, and how long it took without a mutant."""

    def __init__(self, name, program, arguments, environment=None):
        self.name, self.program, self.arguments = name, program, arguments
        self.environment, self.limit_s = environment, 600

    def run(self, program, folder, preset):
        return Run([program] + self.arguments, folder, self.limit_s, preset, self.environment)


class Judge:
    def __init__(self, workshop, jobs):
        self.shop, self.jobs = workshop, jobs
        self.checks = {}  # of a preset
        self.numbers, self.local = iter(range(1, 1 << 30)), threading.local()

    def check_baseline(self, folders):
        """Build all, and run all of it without a mutant; else raise Unsound."""
        wanted = {name for folder in folders for name in [folder] + ABOVE[folder]}
        self.shop.build({f"coordinator.{name}" for name in wanted}, max(2, self.jobs))
        for preset in PRESETS:
            simulate = os.path.join(self.shop.path(preset), "bin", "simulate")
            checks = [Check(name, command[0], command[1:])
                      for name, command in self.shop.tests[preset].items()]
            checks.append(Check("simulate", simulate, ["--seeds", f"1..{SEEDS}"], NO_LEAKS))
            self._at_once(lambda check, preset=preset: self._time(check, preset), checks)
            self.checks[preset] = checks
        self.checks["asan"] += self._whole_seeds(simulate)
        self._at_once(self._check_unchanged, folders)

    def _at_once(self, call, over):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(call, over))

    def _time(self, check, preset):
        # each in a folder of its own: some put files beside themselves
        folder = self.shop.job_folder(0, preset, os.path.basename(check.program))
        run = check.run(check.program, folder, preset)
        if run.failed():
            raise Unsound(f"{check.name} fails in build/{preset} without a mutant")
        check.limit_s = max(LEAST_S, FACTOR * run.seconds)

    def _whole_seeds(self, simulate):
        """A coordinator that is killed leaves its memory: seeds in which none is."""
        checks = [Check(f"simulate, leaks of seed {seed}", simulate, ["--seed", str(seed)])
                  for seed in range(1, SEEDS + 1)]

        def fails(check):
            folder = self.shop.job_folder(0, "asan", check.arguments[-1])
            return check.run(simulate, folder, "asan").failed()

        found = [check for check, failed in zip(checks, self._at_once(fails, checks)) if not failed]
        for check in found:
            check.limit_s = LEAST_S
        return found[:WHOLE_SEEDS]

    def _check_unchanged(self, folder):
        """A file that is put in place of itself must pass, too."""
        root = os.path.join(self.shop.tree, "coordinator", folder)
        name = sorted(name for name in os.listdir(root) if name.endswith(".c"))[0]
        path = os.path.join("coordinator", folder, name)
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        for preset in PRESETS:
            killer = self._killer(path, text, preset)
            if killer is not None:
                raise Unsound(f"{path} replaced by itself: {killer or 'it does not compile'}")

    def verdict(self, place):
        """'killed' and by what, 'survived', 'equivalent', or 'refused' by the compiler."""
        presets = ["asan"] if place.kind == "call" else PRESETS
        for preset in presets:
            killer = self._killer(place.path, place.mutated(), preset)
            if killer == "":
                return "refused", ""
            if killer:
                return "killed", killer + (" with ASan" if preset == "asan" else "")
        if self._compiles_to_the_same(place):
            return "equivalent", "the compiler makes the same code of it"
        return "survived", ""

    def _order(self, path, preset):
        """The checks that have the file in them: its own test, its folder's, those above."""
        folder, stem = path.split("/")[1], os.path.basename(path)[:-2]
        folders = [folder] + ABOVE[folder]
        tests = self.shop.tests[preset]

        def rank(check):
            if check.name not in tests:
                return len(folders), "", check.limit_s
            name = check.name.split(".")
            return folders.index(name[1]), name[2] != stem, check.limit_s

        own = [check for check in self.checks[preset] if check.name not in tests
               or check.name.split(".")[1] in folders]
        return sorted((check for check in own if self.shop.holds(preset, check.program, path)),
                      key=rank)

    def _job(self):
        if not hasattr(self.local, "job"):
            self.local.job = next(self.numbers)
        return self.local.job

    def _killer(self, path, text, preset):
        """The name of what failed; None if nothing did; "" if it does not compile."""
        job, made = self._job(), {}
        folder = self.shop.job_folder(job, preset)
        anything = self.shop.builder(preset, "simulate")
        object_file = anything.compile(os.path.join(self.shop.tree, path), text, os.path.join(folder, "mutant"))
        if not object_file:
            return ""
        for check in self._order(path, preset):
            name = os.path.basename(check.program)
            if name not in made:
                # each in a folder of its own: some put files beside themselves
                made[name] = os.path.join(self.shop.job_folder(job, preset, name), name)
                if not self.shop.builder(preset, name).link_with(object_file, made[name]):
                    made[name] = None
            if not made[name]:
                continue  # the test stands in for this file
            run = check.run(made[name], folder, preset)
            if run.status is None:
                return f"{check.name}: no end after {check.limit_s:.0f} s"
            # once more: a test that fails now and then says nothing of the mutant
            if run.failed() and check.run(made[name], folder, preset).failed():
                return check.name
        return None

    def _compiles_to_the_same(self, place):
        builder = self.shop.builder("dev", "simulate")
        here = os.path.join(self.shop.job_folder(self._job(), "dev"), "same")
        made = []
        for text in place.text, place.mutated():
            with open(builder.compile(os.path.join(self.shop.tree, place.path), text, here, ["-g0"]), "rb") as file:
                made.append(file.read())
        return made[0] == made[1]
