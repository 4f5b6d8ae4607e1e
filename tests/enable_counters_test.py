"""scripts/enable_counters.sh on a powercap tree of its own: prints without changing, changes only with --apply as root."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "enable_counters.sh"
NOBODY = 65534


class EnableCountersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.path.chmod(0o755)
        self.script = shutil.copy(SCRIPT, self.path)
        self.root = self.path / "power cap"
        self.rules = self.path / "rules"
        self.rules.mkdir()
        self.counters = [self.root / zone / "energy_uj" for zone in ("intel-rapl:0", "intel-rapl:0/intel-rapl:0:1", "intel-rapl:1")]
        for counter in self.counters:
            counter.parent.mkdir(parents=True)
            counter.write_text("1\n")
            counter.chmod(0o400)
        (self.root / "intel-rapl:0:1").symlink_to(self.root / "intel-rapl:0" / "intel-rapl:0:1")
        (self.root / "intel-rapl").mkdir()  # a control type has no counter

    def run_script(self, *args, **kwargs):
        return subprocess.run([self.script, "--powercap-root", self.root, "--rules-dir", self.rules, *args], capture_output=True,
                              text=True, **kwargs)

    def state(self):
        return sorted((str(p), p.lstat().st_mode, p.lstat().st_gid, p.lstat().st_mtime_ns) for p in self.path.rglob("*"))

    def refused(self, *args, says, status, **kwargs):
        before = self.state()
        ran = self.run_script(*args, **kwargs)
        self.assertEqual((ran.returncode, ran.stdout), (status, ""), ran)
        self.assertRegex(ran.stderr, r"\Aenable_counters\.sh: [^\n]+\n\Z")
        self.assertRegex(ran.stderr, says)
        self.assertEqual(self.state(), before)

    def modes(self):
        return {stat.S_IMODE(counter.stat().st_mode) for counter in self.counters}

    def test_prints_every_step_and_changes_nothing(self):
        before = self.state()
        for args in ((), ("--print",)):
            ran = self.run_script(*args)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            for part in ("PLATYPUS", "CVE-2020-8694", f"{self.rules}/90-joulegrid-rapl.rules", 'SUBSYSTEM=="powercap"',
                         "/bin/chgrp joulegrid", "groupadd --system joulegrid", "perf_event_paranoid=0", "cap_perfmon"):
                self.assertIn(part, ran.stdout)
            # The zone that is also a link is there once.
            self.assertEqual(ran.stdout.count("&& chmod 0440 "), 3)
            self.assertIn("# now -r--------", ran.stdout)
        self.assertEqual(self.state(), before)

    def test_the_printed_commands_do_what_they_say(self):
        lines = [line for line in self.run_script("--everyone").stdout.split("\n") if line.startswith("chgrp ")]
        self.assertEqual(len(lines), 3)
        if os.geteuid() != 0:
            lines = [line.split("&& ")[1] for line in lines]
        subprocess.run("\n".join(["set -e", *lines]), shell=True, check=True)
        self.assertEqual(self.modes(), {0o444})

    def test_a_tree_without_counters_says_so(self):
        shutil.rmtree(self.root)
        ran = self.run_script()
        self.assertEqual(ran.returncode, 0)
        self.assertIn("none below", ran.stdout)
        if os.geteuid() == 0:
            self.refused("--apply", says="no energy counter", status=3)

    def test_changes_nothing_without_root(self):
        user = {"user": NOBODY} if os.geteuid() == 0 else {}
        for action in ("--apply", "--undo"):
            self.refused(action, "--everyone", says="needs root", status=3, **user)

    def test_options_that_make_no_sense_are_refused(self):
        for args in (("--aply",), ("--group",), ("--group", ""), ("--powercap-root",), ("x",)):
            self.refused(*args, says="see --help", status=2)
        for group in ('a"b', "a b", "root;id", "-x", "Ä", "a" * 33):
            self.refused("--group", group, says="--group", status=2)
        self.assertIn("--apply", self.run_script("--help").stdout)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_apply_and_undo(self):
        ran = self.run_script("--apply", "--group", "nogroup")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("3 counters", ran.stdout)
        self.assertEqual(self.modes(), {0o440})
        self.assertEqual({counter.group() for counter in self.counters}, {"nogroup"})
        rule = (self.rules / "90-joulegrid-rapl.rules").read_text()
        self.assertIn('RUN+="/bin/chgrp nogroup %S%p/energy_uj", RUN+="/bin/chmod 0440 %S%p/energy_uj"', rule)
        self.assertEqual(self.run_script("--apply", "--everyone").returncode, 0)
        self.assertEqual(self.modes(), {0o444})
        for _ in range(2):  # a second time changes nothing
            self.assertEqual(self.run_script("--undo").returncode, 0)
            self.assertEqual(self.modes(), {0o400})
            self.assertEqual({counter.group() for counter in self.counters}, {"root"})
            self.assertEqual(list(self.rules.iterdir()), [])

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_a_group_that_does_not_exist_is_refused(self):
        self.refused("--apply", "--group", "joulegrid-no-such-group", says="groupadd", status=3)


if __name__ == "__main__":
    unittest.main(verbosity=1)
