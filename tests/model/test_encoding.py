"""Tokens, spans, segments and [CLS], on the bundled tokenizers, a tiny one, and some written in Python."""

import json
from copy import copy
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from tokenizers import AddedToken, processors
from transformers import AutoTokenizer, CanineTokenizer, EsmTokenizer, PreTrainedTokenizerBase

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.encoding import Encoded, encode, encode_batch
from components.model.loading import load
from components.texts import read_toml
from components.types import BackboneSpec, Query
from tests.families.cases import tiny_model
from tests.plain import SPECS, load_plain
from tests.tiny import change, checkpoint, tokenizer

CASES, PIECES, TEXTS = (
    read_toml(Path(__file__).with_name(f"{name}.toml")) for name in ("encodings", "sentencepieces", "texts")
)


@pytest.mark.parametrize("name", CASES)
def test_tokens_their_places_and_what_is_said(name: str) -> None:
    case = CASES[name]
    given = tokenizer()
    given.truncation_side = case.get("side", "right")
    found = encode(given, 24, case["text"], case.get("pair", ""))
    tokens, says = found.tokens, case.get("says", [])
    assert list(tokens.text) == case.get("tokens", list(tokens.text))
    for part in ("span", "segment", "special"):
        assert getattr(tokens, part).tolist() == case.get(part, getattr(tokens, part).tolist())
    assert tokens.cls == 0
    assert len(tokens.text) <= 24
    assert [str(said)[: len(start)] for said, start in zip(found.warnings, says, strict=True)] == says


@pytest.mark.parametrize("family", ["roberta", "gpt2", "bert", "xlnet"])
@pytest.mark.parametrize("texts", [("the film is not bad at all", ""), ("it is not bad", "it was bad")])
def test_what_is_cut_at_the_beginning_is_said(family: str, texts: tuple[str, str]) -> None:
    given = copy(load_plain(SPECS[f"{family}-sentiment"].location).tokenizer)
    given.truncation_side = "left"
    pair = texts[0], texts[1] or None
    whole, kept = (given(*pair, truncation=cut, max_length=6).sequence_ids(0) for cut in (False, True))
    names = ("the first text", "the second text") if texts[1] else ("the text",)
    lost = {name: whole.count(place) - kept.count(place) for place, name in enumerate(names)}
    told = ", ".join(f"the first {count} of {name}" for name, count in lost.items() if count)
    assert str(encode(given, 6, *texts).warnings[0]).endswith(f"Left out: {told}.")


@pytest.mark.parametrize(("key", "text", "said"), TEXTS["unreadable"])
def test_which_bundled_models_cannot_read_a_text(engine: Engine, key: str, text: str, said: str) -> None:
    analysis = engine.ask("analyze", Query(key, text))
    assert (analysis.unreadable is not None) == bool(said)
    assert said in str(analysis.unreadable)


@pytest.mark.parametrize("family", ["roberta", "gpt2", "bert", "xlnet"])
@pytest.mark.parametrize(("text", "letters"), TEXTS["spelled"])
def test_a_text_that_is_spelled_in_bytes_is_said(family: str, text: str, letters: int) -> None:
    plain = load_plain(SPECS[f"{family}-sentiment"].location).tokenizer
    said = [one for one in encode(plain, 128, text, "").warnings if one.key == "warnings.parts"]
    bytewise = family in ("roberta", "gpt2") and letters > 0
    assert [dict(one.values)["letters"] for one in said] == [letters] * bytewise
    for one in said:  # every byte of these is a token, but for the space before a word
        assert dict(one.values)["count"] == len(text.replace(" ", "").encode())


def test_a_batch_knows_where_each_row_has_its_cls() -> None:
    padded = tokenizer()
    padded.padding_side = "left"
    inputs, special, cls = encode_batch(padded, 24, ["good", "the film is good"])
    assert inputs["input_ids"].shape == special.shape == (2, 6)
    assert cls.tolist() == [3, 0]


def test_no_tokens_at_all() -> None:
    bare = tokenizer()
    bare.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    with pytest.raises(PoolscopeError, match="no tokens"):
        encode(bare, 24, " ", "")


@pytest.mark.parametrize("family", ["bert", "roberta", "xlnet"])
def test_hostile_texts_are_tokenised_as_transformers_does(family: str) -> None:
    plain = load_plain(SPECS[f"{family}-sentiment"].location)
    for text in TEXTS["hostile"]:
        encoded = encode(plain.tokenizer, 128, text, text)
        expected = plain.tokenizer(text, text)
        assert encoded.inputs["input_ids"][0].tolist() == expected["input_ids"]
        assert list(encoded.tokens.text) == plain.tokenizer.convert_ids_to_tokens(expected["input_ids"])
        assert encoded.tokens.span.max() <= len(text)
        assert set(encoded.tokens.segment.tolist()) <= {-1, 0, 1}


def test_what_files_alone_call_special_is_text(tmp_path: Path) -> None:
    """As files of XLNet call a full stop and brackets, which its tokenizer takes for a text's own."""
    given = tokenizer()
    given.add_tokens([AddedToken("!", special=False), AddedToken("<eod>", special=True)])
    given.save_pretrained(tmp_path)
    change(tmp_path / "tokenizer_config.json", extra_special_tokens=["!", "<eod>"])
    plain = AutoTokenizer.from_pretrained(tmp_path)
    assert "!" in plain.all_special_tokens
    says = [str(said)[:7] for said in encode(plain, 24, "the film! [SEP] <eod>", "").warnings]
    assert says == ["“[SEP]”", "“<eod>”"]


ACIDS = ("<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>")


def encoded(folder: Path, family: str, tokenizer: PreTrainedTokenizerBase, *texts: str) -> Encoded:
    """What the tokenizer of a checkpoint that works makes of these texts."""
    sizes = {"vocab_size": max(64, len(tokenizer)), "max_position_embeddings": 256}
    tiny_model(family, **sizes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    backbone = load(BackboneSpec(family, family, "made up", "", "local", str(folder)))
    return encode(backbone.tokenizer, backbone.limit, *texts)


@pytest.mark.families
def test_of_tokenizers_that_do_not_place_tokens_what_follows_from_the_ids_is_known(tmp_path: Path) -> None:
    (tmp_path / "acids.txt").write_text("\n".join(ACIDS))
    found = encoded(tmp_path, "esm", EsmTokenizer(str(tmp_path / "acids.txt")), "MKJAY", "LAG")
    tokens = found.tokens
    expected = [("<cls>", -1), *zip(["M", "K", "<unk>", "A", "Y"], [0] * 5, strict=True), ("<eos>", -1)]
    expected += [*((letter, 1) for letter in "LAG"), ("<eos>", -1)]
    assert list(zip(tokens.text, tokens.segment.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(tokens.special, tokens.segment == -1)
    assert tokens.cls == 0
    assert not tokens.span.any()
    places, unknown = map(str, found.warnings)
    assert "does not tell where in the text" in places
    assert unknown == "1 of 11 tokens is unknown to this vocabulary and stands as <unk>."


@pytest.mark.families
def test_a_tokenizer_without_a_vocabulary_file(tmp_path: Path) -> None:
    found = encoded(tmp_path, "canine", CanineTokenizer(), "good film", "")
    assert len(found.tokens.text) == len("good film") + 2


@pytest.mark.parametrize("name", PIECES)
def test_a_tokenizer_that_is_a_model_of_sentencepiece_alone(tmp_path: Path, name: str) -> None:
    """Read as sentencepiece itself splits the text."""
    spec, pieces, case = checkpoint(tmp_path / "odd", vocab_size=400), BytesIO(), PIECES[name]
    lines = iter(["the film is not good at all", "a fine plot and good actors"] * 20)
    options = {"vocab_size": 22, "minloglevel": 2, **case.get("trained", {})}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=pieces, **options)
    (tmp_path / "odd/tokenizer.json").unlink()
    (tmp_path / "odd" / case["file"]).write_bytes(pieces.getvalue())
    (tmp_path / "odd/tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    tokens = encode(load(spec).tokenizer, 24, "the film is good", "").tokens
    whole = sentencepiece.SentencePieceProcessor(model_proto=pieces.getvalue())
    own = [text for text, special in zip(tokens.text, tokens.special, strict=True) if not special]
    assert own == whole.encode("the film is good", out_type=str)
    assert tokens.span[~tokens.special].max() == len("the film is good")
