"""Signals to a program that has said how it takes them: one that is only starting would simply end."""
import pathlib
import time


def send_when_caught(process, number, after=0.0):
    """Sends the signal `after` seconds after the process has a handler for it; nothing where it has ended by then."""
    deadline = time.monotonic() + 60
    while process.poll() is None and not catches(process.pid, number):
        if time.monotonic() > deadline:
            raise AssertionError(f"the program never caught signal {number}")
        time.sleep(0.002)
    time.sleep(after)
    if process.poll() is None:
        process.send_signal(number)


def catches(pid, number):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)
