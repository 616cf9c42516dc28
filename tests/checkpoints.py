"""Fixtures: what the tests of checkpoints load once in each process, and make once for all processes."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from filelock import FileLock
from transformers import AutoModelForSequenceClassification

from components.analyses.passport import Passport, passport
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.files import version
from components.model.internals import repeatable
from components.model.loading import load
from components.types import BackboneSpec
from tests.families.cases import CASES, FACTS, ByHand, Case, Family, boundless, is_mechanism, tiny_checkpoint
from tests.plain import SPECS

Loaded = Callable[[str], Backbone]  # the fixtures of these names
Made = Callable[..., BackboneSpec]


@pytest.fixture(scope="session")
def loaded(engine: Engine) -> Loaded:
    """The bundled backbone of a key, the one that the engine answers with: a test leaves it as it is."""
    return lambda key: engine.process.measurer.checkpoints.get(SPECS[key], version(SPECS[key]))


@pytest.fixture(scope="session")
def tiny_family(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The tiny checkpoint of a family with some settings, made once: a test leaves it as it is."""
    base = tmp_path_factory.getbasetemp()
    folders = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "families"
    folders.mkdir(exist_ok=True)

    def made(family: str, **settings: Any) -> BackboneSpec:
        folder = folders / "-".join([family, *(f"{name}={value}" for name, value in settings.items())])
        with FileLock(f"{folder}.lock"):
            if not (folder / "tokenizer_config.json").is_file():  # what is saved last
                tiny_checkpoint(folder, family, **settings)
        return BackboneSpec(family, family, "made up", "", "local", str(folder))

    return made


def passport_of(backbone: Backbone) -> Passport:
    """The measurements of a passport, as a worker takes them."""
    with repeatable(backbone.model):
        return passport.function(backbone, ())


def _param(case: Case) -> Any:
    """The case as a fixture's parameter, marked where it stands for no mechanism of its own."""
    marks = () if is_mechanism(case) else pytest.mark.other_family
    return pytest.param(case, marks=marks, id="-".join([case[0], *case[1]]))


@pytest.fixture(scope="session", params=map(_param, CASES))
def family(request: pytest.FixtureRequest, tiny_family: Made) -> Family:
    """Each family in its turn, loaded by Poolscope and by transformers alone, once for all files."""
    name, settings = request.param
    spec = tiny_family(name, **settings)
    backbone = replace(load(spec), tokenizer=boundless())  # some families read the saved one as another class
    alone = AutoModelForSequenceClassification.from_pretrained(spec.location, dtype=torch.float32).eval()
    alone.config.use_cache = alone.config.get_text_config().use_cache = False
    return Family(name, settings, backbone, ByHand(alone, FACTS["bodies"].get(name, "")))
