"""A switch for one test case, and the wires to its ports.

The wires are pairs of interfaces hostN and portN, which scripts/test-clients makes in a network namespace of its own.
BACUS is the command, OUT a directory for what a test leaves behind.
"""

import os
import pathlib
import select
import signal
import socket
import subprocess
import time

BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])
HERE = pathlib.Path(__file__).parent
EDGE = HERE / "edge.p4"
CPU_PORT = 255
ALL_PROTOCOLS = 3
OUTGOING = 4  # PACKET_OUTGOING: what the interface itself sent


def p4info(program):
    """The P4Info of a program, as the compiler writes it."""
    path = OUT / (program.stem + ".p4info.txtpb")
    subprocess.run([BACUS, "compile", program, "--p4runtime-files", path], check=True, stdout=subprocess.DEVNULL)
    return path


class Wire:
    """The host's end of a wire to a port."""

    def __init__(self, number):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        self.socket.bind((f"host{number}", 0))

    def send(self, frame):
        self.socket.send(frame)

    def receive(self, seconds=3.0):
        """The next frame of the switch, or None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                frame, address = self.socket.recvfrom(65536)
                if address[2] != OUTGOING:
                    return frame
        return None

    def clear(self):
        while self.receive(0.05) is not None:
            pass


class Switch:
    """`bacus run` with three ports, and P4Runtime at `address`."""

    def __init__(self, *arguments, port=None, ports=(1, 2, 3)):
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        command = [BACUS, "run", *map(str, arguments), "--p4runtime", self.address, "--cpu-port", str(CPU_PORT)]
        for number in ports:
            command += ["--port", f"{number}=port{number}"]
        self.log = open(OUT / "switch.log", "a+")
        begin = self.log.tell()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 120
        while "ready:" not in self.printed(begin):
            if self.process.poll() is not None or time.monotonic() > end:
                printed = self.printed(begin)
                self.stop()
                raise RuntimeError(f"the switch did not start: {printed}")
            time.sleep(0.05)
        self.wires = {number: Wire(number) for number in ports}

    def printed(self, begin):
        self.log.seek(begin)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        for wire in getattr(self, "wires", {}).values():
            wire.socket.close()
        self.log.close()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def mac(number):
    return bytes([2, 0, 0, 0, 0, number])


def ethernet(dst, src, type=0x88B5, payload=bytes(46)):
    return mac(dst) + mac(src) + type.to_bytes(2, "big") + payload


def ipv4(dst, ttl=64, to=9, by=1):
    """An IPv4 packet to an address, in a frame to `mac(to)` from `mac(by)`; nobody looks at the checksum."""
    header = bytes([0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 17, 0, 0]) + socket.inet_aton("10.9.9.9") + socket.inet_aton(dst)
    return ethernet(to, by, 0x0800, header + bytes(26))
