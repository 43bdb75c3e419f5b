#!/usr/bin/env python3
"""Predict the times of flash_attention's sm_89 builds on an NVIDIA L4, which was not at hand.

    docs/results/predict_l4.py > docs/results/sm_89/prediction.json

Reads sm_89/builds.json.  A configuration takes as long as the slowest of what it needs: DRAM at 300 GB/s; or the
SM, where tensor cores, exponentials and shared memory overlap as well as the resident warps let them.  That
share is taken from Nsight Compute's figures of the H200: tensor pipe busy 57 % with two warps a scheduler.
What spills, copies in pieces of 4 bytes or waits for its copies is only put behind the others.  This is a
prediction to be proved wrong, no measurement.
"""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SMS, CLOCK_HZ, DRAM = 58, 2.04e9, 300e9
MMA_FLOPS_PER_CLOCK_SM = 1024        # 121 TFLOP/s dense fp16 with fp32 sums
EXPONENTIALS_PER_CLOCK_SM = 16
SHARED_BYTES_PER_CLOCK_SM = 128
BUSY = {1: 0.40, 2: 0.57}            # by warps a scheduler, at most; more: BUSY_MORE
BUSY_MORE = 0.65
CONFLICTS = 8                        # rows of 128 bytes without swizzle: 8 rows in the same banks
SHAPES = {"s512": (32, 8, 512), "b16_s512": (16, 8, 512), "s2048": (16, 8, 2048)}
D = 64


def predict(build, batch, heads, seq):
    params = build["params"]
    rows = params["BLOCK_M"] // params["NUM_WARPS"]
    scores = batch * heads * seq * seq
    per_sm = 1 / (SMS * CLOCK_HZ)
    tensor = 4 * scores * D / MMA_FLOPS_PER_CLOCK_SM * per_sm
    exponentials = scores / EXPONENTIALS_PER_CLOCK_SM * per_sm
    # K and V once for each warp's rows
    shared = 4 * D * scores / rows / SHARED_BYTES_PER_CLOCK_SM * per_sm * (1 if params["SWIZZLE"] else CONFLICTS)
    dram = 8 * batch * heads * seq * D / DRAM
    warps = build["warps_per_sm"] / 4
    busy = BUSY.get(int(warps), BUSY_MORE) if warps >= 1 else BUSY[1] * warps
    sm = max(tensor, exponentials, shared) / busy
    return {"us": max(dram, sm) * 1e6, "binds": "dram" if dram >= sm else
            max((tensor, "tensor"), (exponentials, "exponentials"), (shared, "shared memory"))[1]}


def behind(build):
    params = build["params"]
    return (build["spill_bytes"] > 64, not params["HALF2"], not params["CP_ASYNC"], params["UNROLL"],
            build["registers"])


def main():
    with open(os.path.join(HERE, "sm_89", "builds.json"), encoding="utf-8") as file:
        builds = json.load(file)["builds"]
    out = {"what": "a prediction by docs/results/predict_l4.py; nothing was measured on an L4", "shapes": {}}
    for shape, sizes in SHAPES.items():
        rows = [(predict(build, *sizes), build) for build in builds]
        rows.sort(key=lambda row: (round(row[0]["us"], 1), behind(row[1])))
        best = rows[0][0]["us"]
        out["shapes"][shape] = {
            "cold": True,
            "within_1_pct_of_the_best": sum(row["us"] <= best * 1.01 for row, _ in rows),
            "first": [{"us": round(row["us"], 1), "binds": row["binds"], "config": build["params"],
                       "warps_per_sm": build["warps_per_sm"], "spill_bytes": build["spill_bytes"]} for row, build in rows[:8]],
        }
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
