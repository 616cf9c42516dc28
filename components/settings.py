"""Settings: environment variables that start with POOLSCOPE_; and what of this machine there is to use."""

import os
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ByteSize, Field, SecretStr, ValidationError as ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from components.texts import ASSETS as ASSETS  # for those who read settings

# Nobody but this machine has its addresses; on a Space, only its proxies reach the app at a private one.
LOOPBACK = ("127.0.0.0/8", "::1/128")
UNKNOWN = 8_000_000_000  # bytes of memory, where the system does not say
Sources = Literal["bundled", "listed", "any"]
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")


def _listed(given: object) -> object:
    if not isinstance(given, str):
        return given
    return [part.strip() for part in given.split(",") if part.strip()]


def space() -> str:
    """The id of the Space that this runs in, as the hub sets it: OWNER/NAME; or ""."""
    return os.environ.get("SPACE_ID", "")


def _sources(given: dict[str, Any]) -> Sources:
    """Give what people come to a Space for, where workers with a limit of memory measure it: any id."""
    return "any" if space() and given["workers"] != 0 and given["cluster"] is None else "listed"


class Settings(BaseSettings):
    """Poolscope's settings; each field is read from POOLSCOPE_<FIELD>."""

    model_config = SettingsConfigDict(env_prefix="POOLSCOPE_", frozen=True)

    catalogue: Path = ASSETS / "backbones.toml"  # the file that lists the backbones
    talk: Path = ASSETS / "talks"  # the file of the talks, or a folder with one a language
    memory: ByteSize | None = None  # for loaded checkpoints, 4GB for example; half of what there is
    download: ByteSize = ByteSize(2_000_000_000)  # the largest
    characters: int = Field(20_000, gt=0)  # of the longest text
    rate: int = Field(120, gt=0)  # questions that one visitor may ask in a minute
    address_rate: int = Field(1800, gt=0)  # and all with one address, such as a lecture hall's
    # Networks of the proxies that may name a visitor's address, with commas.
    proxies: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default_factory=lambda: (*LOOPBACK, *(PRIVATE if space() else ())), validate_default=True
    )
    # The address at which others reach the app; found, where a speaker has a room.
    url: str | None = Field(None, pattern="^https?://")
    room: bool = False  # phones follow the talk, and local addresses have no rate: on a speaker's laptop
    lab_rows: int = Field(2000, ge=0)  # of a table in the lab; with 0 there is no lab
    waiting: int = Field(1000, gt=0)  # questions at most, before "busy" is said
    # Processes that measure; as many as cores, up to 8; with 0 the page's own does it.
    workers: int | None = Field(None, ge=0)
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"  # of checkpoints that are so large, in bytes
    device_from: ByteSize = ByteSize(400_000_000)
    device_dtype: Literal["float32", "bfloat16"] = "float32"  # of their weights there, for answers
    # Where a Ray cluster is asked, whose replicas measure instead: http://host:8000.
    cluster: str | None = Field(None, pattern="^https?://")
    # What may be asked: folders of the catalogue, its hub models too, or any id typed in.
    sources: Sources = Field(default_factory=_sources)
    replicas_least: int = Field(1, gt=0)  # in the cluster, however little is asked
    replicas_most: int = Field(8, gt=0)  # and however much is asked
    answers: ByteSize = ByteSize(32_000_000)  # memory for those that are kept
    metrics: bool = False  # /metrics says what is counted, for Prometheus on this machine
    metrics_token: SecretStr | None = Field(None, min_length=8)  # and for who sends this one
    seconds: float = Field(60, gt=0)  # the longest that an answer may take


def refused(error: ValidationError) -> str:
    """Name each variable that cannot be read, what it was given, and what is allowed; never a token."""
    lines = []
    for one in error.errors():
        if one["type"] != "default_factory_not_called":  # it follows others
            name = f"POOLSCOPE_{one['loc'][0]}".upper()
            given = "" if name.endswith("_TOKEN") else f"={one['input']}"
            lines.append(f"{name}{given}: {one['msg']}")
    return "\n".join(lines)


def unknown() -> list[str]:
    """List the variables that look like settings and are none, such as those of an older version."""
    known = {f"POOLSCOPE_{name.upper()}" for name in Settings.model_fields}
    return sorted(name for name in os.environ if name.startswith("POOLSCOPE_") and name not in known)


def total() -> int:
    """Bytes that this process may use: the machine's or, where that is less, its cgroup's."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else UNKNOWN
    return min([whole, *cgroup_limits(Path("/"))])


def cgroup_limits(root: Path) -> Iterator[int]:
    """The limits, in bytes, of this process's cgroups and those around them; ``root`` has proc and sys."""
    for line in _lines(root / "proc/self/cgroup"):
        _number, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        file = root / "sys/fs/cgroup" / ("memory/memory.limit_in_bytes" if controllers else "memory.max")
        for group in (inner := Path(path.lstrip("/")), *inner.parents):
            for stated in _lines(file.parent / group / file.name):
                if stated.isdigit():  # "max" is no limit
                    yield int(stated)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, PermissionError):  # another system or version, or hidden by a namespace
        return []
