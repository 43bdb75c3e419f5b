"""Write landscapes in Kernel Tuner's cache format, for tests of replays."""

import json
import os

import rig

DATA = os.path.join(rig.SOURCE, "..", "shared", "data")
NOISE = [1 + (i * 7 % 32 - 16) * 2.5e-4 for i in range(32)]  # all different, +-0.4 %


def time_ms(bx, by, unroll):
    """A bowl with its bottom at 64, 4, 2."""
    def far(a, b):
        return abs(a.bit_length() - b.bit_length())
    return 1.0 + 0.2 * far(bx, 64) + 0.15 * far(by, 4) + 0.05 * far(unroll, 2)


def entry(bx, by, unroll, compile_ms, verify_ms, time_of):
    base = time_of(bx, by, unroll)
    samples = [base * f for f in NOISE]
    time = sum(samples) / len(samples)
    if bx * by > 1024:
        time, samples = "RuntimeFailedConfig", []
    elif unroll == 8 and by == 1:
        time, samples = "CompilationFailedConfig", []
    elif bx == 1024 and by == 1 and unroll == 1:
        time, samples = "InvalidConfig", []
    return {"BX": bx, "BY": by, "UNROLL": unroll, "MODE": "plain", "time": time, "times": samples,
            "compile_time": compile_ms, "verification_time": verify_ms, "benchmark_time": sum(samples) + 1.0}


def make(path, xs=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), ys=(1, 2, 4, 8, 16, 32), unrolls=(1, 2, 4, 8),
         compile_ms=400.0, verify_ms=2.0, closed=True, time_of=time_ms):
    """Write a landscape; returns the cache as it was written."""
    cache = {f"{x},{y},{u}": entry(x, y, u, compile_ms, verify_ms, time_of) for x in xs for y in ys for u in unrolls}
    whole = {"device_name": "Test GPU 9000", "kernel_name": "bowl",
             "tune_params": {"BX": list(xs), "BY": list(ys), "UNROLL": list(unrolls), "MODE": ["plain"]},
             "cache": cache}
    text = json.dumps(whole, indent=1)
    with open(path, "w") as f:
        f.write(text if closed else text.rstrip()[:-len("}\n}")])
    return cache


def words(cache):
    """How many configurations end in each of the outcome words."""
    names = {"RuntimeFailedConfig": "runtime", "CompilationFailedConfig": "compile", "InvalidConfig": "constraints"}
    counts = {}
    for config in cache.values():
        word = names.get(config["time"], "correct")
        counts[word] = counts.get(word, 0) + 1
    return counts
