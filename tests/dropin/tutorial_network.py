"""The network of an exercise of p4lang/tutorials: its topology.json, as utils/run_exercise.py reads it, with namespaces for hosts.

Each switch is simple_switch_grpc with the flags of utils/p4runtime_switch.py. Its runtime JSON is written by the tutorials' own library.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

CHECKOUT = pathlib.Path(os.environ["CHECKOUT"])
BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])
SECONDS = 120
FIRST_PORT = 50051


def must(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def until(what, condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"in {seconds} seconds there was no {what}"
        time.sleep(0.1)


class Network:
    """An exercise with its solution. `default` is the program of the switches that name none."""

    def __init__(self, test, exercise, default, topology="topology.json"):
        self.folder = OUT / "exercises" / exercise
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(CHECKOUT / "exercises" / exercise, self.folder)
        for file in (self.folder / "solution").iterdir():
            shutil.copy(file, self.folder)
        for name in ["build", "pcaps", "logs"]:
            (self.folder / name).mkdir()
        for program in self.folder.glob("*.p4"):
            # As utils/Makefile has it.
            info, made = f"build/{program.stem}.p4.p4info.txtpb", f"build/{program.stem}.json"
            must("p4c-bm2-ss", "--p4v", "16", "--p4runtime-files", info, "-o", made, program.name, executable=BACUS, cwd=self.folder)
        self.topology = json.loads((self.folder / topology).read_text())
        self.processes, self.default = [], f"build/{default}.json"
        test.addCleanup(self.stop)
        self.interfaces = {name: [] for name in self.topology["switches"]}
        for name in self.topology["hosts"]:
            must("ip", "netns", "add", name)
        for link in self.topology["links"]:
            self.wire(*link[:2])
        for name, host in self.topology["hosts"].items():
            self.configure(name, host)
        self.names = sorted(self.topology["switches"])
        for at, name in enumerate(self.names):
            self.start(at, name)
        for at, name in enumerate(self.names):
            # The first call right after the port listens, as after the `sleep` of their scripts.
            until(f"port of {name}", lambda: listens(FIRST_PORT + at))
            self.program(at, name)

    def wire(self, one, other):
        ends = [end.replace("-p", "-eth") if "-" in end else f"{end}-x" for end in (one, other)]
        must("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for node, end in zip((one, other), ends):
            if "-" in node:
                pathlib.Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
                must("ip", "link", "set", end, "up")
                switch, port = node.split("-p")
                self.interfaces[switch].append(f"{port}@{end}")
            else:
                must("ip", "link", "set", end, "netns", node, "name", "eth0")

    def configure(self, name, host):
        """The host's address, and its commands of net-tools as those of iproute2."""
        inside = ["ip", "-n", name]
        must("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        must(*inside, "link", "set", "lo", "up")
        must(*inside, "link", "set", "eth0", "address", host["mac"], "up")
        must(*inside, "address", "add", host["ip"], "dev", "eth0")
        for command in host.get("commands", []):
            if gateway := re.match(r"route add default gw (\S+)", command):
                must(*inside, "route", "add", "default", "via", gateway[1], "dev", "eth0")
            elif neighbour := re.match(r"arp -i eth0 -s (\S+) (\S+)", command):
                must(*inside, "neighbour", "replace", neighbour[1], "lladdr", neighbour[2], "dev", "eth0")

    def start(self, at, name):
        switch = self.topology["switches"][name]
        words = [word for interface in self.interfaces[name] for word in ("-i", interface)]
        words += ["--pcap", str(self.folder), "--nanolog", f"ipc:///tmp/bm-{at}-log.ipc", "--device-id", str(at)]
        words += [switch.get("program", self.default), "--log-console", "--thrift-port", str(9090 + at), "--"]
        words += ["--grpc-server-addr", f"0.0.0.0:{FIRST_PORT + at}"]
        words += ["--cpu-port", str(switch["cpu_port"])] if "cpu_port" in switch else []
        self.begin(["simple_switch_grpc", *words], name, executable=BACUS)

    def begin(self, command, name, **options):
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **options))

    def program(self, at, name):
        file = self.topology["switches"][name].get("runtime_json")
        if file is None:
            return
        from p4runtime_lib import simple_controller
        from p4runtime_lib.switch import ShutdownAllSwitchConnections
        with open(self.folder / file) as runtime, open(self.folder / f"{name}.written", "w") as sys.stdout:
            try:
                simple_controller.program_switch(addr=f"127.0.0.1:{FIRST_PORT + at}", device_id=at, sw_conf_file=runtime,
                                                 workdir=str(self.folder), proto_dump_fpath=str(self.folder / f"{name}.requests"),
                                                 runtime_json=file)
            finally:
                sys.stdout = sys.__stdout__
                ShutdownAllSwitchConnections()

    def pings(self, one, other):
        address = self.topology["hosts"][other]["ip"].split("/")[0]
        command = ["ip", "netns", "exec", one, "ping", "-c", "1", "-W", "2", address]
        return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0

    def controller(self, *words):
        """Runs the controller of the exercise, which has no end."""
        clients = pathlib.Path(__file__).parent.parent / "clients"
        folders = [str(clients), str(CHECKOUT / "utils"), os.environ.get("PYTHONPATH", "")]
        environment = dict(os.environ, PYTHONPATH=":".join(folders), PYTHONUNBUFFERED="1")
        # It looks for the library beside the exercises.
        command = [sys.executable, "-m", "p4config", CHECKOUT / "exercises" / self.folder.name / "solution" / "mycontroller.py", *words]
        self.begin([str(word) for word in command], "controller", env=environment)

    def sent(self, host, frames, others, protocol):
        """Sends frames from a host. The frames of an EtherType that each of the others has got from the network."""
        script = ("import socket, sys, time\n"
                  "end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)); end.bind(('eth0', 0)); end.settimeout(0.2)\n"
                  "print('ready', flush=True); limit = time.monotonic() + float(sys.argv[2])\n"
                  "for frame in sys.argv[3:]: end.send(bytes.fromhex(frame))\n"
                  "while time.monotonic() < limit:\n"
                  "    try: frame, address = end.recvfrom(2048)\n"
                  "    except TimeoutError: continue\n"
                  "    if address[2] != 4 and frame[12:14].hex() == sys.argv[1]: print(frame.hex(), flush=True)\n")
        running = {}
        for name, own in [*((other, []) for other in others), (host, frames)]:
            if name in running:
                continue
            own = frames if name == host else own
            words = ["ip", "netns", "exec", name, sys.executable, "-c", script, protocol, "4", *[frame.hex() for frame in own]]
            running[name] = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            assert running[name].stdout.readline() == "ready\n"
        return {name: [bytes.fromhex(line) for line in one.communicate()[0].split()] for name, one in running.items()}

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(30)
        for name in self.topology["hosts"]:
            must("ip", "netns", "delete", name)
        for interfaces in self.interfaces.values():
            for interface in interfaces:
                subprocess.run(["ip", "link", "delete", interface.split("@")[1]], stderr=subprocess.DEVNULL)
