"""Controllers over TLS: the switch shows its certificate, and lets in who shows one of the right authority."""

import asyncio
import pathlib
import subprocess
import tempfile
import unittest

import finsy as fy
import testbed


def openssl(folder, *arguments):
    subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True)


def authority(folder, name):
    """A certificate that signs others."""
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.pem")


def certificate(folder, name, by):
    """A certificate for this machine."""
    extensions = folder / f"{name}.ext"
    extensions.write_text("subjectAltName = IP:127.0.0.1\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial",
            "-days", "2", "-extfile", extensions, "-out", f"{name}.pem")


class Case(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name in ["ours", "others"]:
            authority(cls.folder, name)
        certificate(cls.folder, "switch", "ours")
        certificate(cls.folder, "controller", "ours")
        certificate(cls.folder, "stranger", "others")

    def switch(self, *arguments):
        files = ["--tls-cert", self.folder / "switch.pem", "--tls-key", self.folder / "switch.key"]
        switch = testbed.Switch(testbed.EDGE, *files, *arguments)
        self.addCleanup(switch.stop)
        return switch

    async def can_write(self, switch, credentials):
        """Whether a controller with these credentials gets an entry into the switch, and reads it back."""
        options = fy.SwitchOptions(channel_credentials=credentials, fail_fast=True)
        entry = fy.P4TableEntry("dmac", match=fy.Match(dst=7), action=fy.Action("forward", port=2))
        try:
            async with asyncio.timeout(10), fy.Switch("switch", switch.address, options) as controller:
                await controller.write([+entry])
                read = [found async for found in controller.read(fy.P4TableEntry("dmac")) if found.match]
                return len(read) == 1
        except (fy.P4ClientError, OSError, TimeoutError, ExceptionGroup):
            return False

    def credentials(self, authority, identity=None):
        files = [self.folder / f"{authority}.pem"]
        files += [self.folder / f"{identity}.{kind}" for kind in ["pem", "key"]] if identity else [None, None]
        return fy.GRPCCredentialsTLS(**dict(zip(["cacert", "cert", "private_key"], files)))


class Tls(Case):
    async def test_the_switch_is_known_by_its_authority(self):
        switch = self.switch()
        self.assertFalse(await self.can_write(switch, None), "in plain words")
        self.assertFalse(await self.can_write(switch, self.credentials("others")), "another switch")
        self.assertTrue(await self.can_write(switch, self.credentials("ours")))

    async def test_only_controllers_of_the_authority_get_in(self):
        switch = self.switch("--tls-ca", self.folder / "ours.pem")
        self.assertFalse(await self.can_write(switch, self.credentials("ours")), "without a certificate")
        self.assertFalse(await self.can_write(switch, self.credentials("ours", "stranger")), "of another authority")
        self.assertTrue(await self.can_write(switch, self.credentials("ours", "controller")))


if __name__ == "__main__":
    unittest.main()
