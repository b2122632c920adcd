"""Hosts and switches for examples that need more than one switch, or hosts that answer.

Each host has a network namespace of its own. The switches are in that of the test, where scripts/test-clients gives
the right to make more. A port `N` of a switch `s1` is the interface `s1-ethN`; ports are numbered in the order of links.
"""

import os
import pathlib
import signal
import subprocess
import time

from testbed import BACUS, CPU_PORT, OUT

PATIENCE = 60.0


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def until(what, condition, seconds=PATIENCE):
    """Waits for a condition. Its last value, which is true."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"in {seconds} seconds there was no {what}")
        time.sleep(0.1)
    return value


class Host:
    """A host with the interface `eth0`."""

    def __init__(self, name, mac, address, gateway=None, neighbours=()):
        self.name, self.mac, self.address = name, mac, address
        self.gateway, self.neighbours = gateway, dict(neighbours)
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        until("namespace", lambda: os.readlink(f"/proc/{self.process.pid}/ns/net") != own)

    def command(self, *words):
        return ["nsenter", "--target", str(self.process.pid), "--net", *map(str, words)]

    def run(self, *words):
        run(*self.command(*words))

    def connect(self, interface):
        """Takes an interface of the test's namespace."""
        run("ip", "link", "set", interface, "netns", self.process.pid, "name", "eth0")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "link", "set", "eth0", "address", self.mac, "up")
        self.run("ip", "address", "add", self.address, "dev", "eth0", *(["nodad"] if ":" in self.address else []))
        if self.gateway:
            self.run("ip", "route", "add", "default", "via", self.gateway)
        for address, mac in self.neighbours.items():
            self.run("ip", "neighbour", "add", address, "lladdr", mac, "dev", "eth0")

    def pings(self, other):
        """Whether another host, or an address, answers."""
        address = other.address.split("/")[0] if isinstance(other, Host) else other
        command = self.command("ping", "-c", 1, "-W", 1, address)
        return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0

    def stop(self):
        self.process.kill()
        self.process.wait()


class Bridge(Host):
    """A host with any number of links, which are all in one network of its own."""

    def __init__(self, name, mac, address):
        super().__init__(name, mac, address)
        self.links = 0
        self.run("ip", "link", "add", "bridge", "address", mac, "type", "bridge")
        self.run("ip", "link", "set", "bridge", "up")
        self.run("ip", "address", "add", address, "dev", "bridge")

    def connect(self, interface):
        self.links += 1
        port = f"eth{self.links}"
        run("ip", "link", "set", interface, "netns", self.process.pid, "name", port)
        self.run("ip", "link", "set", port, "master", "bridge", "up")


class Network:
    """Switches with one program, or none, and the links between them and the hosts. `arguments` are further ones of `bacus run`."""

    def __init__(self, test, program, switches, hosts, links, first_port=50001, first_device=None, cpu_port=CPU_PORT,
                 arguments=()):
        self.cpu_port, self.arguments = cpu_port, arguments
        self.hosts = {host.name: host for host in hosts}
        self.ports = {name: [] for name in switches}
        self.processes = []
        test.addCleanup(self.stop)
        for one, other in links:
            ends = [self.end(one), self.end(other)]
            run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for name, end in zip((one, other), ends):
                if name in self.hosts:
                    self.hosts[name].connect(end)
                else:
                    pathlib.Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
                    run("ip", "link", "set", end, "up")
        for index, name in enumerate(switches):
            device = 1 if first_device is None else first_device + index
            self.start(name, program, f"127.0.0.1:{first_port + index}", device)

    def end(self, name):
        if name in self.hosts:
            # Until the host takes it.
            return f"{name}-eth"
        self.ports[name].append(f"{name}-eth{len(self.ports[name]) + 1}")
        return self.ports[name][-1]

    def start(self, name, program, address, device):
        log = OUT / f"{name}.log"
        ports = list(enumerate(self.ports[name], 1))
        if self.arguments:
            command = ["bacus", "run", *([program] if program else []), "--p4runtime", address, "--cpu-port", str(self.cpu_port),
                       "--device-id", str(device), *map(str, self.arguments)]
            command += [word for number, interface in ports for word in ("--port", f"{number}={interface}")]
        else:
            # By the name and flags of BMv2, as the networks of others do.
            command = ["simple_switch_grpc", "--device-id", str(device), *(["--no-p4"] if program is None else [program])]
            command += [word for number, interface in ports for word in ("-i", f"{number}@{interface}")]
            command += ["--", "--grpc-server-addr", address, "--cpu-port", str(self.cpu_port)]
        with log.open("w") as output:
            process = subprocess.Popen([str(word) for word in command], executable=BACUS, stdout=output, stderr=output)
        self.processes.append(process)
        begun = ("ready:", "Server listening on")
        until(f"{name} in {log}", lambda: any(line in log.read_text() for line in begun) or process.poll() is not None, 180)
        if process.poll() is not None:
            raise AssertionError(f"{name} did not start: {log.read_text()}")

    def ping_all(self):
        """Each host reaches each other one, once the controller has written what it takes."""
        for host in self.hosts.values():
            for other in self.hosts.values():
                if host is not other:
                    until(f"answer of {other.name} to {host.name}", lambda: host.pings(other))

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(20)
        for host in self.hosts.values():
            host.stop()
        for ports in self.ports.values():
            for port in ports:
                # The other end goes with it; where that was first, or in a host's namespace, there is none any more.
                subprocess.run(["ip", "link", "delete", port], stderr=subprocess.DEVNULL)


class Example:
    """A controller that runs until the test ends."""

    def __init__(self, test, *command, log="", **options):
        self.log = OUT / f"{test.id()}{log}.log"
        with self.log.open("w") as output:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=output,
                                            stderr=subprocess.STDOUT, **options)
        test.addCleanup(self.stop)

    def text(self):
        return self.log.read_text()

    def prints(self, text):
        """Waits until it has printed this."""
        def condition():
            if self.process.poll() not in (None, 0) and text not in self.text():
                raise AssertionError(f"it ended: {self.text()}")
            return text in self.text()
        until(f"`{text}` in {self.log}", condition)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
