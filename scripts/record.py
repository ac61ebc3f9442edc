"""Puts what a script measures into a document.

A document marks what comes from a script. Between `<!-- NAME -->` and `<!-- end NAME -->` is what the script printed;
a figure within a sentence is `<!--=NAME-->figure<!--/-->`.
"""

import contextlib
import io
import os
import re
import subprocess
import sys

FIGURES = {}


def figure(name, text):
    """A figure for the sentences of a document."""
    FIGURES[name] = text


def span(values, digits=1):
    """The least and the largest of some numbers, as in `1.2 to 3.4`."""
    least, most = (f"{end:.{digits}f}" for end in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


@contextlib.contextmanager
def priority(timed=True):
    """Real-time priority for what is timed, if the system permits it, so that other programs do not interrupt it."""
    permitted = timed and set_scheduler("SCHED_FIFO", 10)
    try:
        yield permitted
    finally:
        if permitted:
            set_scheduler("SCHED_OTHER", 0)


def set_scheduler(name, level):
    """Whether the system permits this scheduler for this process and those that it starts."""
    try:
        os.sched_setscheduler(0, getattr(os, name), os.sched_param(level))
    except (AttributeError, PermissionError):
        return False
    return True


def conditions(prioritized=False):
    """Prints the machine, how busy it was before, and whether what was timed had priority."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    kept = ""
    if prioritized:
        with priority() as permitted:
            kept = "; timed with real-time priority" if permitted else "; timed without priority"
    print(f"{os.cpu_count()} cores of a machine ({model}); load average before: {os.getloadavg()[0]:.1f}{kept}.\n")


def has_peers(ebz):
    """Whether this command was built with peers."""
    shot = ["sim", "rtm", "--grid", "16x16x16", "--steps", "8", "--policy", "memory", "--quiet", "--zfp-rate", "6"]
    return subprocess.run([ebz, *shot], capture_output=True).returncode == 0


class Tee(io.StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def run(name, work, *documents):
    """Calls `work`, which prints; what it printed, and its figures, replace those in the documents."""
    FIGURES.clear()
    with contextlib.redirect_stdout(Tee()) as printed:
        work()
    for key, text in FIGURES.items():
        print(f"{key}: {text}")
    if not documents:
        return
    found = {(f"<!-- {name} -->", f"<!-- end {name} -->"): f"\n\n{printed.getvalue().strip()}\n\n"}
    found |= {(f"<!--={key}-->", "<!--/-->"): text for key, text in FIGURES.items()}
    texts = {document: document.read_text() for document in documents}
    for (start, end), new in found.items():
        pattern = re.compile(f"({re.escape(start)}).*?({re.escape(end)})", re.DOTALL)
        if not any(pattern.search(text) for text in texts.values()):
            sys.exit(f"no mark {start} in {', '.join(map(str, documents))}")
        texts = {document: pattern.sub(lambda mark: mark[1] + new + mark[2], text) for document, text in texts.items()}
    for document, text in texts.items():
        document.write_text(text)
