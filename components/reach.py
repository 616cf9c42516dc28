"""Reach: the address at which phones, and others who open a hand-out, find this app."""

import os
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from components.settings import Settings

NOBODY = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # for documentation (RFC 5737)
INSIDE = Path("/.dockerenv"), Path("/run/.containerenv")  # in a container, whose addresses nobody else has


def is_near(link: str) -> bool:
    """Tell whether a link leads to the very machine that it is opened on."""
    try:
        parts = urlsplit(link)
        host, _port = (parts.hostname or "").rstrip("."), parts.port
        if f".{host}".endswith(".localhost"):
            return True
        known = ip_address(host)
    except ValueError:  # no address, such as an unfinished one of IPv6: a name
        return False
    known = getattr(known, "ipv4_mapped", None) or known
    return known.is_loopback or known.is_unspecified


def in_network(host: str) -> str:
    """Find the address in the local network of what listens at ``host``; "" where it has none.

    No packet is sent: a UDP socket that is given a peer knows the address that it would send from.
    """
    everywhere = host in ("", "0.0.0.0", "::")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asked:
        if not everywhere or any(mark.exists() for mark in INSIDE):
            return "" if everywhere or is_near(f"http://{bracketed(host)}") else host
        try:
            asked.connect((NOBODY[family], 9))  # a port has to be named; nothing is sent there
        except OSError:  # there is no network
            return ""
        return str(asked.getsockname()[0])


def bracketed(host: str) -> str:
    """Write a host as it stands in a link."""
    return f"[{host}]" if ":" in host else host


@dataclass(frozen=True)
class Reach:
    """The ``url`` that the owner states; or else this machine's in its network, if there is a room.

    ``host``: where the app listens; None where nobody is told an address of this machine.
    """

    url: str = ""
    host: str | None = None

    def link(self, link: str, path: str) -> str:
        """Give a link to this app, whose page is at ``path``, as others reach it, if that is known."""
        if self.url and link.startswith(("http://", "https://")):
            _, mark, query = link.partition("?")
            return f"{self.url.rstrip('/')}{path}{mark}{query}"
        found = in_network(self.host) if self.host is not None and is_near(link) else ""
        if not found:
            return link
        parts = urlsplit(link)
        port = f":{parts.port}" if parts.port else ""
        return parts._replace(netloc=f"{bracketed(found)}{port}").geturl()


def host_of() -> str:
    """Give the name or address at which the app listens, as gradio's own variable states it."""
    return os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1").strip("[]")


def reach_of(settings: Settings) -> Reach:
    """Say how others reach the app, by its settings."""
    return Reach(settings.url or "", host_of() if settings.room else None)
