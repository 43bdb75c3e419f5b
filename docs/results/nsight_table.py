#!/usr/bin/env python3
"""Write what Nsight Compute says binds a kernel, from its raw pages, as JSON.

    docs/results/nsight_table.py SHAPE=RAW.csv ... > docs/results/h200/nsight_compute.json

RAW.csv is what 'ncu --import REPORT --page raw --csv' prints of a report made with '--set full'.
"""
import csv
import json
import sys

METRICS = {
    "duration_us": "gpu__time_duration.sum",
    "tensor_pipe_pct": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "xu_pipe_pct": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "issue_slots_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "eligible_warps_per_scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    "active_warps_per_scheduler": "smsp__warps_active.avg.per_cycle_active",
    "dram_pct": "dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
    "l2_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "shared_memory_pct": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "instructions": "smsp__inst_executed.sum",
    "registers_per_thread": "launch__registers_per_thread",
    "cycles_elapsed": "sm__cycles_elapsed.max",
    "cycles_active_mean": "sm__cycles_active.avg",
    "cycles_active_least": "sm__cycles_active.min",
    "cycles_active_most": "sm__cycles_active.max",
}
STALL = "smsp__average_warps_issue_stalled_"
STALL_END = "_per_issue_active.ratio"
STALLS_SHOWN = 6


def number(text):
    return float(text.replace(",", ""))


def summary(names, row):
    values = {short: number(row[names.index(metric)]) for short, metric in METRICS.items() if metric in names}
    stalls = {name[len(STALL):-len(STALL_END)]: number(row[i]) for i, name in enumerate(names)
              if name.startswith(STALL) and name.endswith(STALL_END)}
    largest = sorted(stalls, key=stalls.get, reverse=True)[:STALLS_SHOWN]
    return {**values, "warps_per_issue_by_state": {name: round(stalls[name], 3) for name in largest}}


def main():
    csv.field_size_limit(1 << 30)
    out = {}
    for argument in sys.argv[1:]:
        shape, path = argument.split("=", 1)
        with open(path, newline="", encoding="utf-8") as file:
            names, _, *rows = csv.reader(file)
        out[shape] = {row[names.index("Kernel Name")].split("<")[0].split("::")[-1]: summary(names, row) for row in rows}
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
