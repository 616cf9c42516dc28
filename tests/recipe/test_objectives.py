import pytest
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerFast

from recipe.pretraining import OBJECTIVES, second_text, shared_tokens, template_ids
from tests.recipe.conftest import FAMILIES


def test_tokens_are_looked_up_in_the_other_text_only() -> None:
    ids = torch.tensor([[1, 7, 8, 7, 2, 8, 9, 2, 0], [0, 0, 5, 2, 6, 5, 5, 2, 1]])
    shared, asked = shared_tokens(ids, torch.tensor([0, 1, 2]))
    assert shared.tolist() == [
        [False, False, True, False, False, True, False, False, False],
        [False, False, True, False, False, True, True, False, False],
    ]
    assert asked.tolist() == (ids > 2).tolist()


def test_the_second_text_comes_after_added_tokens() -> None:
    ids = torch.tensor(
        [[1, 7, 8, 2, 2, 8, 9, 2, 0], [0, 0, 5, 2, 6, 5, 5, 2, 1], [5, 2, 6, 0, 0, 0, 0, 0, 0]]
    )
    assert second_text(ids, torch.tensor([0, 1, 2])).nonzero().tolist() == [
        [0, 5],
        [0, 6],
        [1, 4],
        [1, 5],
        [1, 6],
        [2, 2],
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_template_ids_part_the_texts(family: str, tokenizers: dict[str, PreTrainedTokenizerFast]) -> None:
    tokenizer = tokenizers[family]
    batch = tokenizer(["the story", "a"], ["the story is long", "b"], padding=True, return_tensors="pt")
    _, asked = shared_tokens(batch["input_ids"], template_ids(tokenizer))
    belongs = [[i is not None for i in encoding.sequence_ids] for encoding in batch.encodings]
    assert asked.tolist() == belongs
    second = second_text(batch["input_ids"], template_ids(tokenizer))
    assert second.tolist() == [[i == 1 for i in encoding.sequence_ids] for encoding in batch.encodings]


@pytest.mark.parametrize("family", FAMILIES)
def test_both_objectives_reach_the_embeddings(
    family: str, models: dict[str, PreTrainedModel], tokenizers: dict[str, PreTrainedTokenizerFast]
) -> None:
    torch.manual_seed(0)
    tokenizer = tokenizers[family]
    batch = tokenizer(["the story", "a"], ["a story", "b"], padding=True, return_tensors="pt")
    for name in ("labels", "shared tokens"):
        model = AutoModelForSequenceClassification.from_config(models[family].config)
        loss = OBJECTIVES[name](model, tokenizer, None)(model, batch, torch.tensor([1.0, 0.3]))
        loss.backward()
        gradient = model.get_input_embeddings().weight.grad
        assert gradient is not None
        assert 0.3 < loss.item() < 1.5
        assert gradient.abs().sum() > 0
