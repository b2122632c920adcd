"""What finsy's users do with gNMI: ports of a switch, their links, and their counters."""

import asyncio
import logging
import subprocess
import unittest

import finsy as fy
import testbed
from finsy.gnmiclient import GNMIClientError
from testbed import ethernet

logging.getLogger("finsy").setLevel(logging.ERROR)

INTERFACE = fy.GNMIPath("interfaces/interface[name=*]")
OPER_STATUS = INTERFACE / "state/oper-status"
ENABLED = INTERFACE / "config/enabled"
NAMES = ["port1", "port2", "port3"]


def link(name, state):
    subprocess.run(["ip", "link", "set", name, state], check=True)


class Gnmi(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.switch = testbed.Switch()
        self.addCleanup(self.switch.stop)
        # Whatever a test leaves, the next one has its wires.
        for name in ["port1", "port2", "port3", "host1", "host2", "host3"]:
            self.addCleanup(link, name, "up")

    def client(self):
        return fy.GNMIClient(self.switch.address)

    async def within(self, awaitable, seconds=20.0):
        return await asyncio.wait_for(awaitable, seconds)

    async def test_capabilities(self):
        async with self.client() as client:
            answer = await client.capabilities()
            self.assertEqual("0.10.0", answer.gNMI_version)

    async def test_ports_of_a_switch(self):
        """The ports by name and number, and their links as they change."""
        async with fy.Switch("edge", self.switch.address, fy.SwitchOptions(
                p4info=testbed.p4info(testbed.EDGE), p4blob=testbed.EDGE)) as switch:
            self.assertEqual([(1, "port1", True), (2, "port2", True), (3, "port3", True)],
                             [(port.id, port.name, port.up) for port in switch.ports])

            async def follows(state, up):
                link("host2", state)
                while switch.ports["port2"].up != up:
                    await asyncio.sleep(0.02)

            await self.within(follows("down", False))
            await self.within(follows("up", True))

    async def test_ports_are_disabled(self):
        async with self.client() as client:
            sub = client.subscribe()
            sub.on_change(OPER_STATUS)
            initial = [(update.path["name"], update.value) async for update in sub.synchronize()]
            self.assertEqual([(name, "UP") for name in NAMES], initial)
            updates = sub.updates()
            for enabled, status in [(False, "DOWN"), (True, "UP")]:
                await client.set(update=[(ENABLED.set("interface", name="port1"), enabled)])
                self.assertEqual([enabled, True, True], [update.value for update in await client.get(ENABLED)])
                update = await self.within(anext(updates))
                self.assertEqual(("port1", status), (update.path["name"], update.value))
            sub.cancel()
            with self.assertRaises(GNMIClientError) as failed:
                await client.set(update=[(ENABLED.set("interface", name="port9"), False)])
            self.assertEqual(fy.GRPCStatusCode.NOT_FOUND, failed.exception.code)

    async def test_counters(self):
        path = INTERFACE.set("interface", name="port3") / "state/counters"
        self.switch.wires[3].send(ethernet(2, 7))
        async with self.client() as client:
            sub = client.subscribe()
            sub.sample(path, sample_interval=200_000_000)
            counters = {}
            async def count():
                async for update in sub.updates():
                    counters[update.path.last] = update.value
                    if counters.get("in-pkts", 0) > 0 and update.path.last == "out-discards":
                        return
            # A switch without a pipeline takes no packets: they arrive when it has one.
            async with fy.Switch("edge", self.switch.address, fy.SwitchOptions(
                    p4info=testbed.p4info(testbed.EDGE), p4blob=testbed.EDGE)):
                await self.within(count())
            sub.cancel()
            self.assertEqual(counters["in-octets"], len(ethernet(2, 7)) * counters["in-pkts"])
            self.assertEqual((0, 0), (counters["out-pkts"], counters["in-errors"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
