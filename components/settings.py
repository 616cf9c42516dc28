"""What an owner may set, from environment variables that start with POOLSCOPE_."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ASSETS = Path(__file__).resolve().parent.parent / "assets"


class Settings(BaseSettings):
    """Poolscope's settings; each field is read from POOLSCOPE_<FIELD>."""

    model_config = SettingsConfigDict(env_prefix="POOLSCOPE_", frozen=True)

    catalogue: Path = Field(ASSETS / "backbones.toml", description="the file that lists the backbones")
    characters: int = Field(20_000, gt=0, description="longest text, in characters")
    checkpoints: int = Field(10, gt=0, description="how many checkpoints stay loaded")
