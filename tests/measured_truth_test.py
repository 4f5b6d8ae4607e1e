"""From end to end: a board's counter, opened by path, whose power is what the measured program says at each moment.

The program draws LOAD while it sleeps and IDLE otherwise, so a run's energy above idle is (LOAD - IDLE) times the time between its
two words, which the program itself takes with the clock of its shell.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["JOULEGRID"]
IDLE, LOAD = 60, 300  # W
SLEEP = 0.25


class MeasuredTruth(unittest.TestCase):
    def measure(self, folder, *options):
        power, profile, script = folder / "power", folder / "profile", folder / "work.py"
        power.write_text(f"{IDLE * 1000}\n")
        profile.write_text(f"card\nuuid = GPU-1234abcd\nbus = 0000:65:00.0\nmig = 0\nfollow = {power} 20\n")
        script.write_text(f"""import os, time
def say(watts):
    with open({str(power)!r} + ".new", "w") as file: file.write(f"{{watts * 1000}}\\n")
    os.replace({str(power)!r} + ".new", {str(power)!r})
begin = time.monotonic(); say({LOAD})
time.sleep({SLEEP})
say({IDLE}); end = time.monotonic()
open({str(folder / 'times')!r}, "a").write(f"{{end - begin}}\\n")
""")
        environment = {**os.environ, "JOULEGRID_NVML_LIBRARY": os.environ["NVML_DOUBLE"], "JOULEGRID_NVML_DOUBLE": str(profile)}
        return subprocess.run([PROGRAM, "measure", "command", "--counter", "nvml", "--runs", "4", "--trial-seconds", "1", "--idle-seconds",
                               "0.5", "--settle-seconds", "0.1", "--json", *options, "--", "/usr/bin/python3", str(script)], env=environment,
                              capture_output=True, text=True)

    def test_the_energy_of_a_run_is_what_it_drew(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            ran = self.measure(folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            stage = next(iter(json.loads(ran.stdout)["command"]["stages"].values()))
            times = [float(line) for line in (folder / "times").read_text().split()]
            measured = times[-stage["aggregate_repetitions"]:]
            truth = (LOAD - IDLE) * sum(measured) / len(measured)
            energy, half_width = stage["idle_adjusted_board_energy_J_per_run"], stage["uncertainty_J_95"]
            print(f"truth {truth:.2f} J, measured {energy:.2f} +- {half_width:.2f} J, idle {stage['idle_baseline_W']:.2f} W")
            # The double looks at the file every ms or so; on a busy machine it may be late at both ends.
            self.assertAlmostEqual(energy / truth, 1, delta=0.06)
            self.assertAlmostEqual(stage["idle_baseline_W"] / IDLE, 1, delta=0.02)
            raw = stage["raw_board_energy_J_per_run"]
            self.assertAlmostEqual(raw, energy + stage["idle_baseline_W"] * stage["seconds_per_run"], delta=1e-9)


if __name__ == "__main__":
    unittest.main()
