"""The exercises of p4lang/tutorials: their solutions through p4c-bm2-ss, and the switch by the command line of their Mininet scripts.

CHECKOUT is a checkout, BACUS the command, OUT a folder for what a test leaves behind. Needs a network namespace of its own.
"""

import os
import pathlib
import socket
import subprocess
import time
import unittest

EXERCISES = pathlib.Path(os.environ["CHECKOUT"]) / "exercises"
BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def solutions():
    """The program of each exercise: its solution, where there is one."""
    for exercise in sorted(EXERCISES.iterdir()):
        programs = sorted(exercise.glob("solution/*.p4")) or sorted(exercise.glob("*.p4"))
        for program in programs:
            yield exercise.name, program


class Tutorials(unittest.TestCase):
    def starts(self, program, folder, port):
        build = folder / (program.stem + ".json")
        info = folder / (program.stem + ".p4.p4info.txtpb")
        # As utils/Makefile has it.
        command = ["p4c-bm2-ss", "--p4v", "16", "--p4runtime-files", str(info), "-o", str(build), str(program)]
        compiled = subprocess.run(command, executable=BACUS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, compiled.returncode, compiled.stdout)
        # As utils/p4runtime_switch.py has it, joined by spaces and read by a shell.
        line = f"-i 1@s1-eth1 -i 2@s1-eth2 --pcap {folder} --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 {build} --log-console " \
               f"--thrift-port {port + 1} -- --grpc-server-addr 0.0.0.0:{port} --cpu-port 510"
        with open(folder / "switch.log", "w") as log:
            begin = time.monotonic()
            switch = subprocess.Popen(["simple_switch_grpc", *line.split()], executable=BACUS, stdout=log, stderr=log)
            try:
                while not listens(port):
                    text = (folder / "switch.log").read_text()
                    self.assertTrue(switch.poll() is None and time.monotonic() < begin + 120, f"{program}: {text}")
                    time.sleep(0.05)
                print(f"{program.name}: listens after {time.monotonic() - begin:.1f} s", flush=True)
            finally:
                switch.terminate()
                self.assertEqual(0, switch.wait(30), f"{program}: SIGTERM ends the switch cleanly")

    def test_solutions_are_compiled_and_start(self):
        for end in ["s1-eth1", "s1-eth2"]:
            subprocess.run(["ip", "link", "add", end, "type", "veth", "peer", "name", end + "p"], check=True)
            for name in [end, end + "p"]:
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
        found = list(solutions())
        self.assertTrue(found, "the checkout has exercises")
        for number, (exercise, program) in enumerate(found):
            with self.subTest(exercise=exercise, program=program.name):
                folder = OUT / f"{exercise}-{program.stem}"
                folder.mkdir(parents=True, exist_ok=True)
                self.starts(program, folder, 50051 + 2 * number)


if __name__ == "__main__":
    unittest.main(verbosity=2)
