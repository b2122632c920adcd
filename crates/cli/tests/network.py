# What a host at either end of the switch does; the last lines list it. Used by tests inside network namespaces: plain sockets, so that no tools need to be
# installed. What waits for others prints `listening` first.
import ctypes
import fcntl
import hashlib
import os
import socket
import struct
import sys
import time

PORT = 5001
CHUNK = 1 << 16


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


# The body may be so long that one packet takes more than one frame.
def ping(address, count, size):
    echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    echo.settimeout(2)
    identity = os.getpid() & 0xFFFF
    for sequence in range(count):
        body = bytes(i % 251 for i in range(size))
        empty = struct.pack("!BBHHH", 8, 0, 0, identity, sequence) + body
        echo.sendto(struct.pack("!BBHHH", 8, 0, checksum(empty), identity, sequence) + body, (address, 0))
        deadline = time.time() + 2
        while True:
            if time.time() > deadline:
                sys.exit(f"no answer to ping {sequence}")
            answer = echo.recv(CHUNK)[20:]
            kind, _, _, answered, number = struct.unpack("!BBHHH", answer[:8])
            if kind == 0 and (answered, number) == (identity, sequence) and answer[8:] == body:
                break
    print("answered", count)


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(address):
    listener = socket.socket(family_of(address))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen()
    listener.settimeout(60)
    print("listening", flush=True)
    connection, _ = listener.accept()
    connection.settimeout(60)
    digest = hashlib.sha256()
    while True:
        data = connection.recv(CHUNK)
        if not data:
            break
        digest.update(data)
    connection.sendall(digest.digest())


def send(address, size):
    connection = socket.create_connection((address, PORT), timeout=60)
    digest = hashlib.sha256()
    block = os.urandom(CHUNK)
    for _ in range(size // CHUNK):
        connection.sendall(block)
        digest.update(block)
    connection.shutdown(socket.SHUT_WR)
    answer = b""
    while len(answer) < 32:
        data = connection.recv(64)
        if not data:
            sys.exit("the receiver went away")
        answer += data
    if answer != digest.digest():
        sys.exit("what arrived is not what was sent")
    print("sent", size)


SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_VNET_HDR = 15
NEEDS_CHECKSUM = 1
TAGGED = 0x10
UDP_SEGMENT = 103
SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17


def transmit(frame, count):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.bind(("eth0", 0))
    for _ in range(count):
        packets.send(bytes.fromhex(frame))


# An interface that completes no checksums, and so makes no segments: the kernel does both before.
def without_offloads(interface):
    off = ctypes.create_string_buffer(struct.pack("=II", ETHTOOL_STXCSUM, 0))
    request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(off))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        fcntl.ioctl(asks, SIOCETHTOOL, request)


# Frames of so many flows in turns: the flow's number in front, and at the end that of the source and its own. They come as fast as a slow switch takes them.
def flows(source, count, rounds):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.bind(("eth0", 0))
    print("listening", flush=True)
    for number in range(count * rounds):
        packets.send(struct.pack("!H57xBI", number % count, source, number))
        if number % count == 0:
            time.sleep(0.002)


# A frame, with so many zeros behind it, whose checksum and segmentation are left to hardware: the kind and size of segments, and where the checksum is summed from and stands.
def offload(interface, frame, zeros, kind, size, start, offset):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packets.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    packets.bind((interface, 0))
    header = start + 20 if kind else 0
    packets.send(struct.pack("=BBHHHH", NEEDS_CHECKSUM, kind, header, size, start, offset) + bytes.fromhex(frame) + bytes(zeros))


# Frames that come to eth0 whose text in hexadecimal has `part` in it, with the tag that the kernel has taken out.
def capture(part, count, seconds):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    packets.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    packets.bind(("eth0", 3))
    end = time.time() + seconds
    print("listening", flush=True)
    while count > 0 and time.time() < end:
        packets.settimeout(max(end - time.time(), 0.001))
        try:
            frame, notes, _, sender = packets.recvmsg(1 << 17, 256)
        except TimeoutError:
            break
        if sender[2] == socket.PACKET_OUTGOING:
            continue
        for level, kind, data in notes:
            status, _, _, _, _, tag, tpid = struct.unpack("=IIIHHHH", data[:20])
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA) and status & TAGGED:
                frame = frame[:12] + struct.pack("!HH", tpid, tag) + frame[12:]
        if part in frame.hex():
            count -= 1
            print(frame.hex(), flush=True)


# Datagrams of `each` bytes, which the kernel hands to its interface as one.
def segments(address, each, count):
    sender = socket.socket(family_of(address), socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_UDP, UDP_SEGMENT, each)
    sender.sendto(b"".join(bytes([i]) * each for i in range(count)), (address, PORT))


def datagrams(address, count):
    receiver = socket.socket(family_of(address), socket.SOCK_DGRAM)
    receiver.bind((address, PORT))
    receiver.settimeout(20)
    print("listening", flush=True)
    for _ in range(count):
        data = receiver.recv(CHUNK)
        print(len(data), data[0], data.count(data[0]), flush=True)


COMMANDS = {
    "ping": (ping, str, int, int),
    "serve": (serve, str),
    "send": (send, str, int),
    "transmit": (transmit, str, int),
    "without_offloads": (without_offloads, str),
    "flows": (flows, int, int, int),
    "offload": (offload, str, str, int, int, int, int, int),
    "capture": (capture, str, int, float),
    "segments": (segments, str, int, int),
    "datagrams": (datagrams, str, int),
}

if __name__ == "__main__":
    command, *kinds = COMMANDS[sys.argv[1]]
    command(*[kind(text) for kind, text in zip(kinds, sys.argv[2:], strict=True)])
