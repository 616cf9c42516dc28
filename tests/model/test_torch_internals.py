"""The internals of torch are where they were."""

from importlib.util import find_spec

import pytest
import torch
from torch import nn
from torch.nn.utils import prune
from transformers.modeling_outputs import BaseModelOutput

from components.model.torch_internals import (
    acting_hooks,
    flatten,
    plain_copy,
    seeded,
    tables,
    tensors,
)

MOVED = "torch has moved {}: see torch_internals.py for what it was needed for"


@pytest.mark.parametrize("name", ["_modules", "_buffers"])
def test_a_module_keeps_its_parts_in_dicts(name: str) -> None:
    assert isinstance(vars(nn.Linear(1, 1)).get(name), dict), MOVED.format(f"nn.Module.{name}")


def test_whatever_a_module_is_given_stands_in_its_tables() -> None:
    module = nn.Module()
    module.register_buffer("numbers", torch.zeros(2), persistent=False)
    module.part, module.word = nn.Linear(1, 1), "before"
    found = {name: value for table in tables(module) for name, value in table.items()}
    says = MOVED.format("the tables of a module")
    assert found["numbers"] is module.numbers, says
    assert found["part"] is module.part, says
    assert found["word"] == "before", says


def test_random_numbers_start_alike_and_go_on_as_before() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with seeded():
        first = torch.rand(2)
    with seeded():
        assert torch.equal(torch.rand(2), first)
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
    copy = plain_copy(module)
    copy(torch.ones(2, requires_grad=True)).sum().backward()
    copy.load_state_dict(copy.state_dict())
    assert ran == [], MOVED.format("the tables of hooks")
    assert {name: dict(table) for name, table in vars(module).items() if isinstance(table, dict)} == before
    assert acting_hooks(copy) == []
    assert len(acting_hooks(module)) == 2


def test_a_copy_keeps_what_is_tied_together_and_makes_its_weights() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[1].weight = module[0].weight
    prune.random_unstructured(module[0], "bias", amount=2)
    copy = plain_copy(module.train())
    assert copy[1].weight is copy[0].weight
    assert not copy.training
    assert not any(weight.requires_grad for weight in copy.parameters())
    with torch.no_grad():
        copy[0].bias_orig.fill_(7)
    assert torch.equal(copy[0](torch.zeros(2)), torch.zeros(2)), MOVED.format("the hooks of torch.nn.utils")


def test_the_outputs_of_transformers_are_taken_apart_and_rebuilt() -> None:
    assert find_spec("torch.utils._pytree"), MOVED.format("torch.utils._pytree")
    one, two = torch.zeros(1), torch.ones(1)
    output = BaseModelOutput(last_hidden_state=one, hidden_states=(one, two))
    leaves, rebuild = flatten({"output": output, "flag": True})
    assert [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)] == list(tensors(output))
    again = rebuild([two if leaf is one else leaf for leaf in leaves])
    assert isinstance(again["output"], BaseModelOutput), MOVED.format("how outputs are registered")
    assert again["output"].last_hidden_state is two
    assert again["flag"] is True
