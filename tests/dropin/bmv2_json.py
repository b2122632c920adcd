"""The STF tests of p4c's corpus on BMv2's own `simple_switch`, by p4c's own runner, with the JSON that our p4c writes. BMV2_SWITCH is the folder of a built
`simple_switch` with its command line (targets/simple_switch of behavioral-model), P4C a checkout of p4c. FILTER: only programs with that in their path."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

BACUS = pathlib.Path(os.environ["BACUS"])
OUT = pathlib.Path(os.environ["OUT"]) / "bmv2-json"
P4C = pathlib.Path(os.environ["P4C"])
SWITCH = pathlib.Path(os.environ["BMV2_SWITCH"])
RUNNER = P4C / "backends/bmv2/run-bmv2-test.py"
# What passes at least: docs/bmv2_json.md names what cannot be written.
SHARE = 0.99
LIMIT_SECONDS = 180
ATTEMPTS = 4
# Packets are a few seconds of waiting each.
AT_ONCE = os.cpu_count() or 1


def programs():
    """The v1model programs of P4_16 that have a test."""
    for test in sorted((P4C / "testdata/p4_16_samples").glob("*.stf")):
        program = test.with_suffix(".p4")
        if program.exists() and re.search(r"#include\s*[<\"]v1model.p4", program.read_text(errors="replace")):
            if os.environ.get("FILTER", "") in str(program):
                yield program


def build():
    """The folder that the runner takes for the build of p4c: our compiler, and a note that there is a switch."""
    folder = OUT / "build"
    folder.mkdir(parents=True)
    (folder / "p4c-bm2-ss").symlink_to(BACUS)
    (folder / "config.h").write_text("#define HAVE_SIMPLE_SWITCH 1\n")
    return folder


def ran(program, folder):
    """What the runner prints if the test fails; nothing if it passes."""
    place = OUT / program.stem
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    environment = {**os.environ, "PATH": f"{SWITCH}:{os.environ['PATH']}"}
    command = [sys.executable, RUNNER, P4C, program, "-td", place, "-bd", folder, "-ll", "ERROR", "--observation-log", place / "observed"]
    try:
        # Where it runs, it keeps which Thrift ports are taken.
        done = subprocess.run(command, cwd=OUT, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT_SECONDS} s"
    return None if done.returncode == 0 else done.stdout


def until_passed(program, folder):
    """What the runner prints each time, up to the first time without a failure."""
    for _ in range(ATTEMPTS):
        text = ran(program, folder)
        yield text
        if text is None:
            return


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    folder = build()
    tests = list(programs())
    assert tests, f"there is no test below {P4C}/testdata"
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda program: ran(program, folder), tests))
    # The runner waits a second for its command line and two for packets, which is not long on a busy machine: what fails runs again, alone. Wrong
    # JSON fails each time.
    again = [program for program, text in zip(tests, results) if text is not None]
    failed = [(program, texts[-1]) for program in again if None not in (texts := [*until_passed(program, folder)])]
    for program, text in failed:
        print(f"{program.relative_to(P4C)}: failed\n{text.strip()}")
    passed = len(tests) - len(failed)
    print(f"{passed} of {len(tests)} tests of p4c's corpus pass in BMv2 with our JSON; {len(again)} ran more than once")
    sys.exit(passed < SHARE * len(tests))


main()
