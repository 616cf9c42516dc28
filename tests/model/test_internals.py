"""The internals of torch and transformers are where they were, and a forward pass leaves no trace."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune
from transformers import BertConfig, PreTrainedConfig
from transformers.utils.logging import enable_progress_bar

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model import internals
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import Analysis, Query
from tests.checkpoints import Made
from tests.families.cases import boundless
from tests.plain import SPECS
from tests.tiny import checkpoint

MOVED = "{} has moved: see the file of internals for what it was needed for"
LONG = "the film is not good at all , not good ! " * 5
SPARSE = {"block_size": 4, "num_random_blocks": 1, "attention_type": "block_sparse"}


def test_whatever_a_module_is_given_stands_in_its_tables() -> None:
    module = nn.Module()
    module.register_buffer("numbers", torch.zeros(2), persistent=False)
    module.part, module.word = nn.Linear(1, 1), "before"
    found = {name: value for table in internals.tables(module) for name, value in table.items()}
    says = MOVED.format("the tables of a module")
    assert found["numbers"] is module.numbers, says
    assert found["part"] is module.part, says
    assert found["word"] == "before", says


@pytest.mark.families
def test_a_model_that_a_short_text_changes_for_good_is_put_back(tiny_family: Made) -> None:
    """BigBird exchanges its attention modules when a text is too short for sparse attention."""
    loaded = load(tiny_family("big_bird", **SPARSE))
    backbone = replace(loaded, tokenizer=boundless())

    def asked(text: str) -> Analysis:
        with repeatable(backbone.model):
            return analyse(examine(backbone, Query("big_bird", text)))

    first = asked(LONG)
    asked("good")
    again = asked(LONG)
    np.testing.assert_array_equal(first.logits, again.logits)
    assert len(first.ordinary.plain) == len(first.similarity)  # fewer layers than a short text has
    assert backbone.model.base_model.attention_type == "block_sparse"
    with torch.no_grad():  # without it the same model does change
        backbone.model(**dict(boundless()("good", return_tensors="pt")))
    assert backbone.model.base_model.attention_type == "original_full"


def test_random_numbers_start_alike_and_what_a_pass_assigned_is_undone_even_if_it_failed() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    before, drawn = model[0], list[torch.Tensor]()
    torch.manual_seed(7)
    expected = torch.rand(2)
    torch.manual_seed(7)

    def draw_and_fail() -> None:
        with repeatable(model):
            drawn.append(torch.rand(3))
            model[0] = nn.Linear(2, 2)
            model[0](torch.ones(3))  # of another width

    for _ in range(2):
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            draw_and_fail()
        assert model[0] is before
    assert torch.equal(*drawn)
    assert torch.equal(torch.rand(2), expected)


def test_a_copy_has_no_hook_of_any_kind_and_the_module_keeps_its_own() -> None:
    module = nn.Sequential(nn.Linear(2, 2))
    ran: list[str] = []

    def hook(*_: object) -> None:
        ran.append("hook")

    registers = [name for name in dir(nn.Module) if name.startswith("register_") and name.endswith("hook")]
    assert len(registers) >= 9, MOVED.format("the ways to register hooks")
    for name in registers:
        if "full_backward" not in name or "pre" in name:  # there are two kinds that exclude each other
            getattr(module, name)(hook)
    before = {name: dict(table) for name, table in vars(module).items() if isinstance(table, dict)}
    copy = internals.plain_copy(module)
    copy(torch.ones(2, requires_grad=True)).sum().backward()
    copy.load_state_dict(copy.state_dict())
    assert ran == [], MOVED.format("the tables of hooks")
    assert {name: dict(table) for name, table in vars(module).items() if isinstance(table, dict)} == before
    assert internals.acting_hooks(copy) == []
    assert len(internals.acting_hooks(module)) == 2


def test_a_copy_keeps_what_is_tied_together_and_makes_its_weights() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[1].weight = module[0].weight
    prune.random_unstructured(module[0], "bias", amount=2)
    copy = internals.plain_copy(module.train())
    assert copy[1].weight is copy[0].weight
    assert not copy.training
    assert not any(weight.requires_grad for weight in copy.parameters())
    with torch.no_grad():
        copy[0].bias_orig.fill_(7)
    assert torch.equal(copy[0](torch.zeros(2)), torch.zeros(2)), MOVED.format("the hooks of torch.nn.utils")


@pytest.mark.parametrize("name", internals.KERNELS)
def test_no_kernel_is_left_and_nothing_is_loaded_where_kernels_are_named_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A plain attribute of that name could be set, and nobody would read it."""
    config = BertConfig(**{name.removeprefix("_"): "somebody/kernel"})
    assert getattr(config, name) == "somebody/kernel", MOVED.format("what a config.json calls a kernel")
    internals.forget_kernels(config)
    assert getattr(config, name) is None
    spec = checkpoint(tmp_path / "good")
    monkeypatch.setattr(PreTrainedConfig, name, None)
    with pytest.raises(PoolscopeError, match=rf"has moved BertConfig\.{name}, which keeps kernels"):
        load(spec)


def test_nothing_is_loaded_where_a_part_keeps_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Parted(PreTrainedConfig):
        sub_configs = {"inner": BertConfig}  # noqa: RUF012  # as transformers writes it

    config = Parted()
    config.inner = BertConfig(attn_implementation="somebody/kernel")
    internals.forget_kernels(config)
    assert config.inner._attn_implementation is None
    unreached = property(lambda _self: None, lambda _self, _value: None)
    config.inner = BertConfig(attn_implementation="somebody/kernel")
    monkeypatch.setattr(Parted, "_attn_implementation", unreached, raising=False)
    with pytest.raises(RuntimeError, match=r"has moved Parted\._attn_implementation"):
        internals.forget_kernels(config)


def test_a_command_s_terminal_has_no_bars_and_tables_but_every_other_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    loading = logging.getLogger("transformers.modeling_utils")
    monkeypatch.setattr(loading, "filters", [])  # an engine of another test may be quiet already
    monkeypatch.setattr(loading, "handlers", [caplog.handler])
    enable_progress_bar()
    for loud in (True, False):
        load(SPECS["bert-pretrained"])
        loading.warning("What matters")
        said = capsys.readouterr().err + caplog.text
        assert [part in said for part in ("weights: 100%", "weights", "LOAD REPORT")] == [loud] * 3
        assert "What matters" in said
        caplog.clear()
        internals.quiet()
