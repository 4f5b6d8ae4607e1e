"""`joulegrid ir` from outside: a second opinion in Python on prices and values, files, pipes, errors. JOULEGRID names it."""
import json
import math
import os
import pathlib
import random
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from signals import send_when_caught

PROGRAM = os.environ["JOULEGRID"]
SUM = "1,2\nmul 3,1,1\ndiv 4,1,2\nadd 4,4,1\n4,3\n"


def run(*args, **kwargs):
    kwargs.setdefault("text", True)
    return subprocess.run([PROGRAM, "ir", *map(str, args)], capture_output=True, **kwargs)


def parsed(text):
    lines = [line.strip() for line in text.replace(";", "\n").split("\n")]
    lines = [line for line in lines if line]
    return lines[0].split(","), [line.replace(",", " ").split() for line in lines[1:-1]], lines[-1].split(",")


def sources(words):
    if words[0] == "set":
        return []
    operands = [int(word) for word in words[1:] if word.isdigit()]
    short = words[0] not in ("copy", "not", "abs", "cmp", "select") and len(operands) == 2
    return operands if short else operands[1:]


def price(text):
    _, instructions, outputs = parsed(text)
    reads = [address for words in instructions for address in sources(words)] + [int(address) for address in outputs]
    histogram = {}
    for address in reads:
        distance = math.isqrt(address - 1) + 1
        histogram[str(distance)] = histogram.get(str(distance), 0) + 1
    return sum(int(d) * n for d, n in histogram.items()), len(reads), histogram


class IrTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, content):
        path = self.path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, *args, says, status=2, **kwargs):
        """One line on standard error, nothing on standard output, no file touched."""
        before = sorted(p.name for p in self.path.rglob("*"))
        ran = run(*args, **kwargs)
        self.assertEqual(ran.returncode, status, (args, ran))
        self.assertEqual(ran.stdout, "", args)
        self.assertRegex(ran.stderr, says, args)
        self.assertRegex(ran.stderr, r"\Ajoulegrid: [^\n]+\n\Z", args)
        self.assertEqual(before, sorted(p.name for p in self.path.rglob("*")), args)

    def test_an_interrupt_ends_the_waiting_for_input(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "sum.ir"
            program.write_text(SUM)
            for args in (["price", "-"], ["run", str(program), "--inputs", "-"]):
                process = subprocess.Popen([PROGRAM, "ir", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                send_when_caught(process, signal.SIGINT, after=0.5)
                self.assertEqual(process.wait(timeout=20), 4, args)
                for pipe in (process.stdin, process.stdout, process.stderr):
                    pipe.close()

    def test_failures_take_no_memory_beyond_the_first(self):
        program = "1\ndiv 2,1,1\n2\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "div.ir"
            path.write_text(program)
            ran = run("run", path, "--inputs", "-", "--format", "i8", "--cells", "i8", input=bytes(3000000), text=False)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(len(ran.stderr.splitlines()), 21)
        self.assertIn(b"3000000 of 3000000 instances ended early", ran.stderr)
        self.assertEqual(ran.stdout, bytes(3000000))

    def test_prices_are_what_a_second_opinion_says(self):
        generator = random.Random(7)
        for _ in range(20):
            m, k, n = (generator.randint(1, 12) for _ in range(3))
            tile = f"{generator.randint(1, m)},{generator.randint(1, n)}"
            text = run("emit", "gemm", m, k, n, "--tile", tile).stdout
            document = json.loads(run("price", "-", "--json", input=text).stdout)
            steps, reads, histogram = price(text)
            self.assertEqual((document["steps"], document["charged_reads"], document["histogram"]), (steps, reads, histogram))
            closed = json.loads(subprocess.run([PROGRAM, "model", "gemm", *map(str, (m, k, n)), "--tile", tile, "--json"],
                                               capture_output=True).stdout)
            self.assertEqual((closed["steps"], closed["charged_reads"]), (steps, reads), (m, k, n, tile))
            self.assertEqual(document["instruction_count"], len(parsed(text)[1]))
            self.assertEqual(sum(document["instructions"].values()), document["instruction_count"])

    def test_an_emitted_program_computes_the_product(self):
        generator = random.Random(8)
        for m, k, n, tile in ((5, 7, 6, "3,4"), (1, 1, 1, "1,1"), (9, 1, 4, "2,4"), (4, 8, 8, None)):
            program = self.path / "gemm.ir"
            run("emit", "gemm", m, k, n, *(["--tile", tile] if tile else []), "--output", program)
            instances = [[generator.randint(-999, 999) for _ in range(m * k + k * n)] for _ in range(70)]
            expected = [[sum(v[i * k + x] * v[m * k + x * n + j] for x in range(k)) for i in range(m) for j in range(n)] for v in instances]
            inputs = self.file("in.txt", "\n".join(",".join(map(str, v)) for v in instances) + "\n")
            ran = run("run", program, "--inputs", inputs)
            self.assertEqual(ran.stdout, "".join(",".join(map(str, c)) + "\n" for c in expected))
            self.assertEqual(json.loads(run("run", program, "--inputs", inputs, "--json").stdout)["outputs"], expected)
            raw = self.file("in.raw", b"".join(struct.pack(f"<{len(v)}q", *v) for v in instances))
            ran = run("run", program, "--inputs", raw, "--format", "i64", "--output", self.path / "out.raw")
            self.assertEqual((self.path / "out.raw").read_bytes(), b"".join(struct.pack(f"<{len(c)}q", *c) for c in expected))
            self.assertIn("grid steps", ran.stdout)
            small = self.file("in.i8", bytes(value & 0xFF for v in instances for value in v))
            ran = run("run", program, "--inputs", small, "--format", "i8", "--cells", "i8", text=False)
            wrapped = [[(c + 128) % 256 - 128 for c in row] for row in expected]
            self.assertEqual(ran.stdout, b"".join(struct.pack(f"<{len(c)}b", *c) for c in wrapped))

    def test_without_a_tile_the_best_one_is_emitted(self):
        best = json.loads(subprocess.run([PROGRAM, "model", "gemm", "12", "8", "16", "--json"], capture_output=True).stdout)
        document = json.loads(run("price", "-", "--json", input=run("emit", "gemm", 12, 8, 16).stdout).stdout)
        self.assertEqual((document["steps"], document["charged_reads"]), (best["steps"], best["charged_reads"]))

    def test_nests_and_schedule_files_are_emitted_at_their_price(self):
        schedule = self.path / "tile.json"
        subprocess.run([PROGRAM, "search", "gemm", "12", "8", "16", "--family", "sa_cache", "--save", schedule], capture_output=True)
        for given in (["--nest", "through reflected m3 n4 [C] k8 [B] m4 [A] n4"], ["--nest", "n3 [B] k5 [C] m12 k2 n6"],
                      ["--schedule", schedule]):
            closed = json.loads(subprocess.run([PROGRAM, "model", "gemm", "12", "8", "16", *given, "--json"], capture_output=True).stdout)
            document = json.loads(run("price", "-", "--json", input=run("emit", "gemm", 12, 8, 16, *given).stdout).stdout)
            self.assertEqual((document["steps"], document["charged_reads"]), (closed["steps"], closed["charged_reads"]), given)
        self.refused("emit", "gemm", 4, 4, 4, "--nest", "m2 n4 k4", says="--nest")
        self.refused("emit", "gemm", 4, 4, 4, "--nest", "m4 n4 k4", "--tile", "1,1", says="excludes")

    def test_a_fault_ends_only_its_own_instance_and_is_reported(self):
        program = self.file("sum.ir", SUM)
        inputs = self.file("in.txt", "7,2\n7,0\n-7,2\n9223372036854775807,0\n")
        ran = run("run", program, "--inputs", inputs)
        self.assertEqual((ran.returncode, ran.stdout), (2, "10,49\n\n-11,49\n\n"))
        self.assertEqual(ran.stderr.splitlines(), [
            f"joulegrid: {program}:3: div 4,1,2: a zero divisor in instance 1",
            f"joulegrid: {program}:2: mul 3,1,1: a result that does not fit 64 bits in instance 3",
            f"joulegrid: {program}: 2 of 4 instances ended early; the outputs of the others are right"])
        ran = run("run", program, "--inputs", inputs, "--json")
        document = json.loads(ran.stdout)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(document["outputs"], [[10, 49], None, [-11, 49], None])
        self.assertEqual(document["failures"][0], {"instance": 1, "line": 3, "instruction": "div 4,1,2", "fault": "a zero divisor"})
        self.assertEqual((document["steps"], document["charged_reads"]), price(SUM)[:2])
        many = self.file("many.txt", "1,0\n" * 1000)
        ran = run("run", program, "--inputs", many, "--cells", "i8")
        self.assertEqual(len(ran.stderr.splitlines()), 21)
        self.assertIn("1000 of 1000 instances", ran.stderr)

    def test_bytes_wrap(self):
        program = self.file("p.ir", "1,2\ndiv 3,1,2\nabs 4,1\nset 5,255\nset 6,-128\n3,4,5,6\n")
        self.assertEqual(run("run", program, "--inputs", "-", "--cells", "i8", input="-128,-1\n128,255\n").stdout,
                         "-128,-128,-1,-128\n" * 2)

    def test_programs_that_make_no_sense_are_refused_with_their_line(self):
        for text, says in (("", r"standard input:1: the program is empty"), ("1\n", r":1: the program ends without"),
                           ("1,1\n1\n", r":1: the input address 1 is listed twice"), ("1\nadd 2,1,3\n2\n", r":2: cell 3 is read before"),
                           ("1\n\nmov 2,1\n2\n", r":3: unknown operation 'mov'"), ("1\r\ncopy 2\r\n2\r\n", r":2: wrong number of operands"),
                           ("1\ncopy 0,1\n1\n", r":2: .*addresses start at 1"), ("1\ncopy 2,-1\n2\n", r":2: expected an address"),
                           ("1\ncopy 18446744073709551616,1\n1\n", r":2: .*2\^64"), ("1\ncopy 2,1\n3\n", r":3: the output cell 3 is never written"),
                           ("1\ncopy 2,1\n2\n3\n", r":3: expected an instruction")):
            self.refused("price", "-", says=says, input=text)
            self.refused("price", "-", "--json", says=says, input=text)
            self.refused("run", "-", "--inputs", "/dev/null", says=says, input=text)
        self.refused("price", "-", "--instructions", "v2", says=r":3: the operation 'div' is not in the instruction set v2", input=SUM)
        self.refused("price", "-", "--instructions", "v4", says="instructions", input=SUM)
        self.refused("price", self.path / "missing", says="missing: cannot open")
        self.refused("price", self.path, says="cannot read")
        self.refused("run", "-", "--inputs", "/dev/null", "--cells", "i8", says=r":2: the literal 256", input="1\nset 1,256\n1\n")

    def test_inputs_that_make_no_sense_are_refused_with_their_line(self):
        program = self.file("sum.ir", SUM)
        out = self.file("out.txt", "old")
        for text, says in (("1,2\n3\n", r"standard input:2: expected 2 values"), ("1,2,3\n", r":1: expected 2 values"), ("1,x\n", r":1: expected an integer"),
                           ("1,9223372036854775808\n", r":1: .*64 bits")):
            self.refused("run", program, "--inputs", "-", "--output", out, says=says, input=text)
        self.refused("run", program, "--inputs", "-", "--format", "i8", says="ends within instance 1", input="abc")
        self.refused("run", program, "--inputs", "-", "--format", "i64", says="ends within instance 0", input="abc")
        self.refused("run", "-", "--inputs", "-", says="cannot both", input=SUM)
        self.refused("run", program, says="--inputs is required")
        self.refused("run", program, "--inputs", self.path / "missing", says="missing: cannot open")
        self.refused("run", program, "--inputs", out, "--threads", "0", says="--threads")
        self.refused("run", program, "--inputs", out, "--threads", "1025", says="--threads")
        self.refused("run", program, "--inputs", out, "--output", self.path / "no" / "such", says="cannot write")
        self.assertEqual(out.read_text(), "old")

    def test_integers_that_do_not_fit_the_raw_format_are_refused(self):
        program = self.file("sum.ir", SUM)
        self.refused("run", program, "--inputs", "-", "--format", "i8", says="the output 200 of instance 0 does not fit 8 bits", input="d\x01")

    def test_emitting_leaves_a_whole_file_or_none(self):
        out = self.file("out.ir", "old")
        self.refused("emit", "gemm", 4, 4, 4, "--tile", "5,1", "--output", out, says="--tile: tile_i of 5")
        self.refused("emit", "gemm", 4, 4, 4, "--tile", "5", "--output", out, says="--tile")
        self.refused("emit", "gemm", 4, 4, "x", says="N: expected")
        self.refused("emit", "gemm", 2**40, 1, 2**40, "--tile", "1,1", says="64 bits")
        process = subprocess.Popen([PROGRAM, "ir", "emit", "gemm", "2000", "2000", "2000", "--tile", "8,8", "--output", str(out)])
        send_when_caught(process, signal.SIGINT, after=0.5)
        self.assertEqual(process.wait(timeout=60), 4)
        self.assertEqual(out.read_text(), "old")
        self.assertEqual([p.name for p in self.path.iterdir()], ["out.ir"])
        self.assertEqual(run("emit", "gemm", 2, 3, 2, "--tile", "2,1", "--output", out).returncode, 0)
        self.assertEqual(out.read_text(), run("emit", "gemm", 2, 3, 2, "--tile", "2,1").stdout)

    def test_an_interrupt_ends_the_pricing_of_an_endless_stream(self):
        process = subprocess.Popen([PROGRAM, "ir", "price", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"1\n")
        for _ in range(100):
            process.stdin.write(b"copy 2,1\n" * 1000)
        send_when_caught(process, signal.SIGINT)
        time.sleep(0.2)
        try:
            process.stdin.write(b"copy 2,1\n" * 100000)
        except BrokenPipeError:
            pass
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (4, b"", b""))

    def test_a_stream_is_priced_in_little_memory(self):
        emit = subprocess.Popen([PROGRAM, "ir", "emit", "gemm", "160", "160", "160"], stdout=subprocess.PIPE)
        process = subprocess.Popen([PROGRAM, "ir", "price", "-", "--json"], stdin=emit.stdout, stdout=subprocess.PIPE)
        emit.stdout.close()
        document = json.load(process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        self.assertEqual((emit.wait(), process.returncode), (0, 0))
        closed = json.loads(subprocess.run([PROGRAM, "model", "gemm", "160", "160", "160", "--json"], capture_output=True).stdout)
        self.assertEqual(document["steps"], closed["steps"])
        if "sanitize" not in os.environ.get("JOULEGRID_FLAGS", ""):
            self.assertLess(usage.ru_maxrss, 40_000, "KiB, for a text of some 90 MB")

    def test_help_everywhere_has_an_example_that_runs(self):
        self.file("program.ir", SUM)
        self.file("values.txt", "1,2\n")
        for command in (["price"], ["run"], ["emit", "gemm"]):
            ran = run(*command, "--help")
            self.assertEqual(ran.returncode, 0)
            line = ran.stdout.split("Example:")[1].strip().split("\n")[0].replace("joulegrid", PROGRAM)
            ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, cwd=self.path)
            self.assertEqual((ran.returncode, ran.stderr), (0, b""), line)
        for command in ([], ["emit"]):
            self.assertEqual(run(*command, "--help").returncode, 0)

    def test_tables_are_plain_and_fit_100_columns(self):
        out = run("price", "-", input=run("emit", "gemm", 40, 30, 20).stdout).stdout
        self.assertNotIn("\x1b", out)
        self.assertLessEqual(max(map(len, out.split("\n"))), 100)


if __name__ == "__main__":
    unittest.main(verbosity=1)
