"""Name constraints of an authority, held against common names (RFC 5280 section 4.2.1.10).

For this package alone. The verifier of `cryptography` holds alternative names to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from cryptography import x509

from keybearer.base.certificate_terms import NameType
from keybearer.pki.common_names import read_common_name
from keybearer.pki.name_patterns import WILDCARD

__all__ = ["NameConstraints", "name_constraints_of"]


@dataclass(frozen=True, slots=True)
class _Trees:
    """The names of one side: hosts and mailboxes in lower case."""

    hosts: tuple[str, ...] = ()
    mailboxes: tuple[str, ...] = ()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, names: Iterable[x509.GeneralName] | None) -> _Trees:
        listed = tuple(names or ())
        return cls(
            hosts=tuple(one.value.lower() for one in listed if isinstance(one, x509.DNSName)),
            mailboxes=tuple(one.value.lower() for one in listed if isinstance(one, x509.RFC822Name)),
            networks=tuple(
                ip_network(str(one.value), strict=False) for one in listed if isinstance(one, x509.IPAddress)
            ),
        )


@dataclass(frozen=True, slots=True)
class NameConstraints:
    """Which names an authority may sign for; of a kind that no permitted tree is of, all that aren't excluded."""

    permitted: _Trees
    excluded: _Trees

    def permit(self, common_name: str) -> bool:
        """Return whether a common name is no host, address or mailbox that the authority may not sign for."""
        read = read_common_name(common_name)
        value = "" if read is None else read.value.lower()
        match None if read is None else read.type:
            case NameType.DNS_NAME:
                return self._permits_host(value)
            case NameType.IP_ADDRESS:
                permitted, excluded = self.permitted.networks, self.excluded.networks
                return _is_in(value, permitted, where_none=True) and not _is_in(value, excluded)
            case NameType.EMAIL:
                permits, excludes = (
                    [_is_mailbox_under(value, tree) for tree in trees.mailboxes]
                    for trees in (self.permitted, self.excluded)
                )
                return (any(permits) or not permits) and not any(excludes)
            case _:
                return True

    def _permits_host(self, host: str) -> bool:
        named = host.removeprefix(WILDCARD)
        permits = [_is_host_under(named, tree) for tree in self.permitted.hosts]
        if permits and not any(permits):
            return False
        return not any(
            # A wildcard stands for the host that is excluded, one label below.
            _is_host_under(named, tree) or (named != host and tree.lstrip(".").partition(".")[2] == named)
            for tree in self.excluded.hosts
        )


def name_constraints_of(certificate: x509.Certificate) -> NameConstraints | None:
    """Return the constraints of an authority's certificate, None where it has none."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        return None
    return NameConstraints(_Trees.of(found.permitted_subtrees), _Trees.of(found.excluded_subtrees))


def _is_host_under(host: str, tree: str) -> bool:
    """Return whether a host is the tree's or below it; one with a dot before it has only those below."""
    if not tree:
        return True
    return host.endswith(tree) if tree.startswith(".") else host == tree or host.endswith(f".{tree}")


def _is_mailbox_under(mailbox: str, tree: str) -> bool:
    """Return whether a mailbox is the tree's: one of its own, all of a host, or all of the hosts below a dot."""
    host = mailbox.rpartition("@")[2]
    if "@" in tree:
        return mailbox == tree
    return host.endswith(tree) if tree.startswith(".") else host == tree


def _is_in(
    address: str, networks: tuple[IPv4Network | IPv6Network, ...], *, where_none: bool = False
) -> bool:
    found = ip_address(address)
    return any(found in network for network in networks) or (where_none and not networks)
