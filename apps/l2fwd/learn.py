"""Teaches apps/l2fwd where hosts are: each source address that the switch reports by digest gets its entries.

    bacus run apps/l2fwd/l2fwd.p4 --port 1=port1 --port 2=port2 --p4runtime 127.0.0.1:9559 &
    pip install finsy
    python3 apps/l2fwd/learn.py 127.0.0.1:9559
"""

import asyncio
import sys

import finsy as fy

DIGEST = "station_t"
# Lists are sent when they hold so many hosts, or when the first has waited so long.
REPORT = fy.P4DigestEntry(DIGEST, max_list_size=100, max_timeout_ns=10_000_000, ack_timeout_ns=1_000_000_000)


def entries(address, port):
    """A source that is known is reported no more; frames to it go to its port."""
    yield fy.P4TableEntry("smac", match=fy.Match(src=address), action=fy.Action("NoAction"))
    yield fy.P4TableEntry("dmac", match=fy.Match(dst=address), action=fy.Action("forward", port=port))


async def known_hosts(switch):
    """What an earlier run has taught the switch."""
    return {
        entry.match["dst"]: entry.action.args["port"]
        async for entry in switch.read(fy.P4TableEntry("dmac"))
        if entry.action.name == "forward"
    }


async def learn(switch):
    if not switch.is_primary:
        return  # Another teaches it; finsy calls again should that one go.
    hosts = await known_hosts(switch)
    reports = switch.read_digests(DIGEST, queue_size=10_000)
    await switch.delete([REPORT], strict=False)
    await switch.insert([REPORT])
    print(f"learning on {switch.address}: {len(hosts)} hosts are known", flush=True)
    async for report in reports:
        # A host may be reported again before its entry is there.
        new = {host["address"]: host["port"] for host in report if host["address"] not in hosts}
        updates = [+entry for address, port in new.items() for entry in entries(address, port)]
        await switch.write([*updates, report.ack()], warn_only=True)
        hosts.update(new)
        for address, port in new.items():
            print(f"host {fy.MACAddress(address)} at port {port}", flush=True)


async def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9559"
    options = fy.SwitchOptions(ready_handler=learn)
    async with fy.Controller([fy.Switch("l2fwd", address, options)]):
        await asyncio.Event().wait()


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
