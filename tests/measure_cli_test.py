"""`joulegrid measure` from outside: exit statuses, error lines, recordings, signals. JOULEGRID and NVML_DOUBLE name files."""
import json
import os
import pathlib
import pty
import random
import re
import signal
import statistics
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["JOULEGRID"]
QUICK = ["--idle-seconds", "0.15", "--settle-seconds", "0.02"]
BOARD = ("card\nuuid = GPU-1111aaaa-2222\nname = A Board\nbus = 0000:65:00.0\nmig = 0\nlive = 250000 10\ntemperature = 40\nsm_clock = 1400\n"
         "events = 0\nlimit = 400000\n")


def run(*args, **kwargs):
    return subprocess.run([PROGRAM, "measure", *map(str, args)], capture_output=True, text=True, **kwargs)


class MeasureCliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def board(self, text=BOARD):
        (self.path / "profile").write_text(text)
        return {**os.environ, "JOULEGRID_NVML_LIBRARY": os.environ["NVML_DOUBLE"], "JOULEGRID_NVML_DOUBLE": str(self.path / "profile")}

    def refused(self, *args, says, status=2, env=None):
        """One line on standard error, nothing on standard output."""
        ran = run(*args, env=env)
        self.assertEqual((ran.returncode, ran.stdout), (status, ""), (args, ran.stderr))
        self.assertRegex(ran.stderr, r"^joulegrid: [^\n]+\n$")
        self.assertIn(says, ran.stderr)
        return ran.stderr

    def command(self, *options, program=("true",), env=None, status=0):
        ran = run("command", *options, *QUICK, "--json", "--", *program, env=env)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return json.loads(ran.stdout)

    def test_bad_input(self):
        env = self.board()
        program = ("--", "true")
        self.refused("command", says="stands after --")
        self.refused("command", "--", says="stands after --")
        self.refused("command", "true", says="not expected")
        self.refused("command", "--", "no-such-program", says="no-such-program")
        self.refused("command", "--", str(self.path), says="directory")
        for value in ("0", "-1", "1.5", "many", "99999999"):
            self.refused("command", "--runs", value, *program, says="--runs")
        for option in ("--trial-seconds", "--idle-seconds", "--settle-seconds", "--timeout"):
            for value in ("0", "-1", "nan", "inf", "1e400", "soon", "3parsecs"):
                self.refused("command", option, value, *program, says=option)
        for value in ("-1", "x", "18446744073709551616"):
            self.refused("command", "--seed", value, *program, says="--seed")
            self.refused("command", "--warmup", value, *program, says="--warmup")
        self.refused("command", "--vs", "'unclosed", *program, says="--vs")
        self.refused("command", "--vs", " ", *program, says="--vs")
        self.refused("command", "--counter", "sundial", *program, says="sundial")
        self.refused("command", "--counter", "nvml:0", *program, says="index", env=env)
        self.refused("command", "--counter", "nvml:GPU-9999", *program, says="GPU-9999", status=3, env=env)
        self.refused("command", "--counter", "nvml:MIG-1234", *program, says="MIG", status=3, env=env)
        self.refused("command", "--counter", "nvml", "--nvml-library", "/etc/passwd", *program, says="/etc/passwd", status=3)
        self.refused("command", "--counter", "rapl", "--powercap-root", self.path, *program, says="rapl", status=3)
        self.refused("command", "--counter", "nvml", *program, says="MIG is on", status=3, env=self.board(BOARD.replace("mig = 0", "mig = 1")))
        self.refused("command", "--output", self.path / "none" / "x", *program, says="none")
        self.refused("command", "--record", self.path / "none" / "x", "--counter", "none", *program, says="none")

    def test_windows_shorter_than_five_ticks_are_refused(self):
        env = self.board(BOARD.replace("250000 10", "250000 100"))
        self.refused("command", "--counter", "nvml", "--idle-seconds", "0.4", "--", "true", says="--idle-seconds", env=env)
        said = self.refused("command", "--counter", "nvml", "--trial-seconds", "0.4", "--", "true", says="--trial-seconds", env=env)
        tick, least = map(int, re.search(r"changes every (\d+) ms; at least (\d+) ms are needed", said).groups())
        self.assertGreater(tick, 90)  # a busy machine sees the counter change late, now and then
        self.assertIn(least, range(5 * tick, 5 * (tick + 1) + 1))

    def test_words_after_the_dashes_are_the_programs(self):
        script = 'import sys; print(sys.argv[1:])'
        words = ["--json", "--help", "[1,2]", "", "ü", "--", "-x"]
        document = self.command("--counter", "none", "--runs", 1, "--trial-seconds", 0.02, program=("/usr/bin/python3", "-c", script, *words))
        stage = next(iter(document["command"]["stages"].values()))
        self.assertEqual(stage["program"], ["/usr/bin/python3", "-c", script, *words])
        self.assertEqual(stage["first_batch"]["output"]["text"], f"{words}\n")

    def test_figures_follow_from_the_windows(self):
        document = self.command("--counter", "nvml", "--runs", 3, "--trial-seconds", 0.2, "--vs", "sleep 0.01", program=("sleep", "0.03"), env=self.board())
        for stage in document["command"]["stages"].values():
            raw = idle = seconds = 0
            adjusted, windows = [], []
            for trial in stage["trials"]:
                watts = [trial[w]["energy_uJ"] / 1e6 / (trial[w]["end_s"] - trial[w]["begin_s"]) for w in ("idle_before", "idle_after")]
                idle = sum(watts) / 2
                work = trial["work_window"]
                joules = work["energy_uJ"] / 1e6 - idle * (work["end_s"] - work["begin_s"] - trial["seconds"])
                raw += joules
                seconds += trial["seconds"]
                adjusted.append((joules - idle * trial["seconds"]) / trial["repetitions"])
                windows += watts
                self.assertEqual(trial["repetitions"], len(trial["details"]["wall_seconds"]))
            n = stage["aggregate_repetitions"]
            self.assertEqual(n, sum(trial["repetitions"] for trial in stage["trials"]))
            mean = sum(windows) / len(windows)
            for key, value in (("raw_board_energy_J_per_run", raw / n), ("seconds_per_run", seconds / n), ("idle_baseline_W", mean),
                               ("idle_adjusted_board_energy_J_per_run", raw / n - mean * seconds / n),
                               ("trial_energy_stdev_J", statistics.stdev(adjusted))):
                self.assertAlmostEqual(stage[key], value, delta=1e-6 * max(1, abs(value)), msg=key)
            low, high = stage["idle_adjusted_baseline_range_J"]
            self.assertAlmostEqual(low, raw / n - max(windows) * seconds / n, delta=1e-6)
            self.assertAlmostEqual(high, raw / n - min(windows) * seconds / n, delta=1e-6)

    def test_rounds_have_each_program_once_in_an_order_of_the_seed(self):
        def positions(seed):
            document = self.command("--counter", "none", "--runs", 6, "--trial-seconds", 0.01, "--seed", seed, "--vs", "sleep 0", "--vs",
                                    "true x")
            stages = list(document["command"]["stages"].values())
            rounds = [[stage["trials"][i]["position"] for stage in stages] for i in range(6)]
            for i, of_round in enumerate(rounds):
                self.assertEqual(sorted(of_round), [3 * i + 1, 3 * i + 2, 3 * i + 3])
            self.assertEqual(len(document["command"]["comparisons"]), 2)
            return rounds

        self.assertEqual(positions(4), positions(4))
        self.assertNotEqual(positions(4), positions(5))

    def test_a_run_that_fails_is_reported_and_in_no_figure(self):
        count = self.path / "count"
        script = f'n=$(cat {count} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {count}; [ $n -ne 4 ] || {{ echo doomed >&2; kill -SEGV $$; }}; sleep 0.05'
        ran = run("command", "--shell", "--counter", "none", "--runs", 5, "--trial-seconds", "0.05", "--warmup", 1, "--json", "--", script)
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stderr, r"^joulegrid: some of the work failed: [^\n]+\n$")
        stage = next(iter(json.loads(ran.stdout)["command"]["stages"].values()))
        failed = [trial for trial in stage["trials"] if trial["details"]["failed_run"]]
        self.assertEqual(len(failed), 1)
        self.assertEqual((failed[0]["details"]["failed_run"]["signal"], failed[0]["details"]["failed_run"]["errors"].strip()), (11, "doomed"))
        good = [trial for trial in stage["trials"] if trial is not failed[0]]
        self.assertEqual(stage["aggregate_repetitions"], sum(trial["repetitions"] for trial in good))
        self.assertAlmostEqual(stage["seconds_per_run"], sum(t["seconds"] for t in good) / stage["aggregate_repetitions"], delta=1e-12)
        self.assertIn("work_failed", [flag["flag"] for flag in stage["flags"]])
        hangs = self.command("--counter", "none", "--runs", 2, "--timeout", "0.1", program=("sleep", "60"), status=1)
        self.assertIn("killed", next(iter(hangs["command"]["stages"].values()))["reason"]["text"])
        accepted = self.command("--counter", "none", "--runs", 1, "--trial-seconds", 0.01, "--ignore-failure", program=("false",))
        self.assertEqual(accepted["command"]["stages"]["false"]["first_batch"]["exit_statuses"], [1])

    def recorded(self, *options, env, status=0, program=("sleep", "0.02")):
        files = [self.path / name for name in ("record", "live.json")]
        ran = run("command", "--counter", "nvml", "--runs", 3, "--trial-seconds", 0.15, *QUICK, *options, "--record", files[0], "--output", files[1],
                  "--", *program, env=env)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return files[0], files[1].read_bytes(), ran.stdout

    def test_a_replay_gives_the_same_bytes(self):
        numbers = " ".join(str(1000 * i) for i in range(140))
        for text, options in ((BOARD, ()), (BOARD, ("--vs", "sleep 0.01")), (BOARD.replace("live = 250000 10", f"energy = {numbers} E15"), ()),
                              (BOARD.replace("live = 250000 10", f"energy = {numbers} 5"), ())):
            record, document, table = self.recorded(*options, env=self.board(text))
            again = run("command", "--counter", f"replay:{record}", "--output", self.path / "again.json", "--record", self.path / "copy")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual((self.path / "again.json").read_bytes(), document)
            self.assertEqual(again.stdout, table)
            self.assertEqual((self.path / "copy").read_bytes(), record.read_bytes())

    def test_a_recording_of_something_else_is_refused(self):
        record, _, _ = self.recorded(env=self.board())
        replay = ("--counter", f"replay:{record}")
        self.refused("busy", *replay, says="not of `measure busy`")
        self.refused("command", *replay, "--", "sleep", "0.03", says="something else")
        self.refused("command", *replay, "--runs", 4, says="another plan")
        self.refused("command", *replay, "--idle-seconds", 4, says="another plan")
        self.refused("command", *replay, "--warmup", 4, says="another plan")
        self.assertEqual(run("command", *replay, "--runs", 3, "--", "sleep", "0.02").returncode, 0)
        other = self.path / "other"
        other.write_text("{}\n")
        self.refused("command", "--counter", f"replay:{other}", says="other:1")
        other.write_text("")
        self.refused("command", "--counter", f"replay:{other}", says="empty")
        self.refused("command", "--counter", "replay:", says="replay:FILE")
        self.refused("command", "--counter", f"replay:{self.path / 'missing'}", says="missing")
        lines = record.read_text().splitlines(keepends=True)
        other.write_text(lines[0])
        self.refused("command", "--counter", f"replay:{other}", says="no measurement")
        other.write_text(lines[0].replace('"schema_version":1', '"schema_version":2') + "".join(lines[1:]))
        self.refused("command", "--counter", f"replay:{other}", says="schema_version")

    def test_a_damaged_recording_never_crashes(self):
        record, _, _ = self.recorded(env=self.board())
        text = bytearray(record.read_bytes())
        damaged = self.path / "damaged"
        seed = 20261201
        generator = random.Random(seed)
        for _ in range(60):
            changed = bytearray(text)
            for _ in range(generator.randint(1, 3)):
                changed[generator.randrange(len(changed))] = generator.randrange(256)
            damaged.write_bytes(changed)
            ran = subprocess.run([PROGRAM, "measure", "command", "--counter", f"replay:{damaged}"], capture_output=True, timeout=60)
            self.assertIn(ran.returncode, (0, 2, 4), (seed, ran.stderr))

    def test_a_truncated_recording_gives_its_finished_trials_and_says_so(self):
        record, document, _ = self.recorded(env=self.board())
        text = record.read_bytes()
        whole = json.loads(document)["command"]["stages"]["sleep 0.02"]["trials"]
        shortened = self.path / "short"
        seen = set()
        for share in (0.2, 0.5, 0.75, 0.97):
            shortened.write_bytes(text[:int(len(text) * share)])
            ran = run("command", "--counter", f"replay:{shortened}", "--json")
            self.assertEqual(ran.returncode, 4, ran.stderr)
            self.assertIn("truncated", ran.stderr)
            section = json.loads(ran.stdout)["command"]
            self.assertEqual(section["ended_early"]["fault"], "recording_truncated")
            trials = section["stages"]["sleep 0.02"]["trials"]
            seen.add(len(trials))
            # Samples that were taken later than the break are not in it.
            for trial, original in zip(trials, whole):
                self.assertEqual({k: v for k, v in trial.items() if k not in ("trace", "telemetry", "flags")},
                                 {k: v for k, v in original.items() if k not in ("trace", "telemetry", "flags")})
        self.assertGreater(len(seen), 1)

    def test_an_interrupt_keeps_the_finished_trials_and_leaves_no_child(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            output, record = self.path / "output.json", self.path / "record"
            process = subprocess.Popen([PROGRAM, "measure", "command", "--counter", "nvml", "--runs", "30", "--trial-seconds", "0.15", *QUICK,
                                        "--output", output, "--record", record, "--", "sh", "-c", "sleep 0.0314159"], env=self.board(),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not output.exists():
                time.sleep(0.01)
            time.sleep(0.3)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=30)
            self.assertEqual((process.returncode, stderr), (4, ""))
            self.assertIn("The run ended early (interrupted)", stdout)
            section = json.loads(output.read_text())["command"]
            stage = next(iter(section["stages"].values()))
            self.assertTrue(0 < len(stage["trials"]) < 30)
            self.assertIsNotNone(stage["idle_baseline_W"])
            self.assertEqual(subprocess.run(["pgrep", "-f", "0.0314159"], capture_output=True).returncode, 1)
            again = run("command", "--counter", f"replay:{record}", "--output", self.path / "again.json")
            self.assertEqual(again.returncode, 4)
            self.assertEqual((self.path / "again.json").read_bytes(), output.read_bytes())
            output.unlink()

    def test_a_crash_leaves_the_finished_trials_on_disk(self):
        output, record = self.path / "output.json", self.path / "record"
        process = subprocess.Popen([PROGRAM, "measure", "command", "--counter", "nvml", "--runs", "30", "--trial-seconds", "0.15", *QUICK,
                                    "--output", output, "--record", record, "--", "sleep", "0.01"], env=self.board(), stdout=subprocess.DEVNULL)
        while not output.exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()
        process.wait()
        section = json.loads(output.read_text())["command"]
        self.assertEqual(section["ended_early"]["fault"], "interrupted")
        self.assertGreaterEqual(len(section["stages"]["sleep 0.01"]["trials"]), 1)
        again = run("command", "--counter", f"replay:{record}", "--json")
        self.assertEqual(again.returncode, 4)
        replayed = json.loads(again.stdout)["command"]
        self.assertEqual(replayed["ended_early"]["fault"], "recording_truncated")
        self.assertGreaterEqual(len(replayed["stages"]["sleep 0.01"]["trials"]), len(section["stages"]["sleep 0.01"]["trials"]))

    def test_progress_on_a_terminal_tells_the_time_left(self):
        try:
            primary, secondary = pty.openpty()
        except OSError:
            self.skipTest("no pseudo-terminals here")
        process = subprocess.Popen([PROGRAM, "measure", "command", "--counter", "nvml", "--runs", "3", "--trial-seconds", "0.3", *QUICK, "--",
                                    "sleep", "0.1"], env={**self.board(), "TERM": "xterm"}, stdout=subprocess.DEVNULL, stderr=secondary)
        os.close(secondary)
        shown = b""
        try:
            while piece := os.read(primary, 4096):
                shown += piece
        except OSError:  # the other side is closed
            pass
        os.close(primary)
        self.assertEqual(process.wait(), 0)
        self.assertRegex(shown.decode(), r"trial [23] of 3, (idle window|at work), about \d+ s left: sleep 0\.1")

    def test_without_any_counter_there_are_times_and_one_line(self):
        env = {**os.environ, "JOULEGRID_POWERCAP_ROOT": str(self.path)}
        ran = run("command", "--runs", 2, "--trial-seconds", "0.02", "--json", "--", "true", env=env)
        self.assertEqual(ran.returncode, 0)
        if json.loads(ran.stdout)["measurement"]["counter"]["name"] != "none":
            self.skipTest("this machine has a counter of another kind")
        self.assertRegex(ran.stderr, r"^joulegrid: no energy counter, [^\n]+\n$")
        stage = json.loads(ran.stdout)["command"]["stages"]["true"]
        self.assertGreater(stage["seconds_per_run"], 0)
        self.assertEqual((stage["idle_adjusted_board_energy_J_per_run"], stage["reason"]["fault"]), (None, "not_present"))
        self.assertIn("none was found", run("command", "--runs", 2, "--trial-seconds", "0.02", "--", "true", env=env).stdout)

    def test_a_counter_that_stands_still_gives_no_energy(self):
        document = self.command("--counter", "nvml", "--runs", 2, "--trial-seconds", 0.05, env=self.board(BOARD.replace("live = 250000 10", "energy = 7")))
        stage = document["command"]["stages"]["true"]
        self.assertEqual((stage["raw_board_energy_J_per_run"], stage["reason"]["fault"]), (None, "frozen"))
        self.assertGreater(stage["seconds_per_run"], 0)


if __name__ == "__main__":
    unittest.main()
