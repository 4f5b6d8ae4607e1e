#!/usr/bin/env bash
# How many times faster `joulegrid report movement` is than bench/baseline_movement.py, the same algorithm in plain Python:
# whole processes, start included, in turn on one processor, median of the pairwise ratios. Fails below LEAST (150).
#
#   bench/compare_baseline.sh [PROGRAM [RUNS [LEAST]]]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/cli/joulegrid}
runs=${2:-7}
least=${3:-150}
[ -x "$program" ] || { echo "compare_baseline.sh: $program is not there; build it with: cmake --preset release && cmake --build build/release" >&2; exit 2; }
exec /usr/bin/python3 - "$program" "$runs" "$least" <<'PYTHON'
import json, os, statistics, subprocess, sys, time

program, runs, least = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # inherited: everything below runs on one processor


def timed(command):
    begin = time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True).stdout
    return time.perf_counter() - begin, json.loads(out)


ours, theirs, ratios = [], [], []
for turn in range(runs + 1):
    fast, report = timed([program, "report", "movement", "--json"])
    slow, plain = timed(["/usr/bin/python3", "bench/baseline_movement.py"])
    cases = report["batching_analysis"]["persistent_epoch_address_space"]["cases"]
    for name, case in plain["cases"].items():
        assert case["steps"] / 10**15 == cases[name]["epoch_movement_energy_J"], f"batch {name}: the two disagree"
    if turn == 0:
        continue  # warm-up
    ours.append(fast)
    theirs.append(slow)
    ratios.append(slow / fast)
print(f"plain Python: median {statistics.median(theirs):.3f} s, {plain['evaluations']:,} epoch evaluations")
print(f"joulegrid:    median {statistics.median(ours) * 1e3:.2f} ms, the same results")
print(f"ratio:        median {statistics.median(ratios):.0f} (from {min(ratios):.0f} to {max(ratios):.0f}, {runs} pairs)")
sys.exit(0 if statistics.median(ratios) >= least else 1)
PYTHON
