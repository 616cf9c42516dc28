import pytest
from transformers import PreTrainedTokenizerFast

from tests.recipe.conftest import FAMILIES

Tokenizers = dict[str, PreTrainedTokenizerFast]

# As the papers have them: one text, and a pair.
TEMPLATES = {
    "bert": ("[CLS] a [SEP]", "[CLS] a [SEP] b [SEP]"),
    "distilbert": ("[CLS] a [SEP]", "[CLS] a [SEP] b [SEP]"),
    "roberta": ("<s> a </s>", "<s> a </s> </s> b </s>"),
    "xlnet": ("▁ a <sep> <cls>", "▁ a <sep> ▁ b <sep> <cls>"),
    "gpt2": ("a", "a <|endoftext|> b"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_templates(family: str, tokenizers: Tokenizers) -> None:
    tokenizer = tokenizers[family]
    one, pair = TEMPLATES[family]
    assert _joined(tokenizer, tokenizer("a")["input_ids"]) == one.replace("▁ ", "▁")
    assert _joined(tokenizer, tokenizer("a", "b")["input_ids"]) == pair.replace("▁ ", "▁")


def _joined(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> str:
    return " ".join(tokenizer.convert_ids_to_tokens(ids)).replace("▁ ", "▁")


@pytest.mark.parametrize("family", FAMILIES)
def test_segments_and_padding(family: str, tokenizers: Tokenizers) -> None:
    tokenizer = tokenizers[family]
    batch = tokenizer(["a", "the story is long"], ["b", "the cast is lazy"], padding=True)
    padded = [i for i, mask in enumerate(batch["attention_mask"][0]) if mask == 0]
    assert padded
    length = len(batch["attention_mask"][0])
    left = family == "xlnet"
    assert padded == (list(range(len(padded))) if left else list(range(length - len(padded), length)))
    if family == "xlnet":
        # The paper's segment for padding is 3; the installed class gives 0, and attention hides both.
        types = batch["token_type_ids"][0][len(padded) :]
        assert types[-1] == 2
        assert set(types[:-1]) == {0, 1}
    elif family == "bert":
        assert set(batch["token_type_ids"][1]) == {0, 1}
    else:
        assert "token_type_ids" not in batch


@pytest.mark.parametrize("family", FAMILIES)
def test_spans_and_segments_lead_back_to_the_text(family: str, tokenizers: Tokenizers) -> None:
    texts = ("The story isn't long.", "A warm picture, they said")
    encoding = tokenizers[family](*texts).encodings[0]
    for text, segment in zip(texts, (0, 1), strict=True):
        spans = [s for s, i in zip(encoding.offsets, encoding.sequence_ids, strict=True) if i == segment]
        assert [a for a, _ in spans] == sorted(a for a, _ in spans)
        assert {i for a, b in spans for i in range(a, b)} == {i for i, c in enumerate(text) if c != " "}
    added = [s for s, i in zip(encoding.offsets, encoding.sequence_ids, strict=True) if i is None]
    assert set(added) <= {(0, 0)}
