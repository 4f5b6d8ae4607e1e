"""Runs the commands of cases.json and compares what they print with the files beside it.

    golden.py            check (needs JOULEGRID, the path of the program)
    golden.py --rewrite  write the files anew; the published reports are never rewritten

A document must be equal to the last byte, but for the keys that hold wall-clock time.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = re.compile(r'("seconds": )[-+.e0-9]+')


def main():
    rewrite = sys.argv[1:] == ["--rewrite"]
    program = os.environ["JOULEGRID"]
    failed = 0
    for case in json.loads((HERE / "cases.json").read_text()):
        ran = subprocess.run([program, *shlex.split(case["command"])], capture_output=True, text=True, cwd=HERE)
        printed = SECONDS.sub(r"\1null", ran.stdout)
        path = HERE / case["expected"]
        if ran.returncode != 0 or ran.stderr:
            print(f"FAILED ({ran.returncode}): {case['command']}\n{ran.stderr}")
            failed += 1
        elif rewrite and not case.get("published"):
            path.write_text(printed)
        elif printed.rstrip("\n") != path.read_text().rstrip("\n"):
            print(f"DIFFERS from {case['expected']}: {case['command']}")
            failed += 1
        else:
            print(f"same: {case['command']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
