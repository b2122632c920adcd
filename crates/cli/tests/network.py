# What a host at either end of the switch does: `ping ADDRESS COUNT`, `serve`, `send ADDRESS BYTES`.
# Used by network.rs inside network namespaces; plain sockets, so that no tools need to be installed.
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


def ping(address, count):
    echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    echo.settimeout(2)
    identity = os.getpid() & 0xFFFF
    for sequence in range(count):
        body = bytes(range(48))
        empty = struct.pack("!BBHHH", 8, 0, 0, identity, sequence) + body
        echo.sendto(struct.pack("!BBHHH", 8, 0, checksum(empty), identity, sequence) + body, (address, 0))
        deadline = time.time() + 2
        while True:
            if time.time() > deadline:
                sys.exit(f"no answer to ping {sequence}")
            answer = echo.recv(2048)[20:]
            kind, _, _, answered, number = struct.unpack("!BBHHH", answer[:8])
            if kind == 0 and (answered, number) == (identity, sequence) and answer[8:] == body:
                break
    print("answered", count)


def serve():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen()
    listener.settimeout(30)
    connection, _ = listener.accept()
    connection.settimeout(30)
    digest = hashlib.sha256()
    while True:
        data = connection.recv(CHUNK)
        if not data:
            break
        digest.update(data)
    connection.sendall(digest.digest())


def send(address, size):
    connection = socket.create_connection((address, PORT), timeout=30)
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


if __name__ == "__main__":
    if sys.argv[1] == "ping":
        ping(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "serve":
        serve()
    else:
        send(sys.argv[2], int(sys.argv[3]))
