"""`joulegrid measure mlp` from outside: the document, its counts, MNIST files, replays, error lines. JOULEGRID names the program."""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import jsonschema

PROGRAM = os.environ["JOULEGRID"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = json.loads((ROOT / "tests" / "golden" / "a100_energy_report_2026-09-01.json").read_text())
SCHEMA = json.loads((ROOT / "docs" / "energy.schema.json").read_text())
QUICK = ["--counter", "none", "--trials", "2", "--trial-seconds", "0.02", "--idle-seconds", "0.02", "--settle-seconds", "0.01"]
SMALL = ["--dims", "9,20,7,3", "--examples", "37", "--input", "synthetic", "--batch", "5,full", "--threads", "2"]


def images(count, side=28, magic=0x803):
    return struct.pack(">4I", magic, count, side, side) + bytes(i * 31 % 256 for i in range(count * side * side))


def labels(count):
    return struct.pack(">2I", 0x801, count) + bytes(i % 10 for i in range(count))


def split_mix(seed):
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


class MlpCliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_mlp(self, *args):
        """In a home and a folder of its own, so that no real MNIST is found."""
        env = {k: v for k, v in os.environ.items() if k not in ("JOULEGRID_MNIST", "KERAS_HOME")}
        return subprocess.run([PROGRAM, "measure", "mlp", *map(str, args)], capture_output=True, text=True, cwd=self.path,
                              env={**env, "HOME": str(self.path)})

    def document(self, *args):
        ran = self.run_mlp(*args, *QUICK, "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), args)
        document = json.loads(ran.stdout)
        jsonschema.validate(document, SCHEMA)
        return document

    def refused(self, *args, says, status=2):
        ran = self.run_mlp(*args)
        self.assertEqual((ran.returncode, ran.stdout), (status, ""), (args, ran.stderr))
        self.assertRegex(ran.stderr, r"\Ajoulegrid: [^\n]+\n\Z")
        self.assertIn(says, ran.stderr)

    def mnist(self, count, folder="data/MNIST/raw"):
        where = self.path / folder
        where.mkdir(parents=True)
        (where / "train-images-idx3-ubyte").write_bytes(images(count))
        (where / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels(count)))
        return where

    def test_the_published_network_has_the_published_keys_in_their_order(self):
        self.mnist(20)
        document = self.document("--examples", 20, "--batch", "16,full")
        section = document["ciresan_mnist_int8_inference"]
        golden = GOLDEN["ciresan_mnist_int8_inference"]
        theirs = [k for k in golden if k not in ("modal_app_id", "source_artifact", "source_artifact_sha256", "excluded_additionally")]
        self.assertEqual([k for k in section if k in theirs], theirs)
        self.assertEqual(section["excluded_additionally"][:2], golden["excluded_additionally"][:2])
        for key in ("logical_dimensions", "physical_width_padded_dimensions", "logical_MAC_per_example", "input", "epilogue"):
            self.assertEqual(section[key], golden[key])
        self.assertIn(golden["weights"], section["weights"])
        self.assertEqual(list(section["stages"]), ["logical_batch16", "single_full_batch20"])
        for mine, published in (("logical_batch16", "logical_batch16"), ("single_full_batch20", "single_full_batch60000")):
            keys = [k for k in golden["stages"][published] if k not in ("physical_rows_per_call", "row_padding_reason")]
            self.assertEqual([k for k in section["stages"][mine] if k in keys], keys)
            self.assertEqual(section["stages"][mine]["physical_padded_MAC_per_epoch"], 12041728 * 20)
            self.assertNotIn("physical_rows_per_call", section["stages"][mine])  # no rows are padded
        self.assertEqual(section["stages"]["logical_batch16"]["calls_per_epoch"], 2)
        self.assertEqual(section["logical_MAC_per_epoch"], 11965000 * 20)

    def test_counts_of_another_network(self):
        section = self.document(*SMALL)["mlp_int8_inference"]
        self.assertEqual(section["logical_dimensions"], [9, 20, 7, 3])
        self.assertEqual(section["physical_width_padded_dimensions"], [16, 32, 16, 16])
        self.assertEqual(section["logical_MAC_per_example"], 9 * 20 + 20 * 7 + 7 * 3)
        self.assertEqual(section["logical_MAC_per_epoch"], (9 * 20 + 20 * 7 + 7 * 3) * 37)
        self.assertEqual({name: stage["calls_per_epoch"] for name, stage in section["stages"].items()},
                         {"logical_batch5": 8, "single_full_batch37": 1})
        for stage in section["stages"].values():
            self.assertEqual(stage["physical_padded_MAC_per_epoch"], (16 * 32 + 32 * 16 + 16 * 16) * 37)
            self.assertGreater(stage["seconds_per_epoch"], 0)
            self.assertIsNone(stage["raw_board_energy_J_per_epoch"])
        self.assertEqual((section["device"], section["threads"]), ("cpu", 2))

    def test_shares_of_zeros_and_127s_are_those_of_a_second_opinion(self):
        for shift, most in ((0, 128), (4, 128), (2, 10)):
            section = self.document(*SMALL, "--shift", shift, "--weights-range", most)["mlp_int8_inference"]
            self.assertIn(f"from -{most} to {min(most, 127)}", section["weights"])
            self.assertEqual("shift right by" in section["epilogue"], shift > 0)
            widths = [9, 20, 7, 3]
            random = split_mix(0)
            draw = lambda least, last, of: least + (next(of) * (last - least + 1) >> 64)
            weights = [[[draw(-most, min(most, 127), random) for _ in range(n)] for _ in range(k)] for k, n in zip(widths, widths[1:])]
            inputs = split_mix(1)
            rows = [[draw(-128, 127, inputs) for _ in range(9)] for _ in range(37)]
            for layer, told in zip(weights, section["layers"]):
                rows = [[min(max(sum(x * w[n] for x, w in zip(row, layer)), 0) >> shift, 127) for n in range(len(layer[0]))]
                        for row in rows]
                values = [x for row in rows for x in row]
                self.assertEqual(told, {"outputs": len(layer[0]), "share_of_zeros": values.count(0) / len(values),
                                        "share_of_127s": values.count(127) / len(values)})

    def test_mnist_is_found_read_and_checked(self):
        self.refused(says="scripts/fetch_mnist.sh", status=3)
        self.refused("--mnist", self.path / "none", says="no such folder", status=3)
        self.refused("--mnist", self.path, says="train-images-idx3-ubyte", status=3)
        where = self.mnist(20, "elsewhere")
        args = ("--dims", "784,8,4", "--examples", 20, "--batch", "full", "--mnist", where)
        section = self.document(*args)["mlp_int8_inference"]
        self.assertIn("real MNIST", section["input"])
        self.refused("--mnist", where, says="20 training images")
        self.refused("--dims", "783,4", "--examples", 20, "--mnist", where, says="784 pixels")
        for content, says in ((images(20)[:-1], "ends early"), (images(20) + b"x", "goes on"), (images(20, magic=0x801), "IDX"),
                              (images(20, side=27), "27"), (images(19), "20 labels for 19 images"), (b"", "header")):
            (where / "train-images-idx3-ubyte").write_bytes(content)
            self.refused(*args, says=says)
            self.refused(*args, says=str(where))
        self.refused("--input", "synthetic", "--mnist", where, says="--mnist")

    def test_bad_input(self):
        few = ("--examples", 40, "--input", "synthetic")
        for bad in ("4", "4,0", "65537,4", "4,x", ""):
            self.refused("--dims", bad, *few, says="--dims")
        for bad in ("0", "41", "16,16", "40,full", "full,full", "16,", "x"):
            self.refused("--dims", "4,4", "--batch", bad, *few, says="--batch")
        for bad in ("0", "-1", "x"):
            self.refused("--dims", "4,4", "--input", "synthetic", "--examples", bad, says="xamples")
        self.refused("--examples", "60001", says="--examples")
        for bad in ("32", "x", "1.5"):
            self.refused("--dims", "4,4", "--shift", bad, *few, says="--shift")
        for bad in ("0", "129", "x"):
            self.refused("--dims", "4,4", "--weights-range", bad, *few, says="--weights-range")
        self.refused("--dims", "4,4", "--input", "noise", *few[:2], says="--input")
        self.refused("--dims", "4,4", "--device", "toaster", *few, says="--device")
        self.refused("--dims", "4,4", "--threads", "0", *few, says="--threads")
        self.refused("--dims", "65536,4", "--examples", 10**12, "--input", "synthetic", says="GiB of memory", status=3)

    def test_a_replay_gives_the_same_bytes_and_needs_no_files(self):
        where = self.mnist(20)
        record = self.path / "record"
        args = ("--dims", "784,8,4", "--examples", 20, "--batch", "3,full")
        ran = self.run_mlp(*args, *QUICK, "--record", record, "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        for file in where.iterdir():
            file.unlink()
        for asked in ((), args, args + ("--threads", 1)):
            replayed = self.run_mlp("--counter", f"replay:{record}", *asked, "--json")
            self.assertEqual((replayed.returncode, replayed.stderr, replayed.stdout), (0, "", ran.stdout))
        again = ("--counter", f"replay:{record}")
        self.refused(*again, *args, "--shift", 3, says="something else")
        self.refused(*again, "--dims", "784,8,4", "--examples", 20, "--batch", "4,full", says="other stages")
        self.refused(*again, "--trials", 7, says="another plan")


if __name__ == "__main__":
    unittest.main(verbosity=1)
