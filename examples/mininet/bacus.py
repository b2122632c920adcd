"""A Mininet switch that runs a P4 program with `bacus run`.

For topologies of your own: `net.addSwitch("s1", cls=BacusSwitch, program="first.p4")`. For `mn`, which then has the
switch `bacus`: `mn --custom bacus.py --switch bacus,program=first.p4 --controller none`.
"""

import itertools
import os
import signal
import subprocess
import tempfile
import time

from mininet.log import error, info
from mininet.moduledeps import pathCheck
from mininet.node import Switch

START_SECONDS = 120  # the first start compiles the program


class BacusSwitch(Switch):
    """Port N of the program is the interface `NAME-ethN`.

    program    the P4 program; None: the switch waits until a controller sets a pipeline
    entries    a file of entries, or a list of them
    p4runtime  the address of its P4Runtime and gNMI server; by default 127.0.0.1:50001 for the first switch,
               50002 for the second, and so on
    device_id  of P4Runtime
    cpu_port   the port of packet-ins and packet-outs
    arguments  further ones of `bacus run`
    bacus      the command
    """

    _numbers = itertools.count(50001)

    def __init__(self, name, program=None, entries=(), p4runtime=None, device_id=1, cpu_port=255, arguments=(),
                 bacus=os.environ.get("BACUS", "bacus"), **options):
        super().__init__(name, **options)
        self.program, self.bacus = program, bacus
        self.entries = [entries] if isinstance(entries, str) else list(entries)
        self.p4runtime = p4runtime or f"127.0.0.1:{next(self._numbers)}"
        self.device_id, self.cpu_port = device_id, cpu_port
        self.arguments = arguments.split() if isinstance(arguments, str) else list(arguments)
        self.log = os.path.join(tempfile.gettempdir(), f"{name}.log")
        self.process = None

    @classmethod
    def setup(cls):
        pathCheck(os.environ.get("BACUS", "bacus"), moduleName="bacus (set BACUS to its path, or extend PATH)")

    def command(self):
        command = [self.bacus, "run"]
        if self.program:
            command.append(self.program)
        for entries in self.entries:
            command += ["--entries", entries]
        for number, interface in sorted(self.intfs.items()):
            if interface.name != "lo":
                command += ["--port", f"{number}={interface.name}"]
        command += ["--p4runtime", self.p4runtime, "--device-id", str(self.device_id)]
        return command + ["--cpu-port", str(self.cpu_port)] + self.arguments

    def start(self, controllers):
        """Returns when the switch forwards. It needs no controller of Mininet."""
        for interface in self.intfList():
            if interface.name != "lo":
                # Only hosts send frames of their own.
                self.cmd(f"sysctl -qw net.ipv6.conf.{interface.name}.disable_ipv6=1")
        with open(self.log, "w") as log:
            self.process = self.popen(self.command(), stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + START_SECONDS
        while "ready:" not in self.text():
            if self.process.poll() is not None or time.monotonic() > end:
                error(f"*** {self.name} did not start:\n{self.text()}\n")
                raise RuntimeError(f"{self.name} did not start")
            time.sleep(0.05)
        info(f"({self.p4runtime}) ")

    def text(self):
        """What it has printed."""
        with open(self.log) as log:
            return log.read()

    def stop(self, deleteIntfs=True):
        """Its counts are then at the end of the log."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        super().stop(deleteIntfs)


# For `mn --custom`.
switches = {"bacus": BacusSwitch}
