"""The program from outside: exit statuses, error lines, files, signals. JOULEGRID names it."""
import json
import os
import pathlib
import pty
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

from signals import send_when_caught

PROGRAM = os.environ["JOULEGRID"]
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
EPOCH = ["--dims", "20,12,6", "--examples", "50", "--batch", "8"]


def run(*args, **kwargs):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, **kwargs)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refused(self, *args, says, status=2):
        """One line on standard error, nothing on standard output, no file touched."""
        def files():
            return sorted((str(p), p.read_bytes() if p.is_file() else None, p.lstat().st_mtime_ns) for p in self.path.rglob("*"))
        before = files()
        ran = run(*args)
        self.assertEqual(ran.returncode, status, (args, ran))
        self.assertEqual(ran.stdout, "", args)
        self.assertRegex(ran.stderr, says, args)
        self.assertRegex(ran.stderr, r"\Ajoulegrid: [^\n]+\n\Z", args)
        self.assertEqual(before, files(), args)

    def test_sizes_must_be_whole_numbers_in_range(self):
        for bad in ["0", "1.5", "7x", "x", "", " 1", "1e3", "281474976710657", "99999999999999999999999999", "+4", "0x10", "１"]:
            self.refused("model", "gemm", bad, "4", "4", says="M: (expected a whole number|the value is empty)")
            self.refused("model", "gemm", "4", "4", bad, says="N: (expected a whole number|the value is empty)")
            self.refused("model", "mlp", "--dims", f"4,{bad},2", "--examples", "4", "--batch", "2", says="--dims")
            self.refused("model", "mlp", "--dims", "4,2", "--examples", bad, "--batch", "2", says="--examples")
            self.refused("report", "movement", "--dims", f"4,{bad}", says="--dims")
            self.refused("report", "movement", "--batches", f"full,{bad}", says="--batches")
            self.refused("report", "movement", "--gemm", f"4,4,{bad}", says="--gemm")
            self.refused("model", "gemm", "4", "4", "4", "--tile", f"{bad},1", says="--tile")
        self.refused("model", "gemm", "-4", "4", "4", says="-4|required")
        self.refused("model", "mlp", "--dims", "4,2", "--examples", "-4", "--batch", "2", says="examples")

    def test_subjects_must_make_sense(self):
        self.refused("model", "gemm", 4, 4, 4, "--tile", "5,1", says="--tile: tile_i of 5")
        self.refused("model", "gemm", 4, 4, 4, "--tile", "1,5", says="--tile: tile_j of 5")
        self.refused("model", "gemm", 4, 4, 4, "--tile", "1", says="--tile")
        self.refused("model", "gemm", 4, 4, 4, "--tile", "1,2,3", says="--tile")
        self.refused("model", "mlp", "--dims", "4", "--examples", 4, "--batch", 2, says="at least two widths")
        self.refused("report", "movement", "--dims", "4", says="at least two widths")
        self.refused("model", "mlp", "--dims", "4,2", "--examples", 4, "--batch", 5, says="batch of 5 is larger")
        self.refused("report", "movement", "--batches", "60001", says="batch of 60001 is larger")
        self.refused("report", "movement", "--batches", "64,64", says="given twice")
        self.refused("report", "movement", "--gemm", "4,4", says="--gemm")
        self.refused("report", "movement", "--date", "2026-02-30", says="--date")
        self.refused("report", "movement", "--date", "today", says="--date")
        for bad in ("0", "-1", "nan", "inf", "1e308", "5e-324", "2", "1fJ"):
            self.refused("report", "movement", f"--joules-per-step={bad}", says="--joules-per-step")
        self.refused("report", "movement", "--joules-per-step", "1fJ", says="--joules-per-step")
        self.refused("search", "gemm", 4, 4, 4, "--family", "sa_cache", "--budget", "5", says="--budget")
        self.refused("search", "gemm", 4, 4, 4, "--family", "sa_cache", "--budget", "-5s", says="--budget|budget")
        self.refused("search", "gemm", 4, 4, 4, "--family", "magic", says="family")
        for option, value, says in (("--candidates", "all", "is an option of --family sa_cache"), ("--seed", "-1", "--seed"),
                                    ("--seed", str(2**64), "2\\^64"), ("--evaluations", "1e6", "--evaluations"), ("--threads", "0", "--threads"),
                                    ("--threads", "1025", "1024"), ("--budget", "soon", "--budget")):
            self.refused("search", "gemm", 4, 4, 4, option, value, says=says)
            self.refused("search", "mlp", *EPOCH, option, value, says=says)
        for option, value in (("--seed", 1), ("--evaluations", 1), ("--threads", 1), ("--method", "beam")):
            self.refused("search", "gemm", 4, 4, 4, "--family", "sa_cache", option, value, says="is an option of --family nest")
        self.refused("search", "gemm", 4, 4, 4, "--prove", says="is an option of --family sa_cache")
        self.refused("search", "gemm", 4, 4, 4, "--method", "beam", "--seed", 1, says="nothing random")
        self.refused("search", "gemm", 4, 4, 4, "--method", "magic", says="method")

    def test_an_empty_value_is_not_an_option_that_was_not_given(self):
        for option in ("--dims", "--examples", "--batches", "--gemm", "--date", "--joules-per-step", "--output"):
            self.refused("report", "movement", option, "", says=option)
        for option in ("--tile", "--nest", "--schedule", "--output"):
            self.refused("model", "gemm", 4, 4, 4, option, "", says=option)
        for option in ("--budget", "--save", "--candidates"):
            self.refused("search", "gemm", 4, 4, 4, "--family", "sa_cache", option, "", says=option)

    def test_errors_are_one_line_whatever_was_given(self):
        self.refused("model", "gemm", "4\n\r\x1b[31m", 4, 4, says=r"\Ajoulegrid: M: [^\x00-\x1f]+\n\Z")
        self.refused("model", "gemm", "9" * 100000, 4, 4, says=r"\A.{1,200}\n\Z")
        self.refused("model", "gemm", 4, 4, 4, "--schedule", self.path / "a\nb", says="cannot open")

    def test_usage_errors_point_at_the_help(self):
        self.refused(says="subcommand is required; see `joulegrid --help`")
        self.refused("model", says="see `joulegrid model --help`")
        self.refused("model", "gemm", "4", "4", says="N is required; see `joulegrid model gemm --help`")
        self.refused("model", "gemm", 4, 4, 4, 4, says="see `joulegrid model gemm --help`")
        self.refused("modle", says="modle|subcommand")
        self.refused("report", "movement", "--tile", says="--tile")
        self.refused("model", "gemm", 4, 4, 4, "--tile", "1,1", "--schedule", "x", says="excludes")

    def test_counts_past_128_bits_are_an_error_not_a_number(self):
        size = 2**48
        # What fits is found even where other candidates do not.
        for command in (["model", "gemm"], ["search", "gemm"]):
            family = ["--family", "sa_cache"] if command[0] == "search" else []
            ran = run(*command, 2**33, 2**33, 2**33, *family, "--json")
            self.assertEqual(ran.returncode, 0, ran)
            self.assertLessEqual(json.loads(ran.stdout)["steps"], 184455616884319919297702617262364404)
        self.refused("model", "gemm", size, size, size, "--tile", "1,1", says="does not fit 128 bits")
        self.refused("search", "gemm", size, size, size, "--family", "sa_cache", says="does not fit 128 bits")
        self.refused("report", "movement", "--dims", f"{size},{size}", says="does not fit 128 bits")

    def test_outputs_that_cannot_be_written_are_refused_before_the_work(self):
        missing = self.path / "no" / "such" / "file.json"
        for args in (["report", "movement"], ["model", "gemm", 4, 4, 4], ["model", "mlp", *EPOCH],
                     ["search", "gemm", 4, 4, 4, "--family", "sa_cache"], ["search", "mlp", *EPOCH, "--family", "sa_cache"]):
            self.refused(*args, "--output", missing, says="cannot write")
            self.refused(*args, "--output", self.path, says="cannot write")
            if args[0] == "search":
                self.refused(*args, "--save", missing, says="cannot write")
                self.refused(*args, "--save", self.path / "s.json", "--output", "/dev/full", says="/dev/full")
                self.refused(*args, "--save", self.path / "s.json", "--output", self.path / ("n" * 256), says="cannot write")
                self.refused(*args, "--save", self.path / "s.json", "--output", self.path / "s.json", says="--save")
            self.refused(*args, "--output", "-", says="--output")

    def test_standard_output_that_is_full_is_an_error(self):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([PROGRAM, "model", "gemm", "4", "4", "4", "--output", self.path / "x.json"], stdout=full,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(list(self.path.iterdir()), [])
        self.assertIn("standard output", ran.stderr)

    def test_output_holds_the_document_and_replaces_only_on_success(self):
        out = self.path / "report.json"
        out.write_text("old")
        self.refused("report", "movement", "--batches", "0", "--output", out, says="--batches")
        self.assertEqual(out.read_text(), "old")
        ran = run("report", "movement", "--output", out)
        self.assertEqual(ran.returncode, 0)
        self.assertIn("Cheapest", ran.stdout)
        self.assertEqual(out.read_text(), run("report", "movement", "--json").stdout)
        self.assertEqual([p.name for p in self.path.iterdir()], ["report.json"])

    def test_json_prints_one_document_and_nothing_else(self):
        for args in (["report", "movement", "--dims", "8,4", "--examples", "6", "--batches", "4"], ["model", "gemm", 4, 6, 8],
                     ["model", "mlp", *EPOCH], ["search", "gemm", 4, 6, 8, "--family", "sa_cache"],
                     ["search", "mlp", *EPOCH, "--family", "sa_cache", "--candidates", "all"]):
            ran = run(*args, "--json")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            json.loads(ran.stdout)

    def test_documents_hold_the_keys_that_scripts_rely_on(self):
        model = json.loads(run("model", "gemm", 16, 16, 16, "--tile", "8,4", "--json").stdout)
        for key in ("schema_version", "problem", "family", "steps", "charged_reads", "joules", "macs", "steps_per_mac", "regions", "tiles"):
            self.assertIn(key, model)
        self.assertEqual(model["steps"], 73602)
        self.assertEqual(model["tiles"], [{"rows": 16, "layer": 0, "tile_i": 8, "tile_j": 4}])
        self.assertEqual([r["name"] for r in model["regions"]], ["sa", "tmp", "sb", "sc", "A", "B", "C"])
        self.assertEqual({r["role"] for r in model["regions"]}, {"scratch", "input", "weight", "output"})
        search = json.loads(run("search", "mlp", *EPOCH, "--family", "sa_cache", "--json").stdout)
        for key in ("evaluations", "seconds", "seed", "floor_steps", "ratio_to_floor"):
            self.assertIn(key, search)

    def test_a_saved_schedule_is_priced_as_the_search_priced_it(self):
        for args in (["gemm", 77, 10, 91], ["mlp", *EPOCH]):
            for candidates in ("divisors", "all"):
                file = self.path / "schedule.json"
                found = json.loads(run("search", *args, "--family", "sa_cache", "--candidates", candidates, "--save", file, "--json").stdout)
                priced = json.loads(run("model", *args, "--schedule", file, "--json").stdout)
                for key in ("steps", "charged_reads", "tiles", "regions"):
                    self.assertEqual(found[key], priced[key])
                file.write_text(json.dumps(found))  # a search's document is a schedule file too
                self.assertEqual(priced, json.loads(run("model", *args, "--schedule", file, "--json").stdout))

    def test_schedule_files_that_do_not_fit_name_the_place(self):
        file = self.path / "schedule.json"
        run("search", "mlp", *EPOCH, "--family", "sa_cache", "--save", file)
        good = file.read_text()
        for old, new, says in ((r'"layer": 1', '"layer": 7', r"schedule\.json#/tiles/1/layer"),
                               (r'"tile_i": \d+', '"tile_i": 0', r"schedule\.json#/tiles/0/tile_i"),
                               (r'"tile_j": \d+', '"tile_j": 999', r"schedule\.json#/tiles/0: tile_j of 999"),
                               (r'"family"', '"family" "x"', r"schedule\.json:\d+: not valid JSON")):
            file.write_text(re.sub(old, new, good, count=1))
            self.refused("model", "mlp", *EPOCH, "--schedule", file, says=says)
        file.write_text(good)
        self.refused("model", "mlp", "--dims", "20,12,7", "--examples", 50, "--batch", 8, "--schedule", file, says="another problem")
        self.refused("model", "gemm", 4, 4, 4, "--schedule", file, says="another problem")
        self.refused("model", "mlp", *EPOCH, "--schedule", self.path / "missing", says="missing: cannot open")
        self.refused("model", "mlp", *EPOCH, "--schedule", self.path, says="cannot read")
        for garbage in (b"", b"\x00\xff\xfe", b"[" * 1000000, b'{"a":' * 100000, b"1" * 1000000):
            file.write_bytes(garbage)
            self.refused("model", "mlp", *EPOCH, "--schedule", file, says="schedule.json")

    def test_nests_are_priced(self):
        for nest, size, steps in (("m2 n4 [C] k16 [B] m8 [A] n4", (16, 16, 16), 73602),
                                  ("through m2 n4 [C] k16 [B] m8 [A] n4", (16, 16, 16), 72306),
                                  ("n400 [B] m23", (23, 1, 400), 678937)):
            priced = json.loads(run("model", "gemm", *size, "--nest", nest, "--json").stdout)
            self.assertEqual((priced["family"], priced["nest"], priced["steps"]), ("nest", nest, steps))
            self.assertEqual(sum(r["steps"] for r in priced["regions"]), steps)
            self.assertNotIn("tiles", priced)
        names = {r["name"].split("[")[0] for r in priced["regions"]}
        self.assertEqual(names, {"A", "B", "B@1", "C"})

    def test_nests_that_make_no_sense_name_the_column(self):
        for nest, says in ((" ", "column 2: expected a loop"), ("m16 x4", r"column 5: expected a loop .* found 'x4'"),
                           ("m16 [D] k16 n16", "column 6: expected an operand A, B or C, found 'D'"),
                           ("[A] m16 k16 n16", "column 2: a mark before the first loop"),
                           ("m16 [A] [A] k16 n16", "column 10: the same mark A is given twice"),
                           ("m16 k0 n16", "column 5: expected a trip count from 1"),
                           ("m16 k281474976710657 n16", "column 5: expected a trip count from 1"),
                           ("m16 k8 n16", "column 5: the trips of k multiply to 8 and do not cover its size, 16"),
                           ("m16 k16 n16;", "column 9: expected a trip count")):
            self.refused("model", "gemm", 16, 16, 16, "--nest", nest, says="--nest, " + says)
        self.refused("model", "gemm", 4, 4, 4, "--nest", "m4", "--tile", "1,1", says="excludes")
        self.refused("model", "gemm", 4, 4, 4, "--nest", "m4", "--schedule", "x", says="excludes")

    def test_schedule_files_of_nests(self):
        file = self.path / "nests.json"
        nests = {4: ["m2 n4 [C] k6 [B] m2 [A] n2", "n2 [AC] k8 [B] m4 n2", "k2 [C] n3 m4 [B] k2"],
                 2: ["n4 [C] k6 [B] m2 [A] n2", "n2 [AC] k8 [B] m2 n2", "k2 [C] n3 m2 [B] k2"]}
        epoch = ["--dims", "6,8,4,3", "--examples", 14, "--batch", 4]
        document = {"schema_version": 1, "family": "nest",
                    "problem": {"kind": "mlp", "dimensions": [6, 8, 4, 3], "examples": 14, "batch": 4},
                    "nest": [{"rows": rows, "layer": layer, "nest": nest} for rows, of in nests.items() for layer, nest in enumerate(of)]}
        for variant, steps, reads in (("", 25237, 5944), ("through ", 24589, 5734)):
            for entry in document["nest"]:
                entry["nest"] = variant + entry["nest"]
            file.write_text(json.dumps(document))
            ran = run("model", "mlp", *epoch, "--schedule", file, "--json")
            priced = json.loads(ran.stdout)
            self.assertEqual((priced["steps"], priced["charged_reads"], priced["nest"]), (steps, reads, document["nest"]))
            self.assertEqual(sum(layer["steps"] for layer in priced["layers"]), steps)
            file.write_text(ran.stdout)  # a price is a schedule file too
            self.assertEqual(run("model", "mlp", *epoch, "--schedule", file, "--json").stdout, ran.stdout)
            self.assertLessEqual(max(map(len, run("model", "mlp", *epoch, "--schedule", file).stdout.split("\n"))), 100)
        self.refused("model", "mlp", "--dims", "6,8,4,3", "--examples", 14, "--batch", 7, "--schedule", file, says="another problem")
        document["nest"][1]["nest"] = "n2 [AC] k8 [B] m4 n2 [Z]"
        file.write_text(json.dumps(document))
        self.refused("model", "mlp", *epoch, "--schedule", file, says=r"nests\.json#/nest/1/nest, column 23: expected an operand")
        file.write_text(json.dumps({**document, "nest": document["nest"][2:]}))
        self.refused("model", "mlp", *epoch, "--schedule", file, says=r"nests\.json#/nest: the nest of rows 4, layer 0 is missing")

    def test_help_everywhere_has_an_example(self):
        for command in ([], ["model"], ["search"], ["report"], ["model", "gemm"], ["model", "mlp"], ["search", "gemm"], ["search", "mlp"], ["report", "movement"], ["completion"], ["counters"], ["measure"], ["measure", "busy"], ["measure", "command"], ["report", "energy"], ["report", "compare"]):
            ran = run(*command, "--help")
            self.assertEqual(ran.returncode, 0)
            self.assertIn("Example:", ran.stdout, command)
        self.assertRegex(run("--version").stdout, r"^joulegrid \d+\.\d+\.\d+\n$")

    def test_help_examples_run(self):
        published = json.loads((GOLDEN / "a100_energy_report_2026-09-01.json").read_text())
        sections = ("gemm_8192", "ciresan_mnist_int8_inference")
        for name, left_out in (("energy", ()), ("gemm", sections[1:]), ("mlp", sections[:1])):
            (self.path / f"{name}.json").write_text(json.dumps({k: v for k, v in published.items() if k not in left_out}))
        (self.path / "movement.json").write_text((GOLDEN / "movement_report_2026-09-02.json").read_text())
        for command in ([], ["model"], ["search"], ["report"], ["model", "gemm"], ["model", "mlp"], ["search", "gemm"], ["search", "mlp"], ["report", "movement"], ["counters"], ["measure"], ["measure", "busy"], ["measure", "command"], ["report", "energy"], ["report", "compare"]):
            line = run(*command, "--help").stdout.split("Example:")[1].strip().split("\n")[0].strip()
            self.assertTrue(line.startswith("joulegrid "), line)
            words = shlex.split(line)[1:]
            if words[0] == "search":  # only as long as it takes to see that it works
                words += ["--evaluations", "10000"]
            ran = run(*words, cwd=self.path)
            self.assertEqual(ran.returncode, 0, (line, ran.stderr))

    def test_energy_documents_are_joined_and_compared(self):
        published = GOLDEN / "a100_energy_report_2026-09-01.json"
        movement = GOLDEN / "movement_report_2026-09-02.json"
        document = json.loads(published.read_text())
        gemm, mlp, both, csv = (self.path / name for name in ("gemm.json", "mlp.json", "both.json", "figures.csv"))
        gemm.write_text(json.dumps({k: v for k, v in document.items() if k != "ciresan_mnist_int8_inference"}))
        mlp.write_text(json.dumps({k: v for k, v in document.items() if k != "gemm_8192"}))
        self.assertEqual(run("report", "energy", gemm, mlp, "--output", both).returncode, 0)
        self.assertEqual(json.loads(both.read_text()), document)
        ran = run("report", "compare", both, movement, "--baseline", gemm, "--csv", csv, "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        int8 = next(w for w in json.loads(ran.stdout)["workloads"] if w["workload"] == "gemm_8192/int8_tensor_core")
        self.assertEqual((round(int8["measured"][1]["idle_adjusted_J"], 6), round(int8["modelled"]["flat_J"], 6)), (0.904074, 0.118953))
        self.assertEqual((int8["measured"][1]["ratio_to_baseline"], int8["measured"][1]["changed"]), (1, None))
        self.assertEqual(len(csv.read_bytes().split(b"\r\n")), 1 + 4 + 6 + 1)
        self.refused("report", "compare", movement, says="nothing measured")
        self.refused("report", "compare", both, "--baseline", movement, says="no energy document")
        self.refused("report", "compare", self.path / "missing.json", says="missing.json")
        self.refused("report", "energy", gemm, movement, says="this is no energy document")
        self.refused("report", "energy", gemm, gemm, says="/gemm_8192/stages/strict_fp32: an earlier document has this stage too")
        mlp.write_text(published.read_text()[:5000])
        self.refused("report", "compare", mlp, says="mlp.json")

    def test_plain_output_has_no_escapes_and_fits_100_columns(self):
        for args in (["report", "movement"], ["model", "gemm", 8192, 8192, 8192], ["model", "mlp", *EPOCH],
                     ["report", "movement", "--dims", ",".join(["1000"] * 30), "--examples", 1000000, "--batches", "full,64"],
                     ["search", "mlp", *EPOCH, "--family", "sa_cache"], ["search", "mlp", *EPOCH, "--evaluations", 20000],
                     ["report", "movement", "--beyond", "--evaluations", 20000]):
            out = run(*args).stdout
            self.assertNotIn("\x1b", out)
            self.assertLessEqual(max(map(len, out.split("\n"))), 100)

    def on_terminal(self, *args, env=None, stderr=False):
        try:
            main, sub = pty.openpty()
        except OSError as error:
            self.skipTest(f"this machine has no pseudo-terminals: {error}")
        process = subprocess.Popen([PROGRAM, *map(str, args)], stdout=subprocess.DEVNULL if stderr else sub,
                                   stderr=sub if stderr else subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **(env or {})})
        os.close(sub)
        out = b""
        while True:
            try:
                chunk = os.read(main, 65536)
            except OSError:
                break
            if not chunk:
                break
            out += chunk
        os.close(main)
        self.assertEqual(process.wait(), 0)
        return out

    def test_colours_only_on_a_terminal_that_wants_them(self):
        os.environ.pop("NO_COLOR", None)
        self.assertIn(b"\x1b[1m", self.on_terminal("model", "gemm", 4, 4, 4))
        self.assertNotIn(b"\x1b", self.on_terminal("model", "gemm", 4, 4, 4, env={"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", self.on_terminal("model", "gemm", 4, 4, 4, env={"TERM": "dumb"}))

    def test_a_budget_that_ends_gives_the_best_so_far(self):
        ran = run("search", "mlp", "--dims", ",".join(["5040"] * 60), "--examples", 100003, "--batch", "64", "--family", "sa_cache",
                  "--candidates", "all", "--budget", "50ms", "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIs(json.loads(ran.stdout)["complete"], False)

    def test_nests_found_are_the_same_for_a_seed_and_a_number_of_evaluations(self):
        for args in (["gemm", 60, 40, 50], ["mlp", *EPOCH], ["mlp", *EPOCH[:-1], "auto"]):
            def found(*options):
                ran = run("search", *args, "--json", *options)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                document = json.loads(ran.stdout)
                self.assertGreater(document.pop("seconds"), 0)
                return document
            first = found("--evaluations", 30000, "--seed", 7, "--threads", 1)
            self.assertEqual((first["family"], first["evaluations"], first["seed"], first["complete"]), ("nest", 30000, 7, True))
            self.assertGreaterEqual(first["ratio_to_floor"], 1)
            self.assertEqual(found("--evaluations", 30000, "--seed", 7, "--threads", 3, "--family", "nest"), first)
            self.assertNotEqual(found("--evaluations", 30000, "--seed", 8)["nest"], first["nest"])
            timed = found("--budget", "300ms")
            self.assertEqual(found("--evaluations", timed["evaluations"]), timed)
            beam = found("--method", "beam", "--evaluations", 300000, "--threads", 1)
            self.assertEqual((beam["method"], beam["seed"]), ("beam", None))
            self.assertEqual(found("--method", "beam", "--evaluations", beam["evaluations"], "--threads", 3), beam)

    def test_saved_nests_are_priced_as_the_search_priced_them(self):
        for args in (["gemm", 60, 40, 50], ["mlp", *EPOCH]):
            file = self.path / "nests.json"
            found = json.loads(run("search", *args, "--evaluations", 20000, "--save", file, "--json").stdout)
            for source in (file.read_text(), json.dumps(found)):
                file.write_text(source)
                priced = json.loads(run("model", *args, "--schedule", file, "--json").stdout)
                for key in ("steps", "charged_reads", "regions", "nest", "ratio_to_floor"):
                    self.assertEqual(priced[key], found[key])
        self.refused("model", "mlp", *EPOCH[:-1], "10", "--schedule", file, says="another problem|batch")

    def test_a_search_for_nests_has_a_budget_of_ten_seconds_unless_told_otherwise(self):
        begin = time.monotonic()
        ran = run("search", "gemm", 8, 8, 8)
        self.assertEqual(ran.returncode, 0)
        self.assertTrue(9.5 < time.monotonic() - begin < 20)
        self.assertRegex(ran.stdout, r"the same again: --seed 1 --evaluations \d+")

    def test_an_interrupted_search_for_nests_prints_the_best_so_far(self):
        for args in (["gemm", 4096, 4096, 4096], ["mlp", *EPOCH[:-1], "auto"]):
            status, out = self.interrupted("search", *args, "--budget", "1h", "--json", after=0.7)
            self.assertEqual(status, 4)
            found = json.loads(out)
            self.assertIs(found["complete"], False)
            again = json.loads(run("search", *args, "--evaluations", found["evaluations"], "--json").stdout)
            self.assertEqual((again["steps"], again["nest"]), (found["steps"], found["nest"]))

    def test_the_progress_of_a_search_for_nests_says_the_ratio_to_the_floor(self):
        out = self.on_terminal("search", "gemm", 512, 512, 512, "--budget", "1s", stderr=True)
        self.assertRegex(out.decode(), r"round \d+, .* evaluations: best [\d.]+ .?J, [\d.]+ times the floor")

    def test_report_movement_beyond_is_the_same_on_any_number_of_threads(self):
        subject = ["--dims", "20,12,6", "--examples", 50, "--batches", "8,full", "--gemm", "8,8,8"]
        args = ["report", "movement", *subject, "--beyond", "--evaluations", 20000, "--json"]
        one = run(*args, "--threads", 1)
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(run(*args, "--threads", 2).stdout, one.stdout)
        self.assertNotEqual(run(*args, "--seed", 2).stdout, one.stdout)
        for option in ("--seed", "--evaluations", "--threads"):
            self.refused("report", "movement", option, 1, says=f"{option} requires --beyond")
        self.refused("report", "movement", "--beyond", "--evaluations", 0, says="--evaluations")
    def test_prove_says_that_tiles_are_the_best(self):
        for args in (["mlp", *EPOCH], ["mlp", *EPOCH, "--candidates", "all"], ["gemm", 24, 36, 60]):
            found = json.loads(run("search", *args, "--family", "sa_cache", "--prove", "--json").stdout)
            self.assertIs(found["complete"], True)
            self.assertEqual({k: found["proof"][k] for k in ("lower_bound_steps", "gap", "optimal")},
                             {"lower_bound_steps": found["steps"], "gap": 0.0, "optimal": True})
            self.assertGreaterEqual(found["proof"]["nodes"], 0)
            said = run("search", *args, "--family", "sa_cache", "--prove").stdout
            self.assertIn("Proven optimal over all " + ("tile sizes" if "all" in args else "divisor tiles"), said)
            self.assertNotIn("proof", json.loads(run("search", *args, "--family", "sa_cache", "--json").stdout))

    def test_prove_finds_better_tiles_than_the_descent_and_saves_them(self):
        epoch = ["mlp", "--dims", "72,48,8,40", "--examples", 320, "--batch", 32]
        args = ["search", *epoch, "--family", "sa_cache", "--json"]
        self.assertEqual(json.loads(run(*args).stdout)["steps"], 41042198)
        save = self.path / "best.json"
        found = json.loads(run(*args, "--prove", "--save", save).stdout)
        self.assertEqual((found["steps"], found["proof"]["optimal"]), (40793637, True))
        self.assertEqual(json.loads(run("model", *epoch, "--schedule", save, "--json").stdout)["steps"], 40793637)

    def test_prove_that_is_stopped_states_what_it_knows(self):
        args = ["search", "mlp", "--dims", ",".join(["5040"] * 20), "--examples", 100003, "--batch", "64", "--family", "sa_cache",
                "--prove", "--budget", "300ms"]
        found = json.loads(run(*args, "--json").stdout)
        self.assertIs(found["complete"], False)
        proof = found["proof"]
        self.assertIs(proof["optimal"], False)
        self.assertLess(proof["lower_bound_steps"], found["steps"])
        self.assertGreaterEqual(proof["lower_bound_steps"], found["floor_steps"])
        self.assertAlmostEqual(proof["gap"], found["steps"] / proof["lower_bound_steps"] - 1)
        self.assertRegex(run(*args).stdout, r"At most \d+\.\d{4} % above the best of all divisor tiles\.")

    def test_prove_refuses_what_it_cannot_prove(self):
        self.refused("search", "mlp", "--dims", "8,4", "--examples", 8, "--batch", "auto", "--family", "sa_cache", "--prove", says="--prove")
        self.refused("search", "mlp", "--dims", f"{2**30},8", "--examples", 2**30, "--batch", "8", "--family", "sa_cache", "--prove",
                     says="too large for a proof")
        self.refused("search", "mlp", "--dims", "8,1000003", "--examples", 1000003, "--batch", "full", "--family", "sa_cache",
                     "--candidates", "all", "--prove", says="too many for a proof")

    def test_an_interrupt_prints_the_best_so_far_and_exits_with_4(self):
        save = self.path / "best.json"
        args = ["mlp", "--dims", ",".join(["5040"] * 150), "--examples", "100003", "--batch", "64"]
        process = subprocess.Popen([PROGRAM, "search", *args, "--family", "sa_cache", "--candidates", "all", "--json", "--save", str(save)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        send_when_caught(process, signal.SIGINT, after=0.5)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (4, ""))
        found = json.loads(out)
        self.assertIs(found["complete"], False)
        priced = json.loads(run("model", *args, "--schedule", save, "--json").stdout)
        self.assertEqual(priced["steps"], found["steps"])

    def interrupted(self, *args, after):
        process = subprocess.Popen([PROGRAM, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        send_when_caught(process, signal.SIGINT, after)
        out, err = process.communicate(timeout=120)
        self.assertEqual(err, "")
        self.assertIn(process.returncode, (0, 4))
        return process.returncode, out

    def test_an_interrupted_model_says_that_its_schedule_is_the_best_so_far(self):
        args = ["model", "mlp", "--dims", ",".join(["5040"] * 250), "--examples", "100003", "--batch", "64", "--json"]
        status, out = self.interrupted(*args, after=0.5)
        self.assertEqual(status, 4)
        self.assertIs(json.loads(out)["complete"], False)
        self.assertGreater(json.loads(out)["seconds"], 0.1)

    def test_an_interrupted_report_holds_only_what_was_finished(self):
        args = ["report", "movement", "--dims", ",".join(["5040"] * 60), "--examples", "10003", "--batches", "full,64,1", "--json"]
        whole = json.loads(run(*args).stdout)
        seen = set()
        for after in (0.05, 0.2, 0.4, 0.8):
            status, out = self.interrupted(*args, after=after)
            seen.add(status)
            part = json.loads(out)
            self.assertEqual(part.pop("interrupted", False), status == 4)
            cases = part["batching_analysis"]["persistent_epoch_address_space"].pop("cases")
            wanted = json.loads(json.dumps(whole))
            all_cases = wanted["batching_analysis"]["persistent_epoch_address_space"].pop("cases")
            for name, case in cases.items():
                self.assertEqual(case, all_cases[name])
            for storage in (part, wanted):  # the partition is that of the first listed case, which may be missing
                for key in ("batch64_partition", "reusable_64_row_input_buffer"):
                    storage["batching_analysis"]["persistent_epoch_address_space"]["input_storage"].pop(key, None)
            if "mac_count_only_sensitivity" not in part:
                wanted.pop("mac_count_only_sensitivity")
            self.assertEqual(part, wanted)
        self.assertIn(4, seen, "no run was interrupted")

    def test_a_signal_that_is_ignored_from_the_start_stays_ignored(self):
        args = ["search", "mlp", "--dims", ",".join(["5040"] * 80), "--examples", "10003", "--batch", "64", "--family", "sa_cache", "--json"]
        process = subprocess.Popen([PROGRAM, *args], stdout=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        self.assertIs(json.loads(out)["complete"], True)

    def test_completion_knows_commands_and_options(self):
        script = run("completion", "bash").stdout
        self.assertEqual(run("completion", "zsh").returncode, 0)
        for words, current, expected in (([], "", {"model", "search", "report", "completion"}), (["model"], "", {"gemm", "mlp"}),
                                         (["report", "movement"], "--d", {"--dims", "--date"}),
                                         (["search", "mlp", "--dims", "8,4"], "--fam", {"--family"})):
            line = ["joulegrid", *words, current]
            quoted = " ".join(f"'{w}'" for w in line)
            ran = subprocess.run(["bash", "-c", f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(line) - 1}; _joulegrid; echo \"${{COMPREPLY[@]}}\""],
                                 capture_output=True, text=True)
            self.assertTrue(expected <= set(ran.stdout.split()), (words, ran))

    def test_floor_says_what_it_proves_and_refuses_what_it_cannot(self):
        size = 2**48
        self.refused("floor", says="see `joulegrid floor --help`")
        self.refused("floor", "gemm", 4, 0, 4, says="K: expected a whole number")
        self.refused("floor", "gemm", size, size, size, says="does not fit 128 bits")
        self.refused("floor", "mlp", "--dims", "4,2", "--examples", 4, "--batch", 5, says="batch of 5 is larger")
        self.refused("floor", "mlp", "--dims", "4", "--examples", 4, says="at least two widths")
        self.refused("floor", "mlp", "--dims", "4,2", says="--examples is required")
        self.refused("floor", "gemm", 4, 4, 4, "--joules-per-step", "-1", says="--joules-per-step")
        self.refused("floor", "gemm", 4, 4, 4, "--output", self.path, says="cannot write")
        self.assertEqual(run("floor", "--help").returncode, 0)
        for args in (["gemm"], ["mlp"]):
            line = run("floor", *args, "--help").stdout.split("Example:")[1].strip()
            ran = run(*line.split()[1:])
            self.assertEqual(ran.returncode, 0, line)
            self.assertIn("classical", ran.stdout)
            self.assertRegex(ran.stdout, "Theorem")
            self.assertLessEqual(max(map(len, ran.stdout.split("\n"))), 100)

    def test_floor_document_holds_its_keys_and_adds_up(self):
        out = self.path / "floor.json"
        ran = run("floor", "gemm", 300, 20, 77, "--output", out, "--json", "--joules-per-step", "2e-15")
        self.assertEqual(out.read_text(), ran.stdout)
        floor = json.loads(ran.stdout)
        self.assertEqual(floor["theorem"], "Theorem 1: blocks of one matrix product")
        levels = sum(level["radii"] * level["slow_reads"] for level in floor["levels"])
        self.assertEqual(floor["steps"], levels + floor["joint"]["reads"])
        self.assertEqual(floor["joules"], floor["steps"] * 2e-15)
        for level in floor["levels"]:
            self.assertTrue({"radius", "slow_reads", "theorem"} <= set(level))

    def test_floor_of_an_epoch_is_the_same_for_every_batch(self):
        epoch = ["--dims", "20,12,6", "--examples", "50"]
        floors = {json.loads(run("floor", "mlp", *epoch, *batch, "--json").stdout)["steps"]
                  for batch in ([], ["--batch", "8"], ["--batch", "full"])}
        self.assertEqual(len(floors), 1)

    def test_prices_stand_beside_their_floor(self):
        for problem in (["gemm", 77, 10, 91], ["mlp", *EPOCH]):
            floor = json.loads(run("floor", *problem, "--json").stdout)["steps"]
            for command in (["model", *problem], ["search", *problem, "--family", "sa_cache"]):
                priced = json.loads(run(*command, "--json").stdout)
                self.assertEqual(priced["floor_steps"], floor)
                self.assertEqual(priced["ratio_to_floor"], priced["steps"] / floor)
                self.assertGreaterEqual(priced["ratio_to_floor"], 1)
                self.assertRegex(run(*command).stdout, "floor .* classical schedules")

    def machine(self, nvml="", amdsmi=""):
        """The environment of a machine with doubles of the vendors' libraries that say this, and one processor package that
        stands still."""
        zone = self.path / "powercap" / "intel-rapl:0"
        zone.mkdir(parents=True, exist_ok=True)
        for name, text in (("name", "package-0"), ("energy_uj", "7"), ("max_energy_range_uj", "262143328850"), ("enabled", "1")):
            (zone / name).write_text(text + "\n")
        (self.path / "nvml").write_text(nvml)
        (self.path / "amdsmi").write_text(amdsmi)
        return {**os.environ, "JOULEGRID_NVML_LIBRARY": os.environ["NVML_DOUBLE"], "JOULEGRID_NVML_DOUBLE": str(self.path / "nvml"),
                "JOULEGRID_AMDSMI_LIBRARY": os.environ["AMDSMI_DOUBLE"], "JOULEGRID_AMDSMI_DOUBLE": str(self.path / "amdsmi"),
                "JOULEGRID_POWERCAP_ROOT": str(self.path / "powercap")}

    CARDS = ("card\nuuid = GPU-1111aaaa-2222-3333-4444-555566667777\nbus = 0000:65:00.0\nname = Some Card\nlive = 250000 20\n"
             "card\nuuid = GPU-2222bbbb\nbus = 0000:81:00.0\nenergy = E3\n")

    def test_counters_lists_what_was_found_with_its_tick_and_what_was_not_with_its_reason(self):
        env = self.machine(nvml=self.CARDS, amdsmi="init = E34\n")
        file = self.path / "counters.json"
        ran = run("counters", "--json", "--output", file, env=env)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(file.read_text(), ran.stdout)
        document = json.loads(ran.stdout)
        self.assertEqual(document["schema_version"], 1)
        live, unsupported, amdsmi, rapl, perf = document["counters"][:5]
        self.assertEqual(list(live), ["name", "kind", "available", "reason", "scope", "includes", "unit", "resolution_uJ", "tick_ms",
                                      "tick_reason", "longest_gap_ms", "device", "driver", "notes"])
        self.assertEqual((live["name"], live["kind"], live["available"], live["reason"], live["scope"], live["unit"], live["driver"]),
                         ("nvml:GPU-1111aaaa-2222-3333-4444-555566667777", "nvml", True, None, "GPU board", "1 mJ", "550.54.15"))
        self.assertEqual(live["device"], {"uuid": "GPU-1111aaaa-2222-3333-4444-555566667777", "pci": "0000:65:00.0", "name": "Some Card"})
        self.assertEqual(live["resolution_uJ"] % 5000000, 0)  # 250 W for 20 ms
        self.assertEqual(live["tick_reason"], None)
        ticks = live["tick_ms"]
        self.assertLessEqual(ticks["shortest"], ticks["median"])
        self.assertLessEqual(ticks["median"], ticks["longest"])
        self.assertGreater(ticks["median"], 10)  # a busy machine may see fewer ticks, not more
        self.assertEqual((unsupported["name"], unsupported["available"], unsupported["reason"]),
                         ("nvml:GPU-2222bbbb", False, {"fault": "not_supported", "text": "nvmlDeviceGetTotalEnergyConsumption says 3 (Not Supported)"}))
        self.assertEqual((amdsmi["name"], amdsmi["reason"]["fault"]), ("amdsmi", "driver_not_loaded"))
        self.assertEqual((rapl["name"], rapl["available"], rapl["scope"], rapl["tick_ms"], rapl["tick_reason"]["fault"], rapl["device"]),
                         ("rapl:package", True, "CPU package", None, "frozen", None))
        self.assertEqual(rapl["longest_gap_ms"], 131061.664)
        self.assertEqual(perf["kind"], "perf")
        for counter in document["counters"]:
            self.assertEqual(counter["available"], counter["reason"] is None)
            self.assertNotEqual(counter["tick_ms"] is None, counter["tick_reason"] is None)

    def test_counters_are_readable_and_fit_100_columns(self):
        ran = run("counters", env=self.machine(nvml=self.CARDS, amdsmi="card\nbus = 0000:03:00.0\nenergy = 1 2 3\n"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        for part in ("Energy counters: 3 of ", "nvml:GPU-1111aaaa-2222-3333-4444-555566667777  ", "Some Card at 0000:65:00.0", "15.259 µJ",
                     "(not_supported)"):
            self.assertIn(part, ran.stdout)
        self.assertNotIn("\x1b", ran.stdout)
        self.assertLessEqual(max(map(len, ran.stdout.split("\n"))), 100)

    def test_counters_of_a_machine_that_has_none_is_no_failure(self):
        env = {**self.machine(), "JOULEGRID_POWERCAP_ROOT": str(self.path)}
        ran = run("counters", "--json", env=env)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual([c["reason"]["fault"] for c in json.loads(ran.stdout)["counters"][:3]], ["not_present"] * 3)

    def test_paths_of_counters_that_do_not_exist_are_unavailable(self):
        missing = self.path / "missing"
        for option in ("--nvml-library", "--amdsmi-library", "--powercap-root"):
            self.refused("counters", option, missing, says=str(missing), status=3)
            self.refused("counters", option, "", says=option)
            ran = run("counters", env={**os.environ, "JOULEGRID" + option[1:].replace("-", "_").upper(): str(missing)})
            self.assertEqual((ran.returncode, ran.stdout), (3, ""), option)
            self.assertRegex(ran.stderr, r"\Ajoulegrid: [^\n]*missing[^\n]*\n\Z")
        self.refused("counters", "--output", self.path / "no" / "file", says="cannot write")

    def test_an_option_says_where_counters_are_rather_than_the_environment(self):
        env = self.machine(nvml=self.CARDS)
        missing = str(self.path / "missing")
        for variable, option in (("JOULEGRID_NVML_LIBRARY", "--nvml-library"), ("JOULEGRID_AMDSMI_LIBRARY", "--amdsmi-library"),
                                 ("JOULEGRID_POWERCAP_ROOT", "--powercap-root")):
            ran = run("counters", option, env[variable], env={**env, variable: missing})
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_interrupted_counters_say_what_was_measured(self):
        env = self.machine(nvml="".join(f"card\nuuid = GPU-{i}\nenergy = 5\n" for i in range(4)))  # a second each
        process = subprocess.Popen([PROGRAM, "counters", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        send_when_caught(process, signal.SIGINT, after=1.5)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (4, ""))
        document = json.loads(out)
        self.assertIs(document["interrupted"], True)
        faults = [c["tick_reason"]["fault"] for c in document["counters"] if c["available"]]
        self.assertEqual((faults[0], faults[-1]), ("frozen", "not_asked"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
