"""measure gemm from outside. JOULEGRID names the program."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["JOULEGRID"]
SHORT = ["--counter", "none", "--trials", "1", "--trial-seconds", "0.05", "--idle-seconds", "0.02", "--settle-seconds", "0.01"]
CPU_STAGES = ["strict_fp32", "bf16", "int8", "b1_and_popcount"]
BITS = ["--stages", "b1_and_popcount"]  # needs no library


def run(*args, **kwargs):
    return subprocess.run([PROGRAM, "measure", "gemm", *map(str, args)], capture_output=True, text=True, **kwargs)


class GemmTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refused(self, *args, says, status=2):
        ran = run(*args)
        self.assertEqual((ran.returncode, ran.stdout), (status, ""), (args, ran))
        self.assertRegex(ran.stderr, says, args)
        self.assertRegex(ran.stderr, r"\Ajoulegrid: [^\n]+\n\Z", args)

    def document(self, *args):
        ran = run(*args, "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), args)
        return json.loads(ran.stdout)

    def has_all_stages(self):
        return run("--size", 8, *SHORT).returncode == 0

    def test_a_document_has_the_goldens_keys_and_order(self):
        document = self.document("--size", 96, *BITS, "--threads", 1, "--value-seed", 7, "--values", "sparse:0.25", *SHORT)
        section = document["gemm_96"]
        self.assertEqual(list(section), ["timestamp_utc", "shape", "MAC", "conventional_operations", "values", "seed", "threads",
                                         "b1_instruction_set", "ended_early", "stages"])
        self.assertEqual([section[key] for key in ("shape", "MAC", "conventional_operations", "values", "seed", "threads")],
                         [[96, 96, 96], 96**3, 2 * 96**3, "sparse:0.25", 7, 1])
        stage = section["stages"]["b1_and_popcount"]
        self.assertEqual(list(stage)[:4], ["semantics", "kernel", "aggregate_repetitions", "seconds_per_GEMM"])
        self.assertRegex(stage["semantics"], "packed B1 AND . population count -> INT32")
        self.assertGreater(stage["aggregate_repetitions"], 0)
        self.assertGreater(stage["seconds_per_GEMM"], 0)
        self.assertIsNone(stage["raw_board_energy_J_per_GEMM"])
        self.assertEqual(stage["reason"]["fault"], "not_asked")

    def test_all_stages_are_the_default_and_say_what_did_the_work(self):
        if not self.has_all_stages():
            self.skipTest("oneDNN lacks a precision here: " + run("--size", 8, *SHORT).stderr)
        section = self.document("--size", 64, *SHORT)["gemm_64"]
        self.assertEqual(list(section["stages"]), CPU_STAGES)
        self.assertRegex(section["onednn_version"], r"^2\.\d+\.\d+$")
        self.assertTrue(section["onednn_instruction_set"])
        self.assertEqual((section["values"], section["seed"]), ("uniform", 0))
        for stage in section["stages"].values():
            self.assertTrue(stage["kernel"])
            self.assertTrue(stage["semantics"])
        some = self.document("--size", 64, "--stages", "b1_and_popcount,int8", *SHORT)["gemm_64"]
        self.assertEqual(list(some["stages"]), ["b1_and_popcount", "int8"])

    def test_every_distribution_runs(self):
        for values in ("normal", "ones", "sparse:0.5"):
            section = self.document("--size", 33, *BITS, "--values", values, *SHORT)["gemm_33"]
            self.assertEqual(section["values"], values)

    def test_what_makes_no_sense_is_refused(self):
        self.refused("--stages", "fp64", says="--stages: there is no stage 'fp64' on a CPU; there are strict_fp32, bf16, int8, b1_and_popcount")
        self.refused("--stages", "int8,", says="--stages: there is no stage")
        self.refused("--stages", "int8,int8", says="--stages: 'int8' is given twice")
        self.refused("--size", "0", says="--size")
        self.refused("--size", "1e3", says="--size")
        self.refused("--values", "gaussian", says="--values: expected uniform, normal, zeros, ones or sparse:P")
        self.refused("--values", "sparse:2", says="--values: expected a share of zeros from 0 to 1")
        self.refused("--value-seed", "-1", says="--value-seed")
        self.refused("--threads", "0", says="--threads")
        self.refused("--device", "tpu", says="--device: expected cpu or cuda")
        self.refused("--device", "cuda", says="--device: this build has no CUDA backend", status=3)
        self.refused("--size", "131072", "--stages", "int8", says="at most 131071 do")
        self.refused("--size", "10000000", *BITS, says="GiB of memory, of which", status=3)

    def test_a_recording_gives_the_same_document(self):
        file = self.path / "recording.jsonl"
        live = run("--size", 65, *BITS, "--threads", 2, *SHORT, "--record", file, "--json")
        self.assertEqual(live.returncode, 0, live.stderr)
        replay = ["--counter", f"replay:{file}"]
        for options in ([], ["--size", 65], ["--threads", 2], BITS, ["--values", "uniform", "--value-seed", 0]):
            ran = run(*replay, *options, "--json")
            self.assertEqual((ran.returncode, ran.stdout), (0, live.stdout), options)
        for options in (["--size", 64], ["--threads", 1], ["--stages", "int8"], ["--values", "ones"], ["--value-seed", 1]):
            self.refused(*replay, *options, says="recording is of (something else|other stages)")
        busy = subprocess.run([PROGRAM, "measure", "busy", *replay], capture_output=True, text=True)
        self.assertEqual(busy.returncode, 2)
        self.assertIn("of `measure gemm`", busy.stderr)

    def test_the_table_fits_and_help_has_an_example(self):
        ran = run("--size", 65, *BITS, *SHORT)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("b1_and_popcount", ran.stdout)
        self.assertLessEqual(max(map(len, ran.stdout.split("\n"))), 100)
        self.assertIn("Example:", run("--help").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
