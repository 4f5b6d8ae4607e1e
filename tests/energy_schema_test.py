"""docs/energy.schema.json holds for what `measure` writes, and refuses what it must not write."""
import copy
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import jsonschema

PROGRAM = os.environ["JOULEGRID"]
SCHEMA = json.loads((pathlib.Path(__file__).resolve().parent.parent / "docs" / "energy.schema.json").read_text())
QUICK = ["--idle-seconds", "0.15", "--settle-seconds", "0.02"]


class EnergySchema(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.validator = jsonschema.Draft202012Validator(SCHEMA)

    def tearDown(self):
        self.folder.cleanup()

    def measured(self, *args, status=0, env=None):
        ran = subprocess.run([PROGRAM, "measure", *map(str, args)], capture_output=True, text=True, env=env)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return json.loads(ran.stdout)

    def accepts(self, document):
        self.assertEqual([f"{list(e.absolute_path)}: {e.message[:200]}" for e in self.validator.iter_errors(document)], [])

    def board(self, energy="live = 250000 10"):
        profile = self.path / "profile"
        profile.write_text(f"card\nuuid = GPU-1234abcd\nname = A Board\nbus = 0000:65:00.0\nmig = 0\n{energy}\ntemperature = 40\n"
                           "sm_clock = 1400\nmemory_clock = 1200\nevents = 4\nlimit = 400000\n")
        return {**os.environ, "JOULEGRID_NVML_LIBRARY": os.environ["NVML_DOUBLE"], "JOULEGRID_NVML_DOUBLE": str(profile)}

    def test_without_a_counter(self):
        document = self.measured("command", "--counter", "none", "--runs", 2, *QUICK, "--trial-seconds", 0.15, "--json", "--", "true")
        self.accepts(document)
        stage = document["command"]["stages"]["true"]
        self.assertIsNone(stage["raw_board_energy_J_per_run"])
        self.assertEqual(stage["reason"]["fault"], "not_asked")

    def test_a_board_a_comparison_and_a_failing_program(self):
        env = self.board()
        document = self.measured("command", "--counter", "nvml", "--runs", 2, *QUICK, "--trial-seconds", 0.5, "--vs", "sleep 0.02", "--json", "--", "true", env=env)
        self.accepts(document)
        self.assertEqual(document["command"]["comparisons"][0]["pairs"], 2)
        self.assertIn("power_capped", [flag["flag"] for flag in document["command"]["stages"]["sleep 0.02"]["flags"]])
        self.accepts(self.measured("command", "--counter", "nvml", "--runs", 2, *QUICK, "--trial-seconds", 0.15, "--json", "--", "false", env=env, status=1))
        self.refuses(document)

    def test_a_board_that_is_lost(self):
        words = " ".join(str(1000 * i) for i in range(85))
        document = self.measured("command", "--counter", "nvml", "--runs", 3, *QUICK, "--trial-seconds", 0.15, "--json", "--", "true",
                                 env=self.board(f"energy = {words} E15"))
        self.accepts(document)
        self.assertIn("energy_missing", [flag["flag"] for flag in document["command"]["stages"]["true"]["flags"]])

    def test_packages_and_their_memory(self):
        zones = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "dram"}
        for zone, name in zones.items():
            folder = self.path / "powercap" / zone
            folder.mkdir(parents=True)
            (folder / "name").write_text(name)
            (folder / "max_energy_range_uj").write_text("262143328850")
            (folder / "energy_uj").write_text("0")
        stop = threading.Event()

        def draw():  # 50 W
            while not stop.wait(0.002):
                for zone in zones:
                    fresh = self.path / "fresh"
                    fresh.write_text(str(time.monotonic_ns() // 20 % 262143328850))
                    fresh.replace(self.path / "powercap" / zone / "energy_uj")

        thread = threading.Thread(target=draw)
        thread.start()
        try:
            document = self.measured("busy", "--powercap-root", self.path / "powercap", "--counter", "rapl:package+dram", "--trials", 2,
                                     *QUICK, "--trial-seconds", 0.15, "--threads", 1, "--json")
        finally:
            stop.set()
            thread.join()
        self.accepts(document)
        self.assertIn("idle_adjusted_package_and_dram_energy_J_per_loop", document["busy_loop"]["stages"]["busy_loop"])

    def test_an_interrupted_run(self):
        file = self.path / "document.json"
        process = subprocess.Popen([PROGRAM, "measure", "command", "--counter", "nvml", "--runs", "50", *QUICK, "--trial-seconds", "0.15", "--output", file, "--",
                                    "sleep", "0.05"], env=self.board(), stdout=subprocess.DEVNULL)
        while not file.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 4)
        document = json.loads(file.read_text())
        self.accepts(document)
        self.assertEqual(document["command"]["ended_early"]["fault"], "interrupted")
        self.assertIn("trials_missing", [flag["flag"] for flag in document["command"]["stages"]["sleep 0.05"]["flags"]])

    def refuses(self, document):
        """Documents that differ in one place."""

        def broken(change):
            other = copy.deepcopy(document)
            change(other, other["command"]["stages"]["true"])
            return not self.validator.is_valid(other)

        for key in ("schema_version", "hardware", "measurement"):
            self.assertTrue(broken(lambda d, s, key=key: d.pop(key)), key)
        for key in list(document["command"]["stages"]["true"]):
            if key != "program":
                self.assertTrue(broken(lambda d, s, key=key: s.pop(key)), key)
        for key in list(document["command"]["stages"]["true"]["trials"][0]):
            self.assertTrue(broken(lambda d, s, key=key: s["trials"][0].pop(key)), key)
        self.assertTrue(broken(lambda d, s: s.update(seconds_per_run="0.1")))
        self.assertTrue(broken(lambda d, s: s.update(aggregate_repetitions=-1)))
        self.assertTrue(broken(lambda d, s: s.update(reason={"fault": "bad_luck", "text": ""})))
        self.assertTrue(broken(lambda d, s: s["flags"].append({"flag": "unlucky", "text": "x"})))
        self.assertTrue(broken(lambda d, s: s.update(idle_baseline_W=None)))
        self.assertTrue(broken(lambda d, s: s["trials"][0]["idle_before"].update(energy_uJ=0.5)))
        self.assertTrue(broken(lambda d, s: d["measurement"].update(joules=1)))
        self.assertTrue(broken(lambda d, s: d.update(schema_version=2)))
        self.assertTrue(broken(lambda d, s: d["command"].pop("stages")))


if __name__ == "__main__":
    unittest.main()
