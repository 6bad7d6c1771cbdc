"""A real directory: OpenLDAP's slapd on loopback, with and without TLS, filled from LDIF."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tools.controlplane.certificates import create_identity
from tools.controlplane.ports import LOOPBACK, free_port
from tools.controlplane.process import Process
from tools.local.waiting import GRACE, PATIENCE, PATIENCE_SECONDS

__all__ = ["READER", "READER_PASSWORD", "SUFFIX", "Person", "Slapd", "running_slapd"]

SUFFIX = "dc=example,dc=com"
READER = f"cn=reader,{SUFFIX}"
READER_PASSWORD = "cnry-reader-password"
_SCHEMAS = Path("/etc/ldap/schema")
_MODULES = Path("/usr/lib/ldap")

_CONFIG = """\
include {schemas}/core.schema
include {schemas}/cosine.schema
include {schemas}/inetorgperson.schema
modulepath {modules}
moduleload back_mdb
pidfile {here}/slapd.pid
TLSCACertificateFile {ca}
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
# As many directories do: a bind with a name and no password is taken for nobody's, and succeeds.
allow bind_anon_cred bind_anon_dn
database mdb
suffix {suffix}
directory {here}/db
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact={reader} read by * none
"""
_TREE = f"""\
dn: {SUFFIX}
objectClass: domain
dc: example

dn: {READER}
objectClass: person
cn: reader
sn: reader
userPassword: {READER_PASSWORD}

dn: ou=people,{SUFFIX}
objectClass: organizationalUnit
ou: people
"""
_PERSON = """
dn: uid={uid},ou=people,{suffix}
objectClass: inetOrgPerson
uid: {uid}
cn: {uid}
sn: {uid}
l: {place}
userPassword: {password}
"""
_REFERRAL = f"""
dn: ou=elsewhere,{SUFFIX}
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://127.0.0.1:9/ou=elsewhere,{SUFFIX}
"""


@dataclass(frozen=True)
class Person:
    """Somebody in the directory."""

    uid: str
    password: str = field(repr=False)
    place: str = "Bern"


@dataclass(frozen=True)
class Slapd:
    """A running directory."""

    port: int
    tls_port: int
    ca_pem: str

    def config(self, **changes: object) -> dict[str, object]:
        """What an identity is configured with to ask it: over TLS from the first byte, but for the changes."""
        return {
            "url": f"ldaps://localhost:{self.tls_port}",
            "ldapCaCertificate": self.ca_pem,
            "bindDN": READER,
            "bindPass": READER_PASSWORD,
            "searchBase": SUFFIX,
            "searchFilter": "(&(objectClass=person)(uid={{username}}))",
            **changes,
        }


@contextmanager
def running_slapd(program: str, directory: Path, people: list[Person]) -> Iterator[Slapd]:
    """Yield a directory with these people; it ends with the block.

    Args:
        program: path of slapd.
        directory: private to it.
        people: who is in it.
    """
    identity = create_identity(directory, datetime.now(UTC))
    (directory / "db").mkdir()
    config = directory / "slapd.conf"
    config.write_text(
        _CONFIG.format(
            schemas=_SCHEMAS,
            modules=_MODULES,
            here=directory,
            ca=identity.ca_certificate,
            certificate=identity.server.certificate,
            key=identity.server.key,
            suffix=SUFFIX,
            reader=READER,
        )
    )
    persons = "".join(
        _PERSON.format(uid=one.uid, place=one.place, password=one.password, suffix=SUFFIX) for one in people
    )
    subprocess.run(
        [program, "-T", "add", "-f", config, "-q"],
        input=_TREE + persons + _REFERRAL,
        text=True,
        check=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    port, tls_port = free_port(), free_port()
    listeners = f"ldap://{LOOPBACK}:{port} ldaps://{LOOPBACK}:{tls_port}"
    process = Process(
        "slapd", [program, "-f", str(config), "-h", listeners, "-d", "0"], directory / "slapd.log"
    )
    process.start()
    try:
        process.wait_until(lambda: _listens(port) and _listens(tls_port), awaited="listen", within=PATIENCE)
        yield Slapd(port, tls_port, identity.ca_certificate.read_text())
    finally:
        process.terminate(grace=GRACE)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
