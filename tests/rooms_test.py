"""The rooms include each other only one way: every include is checked against this list."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = {
    "base": set(),
    "grid": {"base"},
    "network": {"base"},
    "bound": {"base", "grid", "network"},
    "schedule": {"base", "grid", "network"},
    "ir": {"base", "grid", "network", "schedule"},
    "search": {"base", "grid", "network", "schedule"},
    "counter": {"base"},
    "process": {"base"},
    "measure": {"base", "counter"},
    "workload": {"base", "counter", "measure", "process"},
    "report": {"base", "bound", "counter", "grid", "ir", "measure", "network", "schedule", "search"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<](?:joulegrid/(\w+)/|(cli)/)', re.M)
# Headers of the library that are not installed may speak nlohmann's JSON; installed ones may not.
FOREIGN = re.compile(r'^\s*#\s*include\s+[<"](nlohmann|fmt|hwy|CLI)/', re.M)


def main():
    wrong = []
    seen = set()
    rooms = sorted(p.name for p in (ROOT / "joulegrid").iterdir() if p.is_dir())
    wrong += [f"joulegrid/{room} is not in the list" for room in rooms if room not in ALLOWED]
    wrong += [f"joulegrid/{room} is in the list but does not exist" for room in ALLOWED if room not in rooms]
    for room in rooms:
        listed = (ROOT / "joulegrid" / room / "CMakeLists.txt").read_text()
        installed = set(re.search(r"HEADERS ([^A-Z)]*)", listed).group(1).split())
        for path in sorted((ROOT / "joulegrid" / room).rglob("*.[hc]*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = path.read_text()
            seen.add(path.name)
            for other, cli in INCLUDE.findall(text):
                if cli or (other != room and other not in ALLOWED.get(room, set())):
                    wrong.append(f"{path.relative_to(ROOT)} includes {cli or 'joulegrid/' + other}")
            if path.name in installed and FOREIGN.search(text):
                wrong.append(f"{path.relative_to(ROOT)} is installed and includes a foreign library's header")
    print(f"{len(seen)} files looked at")
    print("\n".join(wrong))
    return 1 if wrong or len(seen) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
