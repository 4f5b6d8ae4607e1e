"""On random subjects the movement report equals what bench/baseline_movement.py, a plain script that shares no code, finds."""
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import baseline_movement as plain  # noqa: E402
SEED = 4711
ROUNDS = 40


def report(args):
    out = subprocess.run([os.environ["JOULEGRID"], "report", "movement", "--json", *args], check=True, capture_output=True).stdout
    return json.loads(out)


def baseline(args):
    script = ROOT / "bench" / "baseline_movement.py"
    return json.loads(subprocess.run([sys.executable, script, *args], check=True, capture_output=True).stdout)


def main():
    print("seed", SEED)
    rng = random.Random(SEED)
    for _ in range(ROUNDS):
        widths = [rng.choice([1, 2, 7, 12, 20, 36, 48, 60, 97]) for _ in range(rng.randint(2, 5))]
        examples = rng.randint(1, 200)
        batches = rng.sample(range(1, examples + 1), min(3, examples))
        gemm = [rng.randint(1, 60) for _ in range(3)]
        args = ["--dims", ",".join(map(str, widths)), "--examples", str(examples), "--gemm", ",".join(map(str, gemm)),
                "--batches", ",".join(["full", *map(str, batches)])]
        ours, theirs = report(args), baseline(args)
        cases = ours["batching_analysis"]["persistent_epoch_address_space"]["cases"]
        assert list(cases) == list(theirs["cases"]), args
        full = theirs["cases"]["full"]["steps"] / 10**15
        for name, case in cases.items():
            other = theirs["cases"][name]
            joules = other["steps"] / 10**15  # Python rounds the quotient of integers correctly
            assert case["epoch_movement_energy_J"] == joules, (args, name)
            assert case["movement_energy_ratio_to_full_batch"] == joules / full, (args, name)
            assert case["movement_intensity_grid_steps_per_charged_read"] == other["steps"] / other["charged_reads"], (args, name)
            assert case["dally_2023_all_charged_reads_small_RAM_same_schedule_sensitivity_J"] == (
                other["steps"] * 1e-15 + other["charged_reads"] * 400e-15), (args, name)
            assert case["epoch_charged_reads"] == other["charged_reads"], (args, name)
            assert case["coordinate_descent_sweeps"] == other["sweeps"], (args, name)
            assert case["winning_start"] == other["winning_start"], (args, name)
            tiles = {rows: [[t["tile_i"], t["tile_j"]] for t in layers]
                     for rows, layers in case["tiles_by_invocation_rows"].items()}
            assert tiles == other["tiles"], (args, name)
        assert ours["mac_count_only_sensitivity"]["reference_energy_J"] == theirs["reference_steps"] / 10**15, args
    print(ROUNDS, "subjects agree")
    for _ in range(ROUNDS):  # past 64 bits, where the tile divides
        tile = [rng.randint(1, 2**12) for _ in range(2)]
        m, k, n = tile[0] * rng.randint(1, 2**13), rng.randint(1, 2**15), tile[1] * rng.randint(1, 2**13)
        steps, reads = plain.gemm_price(m, k, n, *tile)
        out = subprocess.run([os.environ["JOULEGRID"], "model", "gemm", *map(str, (m, k, n)), "--tile", f"{tile[0]},{tile[1]}", "--json"],
                             check=True, capture_output=True).stdout
        ours = json.loads(out)
        assert (ours["steps"], ours["charged_reads"]) == (steps, reads), (m, k, n, tile)
        assert ours["joules"] == steps / 10**15 and ours["steps_per_mac"] == steps / (m * k * n), (m, k, n, tile)
    print(ROUNDS, "large matrix products agree")


if __name__ == "__main__":
    main()
