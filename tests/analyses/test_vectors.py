"""What is pasted as a vector: every form gives the numbers that NumPy has, and nothing else is one."""

import json
import sys
from base64 import b64encode
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.analyses.vectors import LONGEST, MOST, TEXTS, Pasted, to_vector, to_vectors
from components.errors import PoolscopeError

NUMBERS = np.random.default_rng(0).normal(size=128).astype(np.float32)
LISTED = [float(number) for number in NUMBERS]
PACKED = b64encode(NUMBERS.astype("<f4").tobytes()).decode()
DIGITS = 1e-5  # what NumPy prints of a number


def printed(numbers: Any) -> tuple[str, str]:
    with np.printoptions(threshold=sys.maxsize):
        return str(numbers), repr(numbers)


FORMS = {
    "a list": LISTED,
    "JSON": json.dumps(LISTED),
    "CSV with semicolons": "; ".join(map(str, LISTED)),
    "a number a line": "\n".join(map(str, LISTED)),
    "NumPy's print": printed(NUMBERS)[0],
    "NumPy's repr": printed(NUMBERS)[1],
    "a tuple": str(tuple(LISTED)),
    "base64": PACKED,
    "base64 in lines": "\n".join(PACKED[start : start + 76] for start in range(0, len(PACKED), 76)),
    "base64 in quotes": json.dumps(PACKED),
    "OpenAI's answer": json.dumps({"object": "list", "data": [{"index": 0, "embedding": LISTED}]}),
    "OpenAI's answer in base64": json.dumps({"data": [{"embedding": PACKED}]}),
    "llama.cpp's answer": json.dumps([{"index": 0, "embedding": [LISTED]}]),
    "Cohere's answer": json.dumps({"id": "a", "embeddings": {"float": [LISTED]}, "texts": ["a film"]}),
    "Elastic's answer": json.dumps({"inference_results": [{"predicted_value": LISTED}]}),
    "Qdrant's answer": json.dumps({"result": {"id": 1, "vector": LISTED}, "status": "ok"}),
    "Pinecone's answer": json.dumps({"matches": [{"id": "a", "score": 0.5, "values": LISTED}]}),
    "Weaviate's answer": json.dumps({"data": {"Get": {"Film": [{"_additional": {"vector": LISTED}}]}}}),
    "Vertex's answer": json.dumps({"predictions": [{"embeddings": {"statistics": {}, "values": LISTED}}]}),
    "Triton's answer": json.dumps({"outputs": [{"name": "a", "shape": [1, 128], "data": LISTED}]}),
    "TensorFlow Serving's answer": json.dumps({"predictions": [LISTED]}),
    "a Python dict": repr({"data": [{"embedding": LISTED, "index": 0}], "model": "a"}),
    "a list of NumPy's numbers": repr([*NUMBERS]),
    "a print with an axis before it": printed(NUMBERS[None])[0],
    "a repr with two": printed(NUMBERS[None, None])[1],
    "a spreadsheet's decimals": "; ".join(map(str, LISTED)).replace(".", ","),
    "a spreadsheet's column": "\n".join(map(str, LISTED)).replace(".", ","),
    "numbered from 0": "\n".join(f"{number}: {value}" for number, value in enumerate(LISTED)),
    "numbered from 1": "\n".join(f"{number},{value}" for number, value in enumerate(LISTED, start=1)),
    "a print of pandas": pd.Series(LISTED).to_string(),
    "a column that pandas prints": pd.DataFrame(NUMBERS).to_string(),
    "a column with its index": pd.Series(LISTED).to_csv(),
    "a row with numbers of columns": pd.DataFrame([LISTED]).to_csv(index=False),
    "a cell of a table": f'id,embedding\n1,"{LISTED}"',
    "a row of a table": ",".join(f"dim_{place}" for place in range(128)) + "\n" + ",".join(map(str, LISTED)),
    "psql": f" embedding\n-----------\n {LISTED}\n(1 row)",
    "an array of Postgres": str(LISTED).replace("[", "{").replace("]", "}"),
    "an array of C": f"float v[] = {{{', '.join(f'{one!r}f' for one in LISTED)}}};",
    "an array of R": "\n".join(
        f"[{place + 1}] {' '.join(map(str, LISTED[place : place + 8]))}" for place in range(0, 128, 8)
    ),
    "an array of JavaScript": json.dumps({str(place): one for place, one in enumerate(LISTED)}),
    "transformers.js": json.dumps(
        {"dims": [1, 128], "data": dict(zip(map(str, range(128)), LISTED, strict=True))}
    ),
    "TensorFlow's repr": f"<tf.Tensor: shape=(128,), dtype=float32, numpy=\narray({LISTED}, dtype=float32)>",
    "Redis's bytes": repr(NUMBERS.astype("<f4").tobytes()),
    "bytes in hex digits": NUMBERS.astype("<f4").tobytes().hex(),
    "bytes of Postgres": "\\x" + NUMBERS.astype("<f4").tobytes().hex(),
    "bytes of SQLite": f"X'{NUMBERS.astype('<f4').tobytes().hex().upper()}'",
    "hex floats": " ".join(map(float.hex, LISTED)),
    "texts of numbers": json.dumps([str(one) for one in LISTED]),
    "quoted": ",".join(f'"{one}"' for one in LISTED),
    "a typographer's minus": " ".join(map(str, LISTED)).replace("-", "\u2212"),
    "with its name": f"embedding: {', '.join(map(str, LISTED))}",
    "decimal commas and commas": ", ".join(str(one).replace(".", ",") for one in LISTED),
    "numbered decimal commas": "\n".join(f"{place}\t{one}" for place, one in enumerate(LISTED)).replace(
        ".", ","
    ),
    "Milvus's answer": json.dumps({"data": [{"id": 1, "distance": 0.2, "vector": LISTED}]}),
    "Chroma's answer": json.dumps({"embeddings": [[LISTED]], "distances": [[0.1, 0.2]], "ids": [["a"]]}),
    "beside one that is sparse": json.dumps(
        {"values": LISTED, "sparse_values": {"indices": [*range(9)], "values": [0.5] * 9}}
    ),
    "beside the same in int8": json.dumps({"embeddings": {"float": [LISTED], "int8": [[1] * 128]}}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_numbers(form: str) -> None:
    np.testing.assert_allclose(to_vector(FORMS[form]), LISTED, rtol=DIGITS, atol=DIGITS)


def test_what_torch_prints() -> None:
    torch.set_printoptions(threshold=sys.maxsize)
    try:
        shown = repr(torch.tensor(NUMBERS, requires_grad=True) * 1)
    finally:
        torch.set_printoptions(profile="default")
    np.testing.assert_allclose(to_vector(shown), LISTED, atol=1e-4)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=2).filter(any))
def test_numbers_stay_what_they_are(numbers: list[float]) -> None:
    assert to_vector(json.dumps(numbers)) == to_vector(" ".join(map(repr, numbers))) == tuple(numbers)


NONE, ONE_ONLY, DIRECTION = "the numbers of one vector", "one vector at a time", "neither zero nor endless"
REFUSED: list[tuple[object, str]] = [
    *((given, NONE) for given in ("", "0.5", "a good film", "1_0 2_0", "\ud800", "9" * 5000)),
    *((given, NONE) for given in (None, True, 3, [], [1, "2"], [1, None], [True, False], {"text": [1, 2]})),
    *((given, NONE) for given in ("[" * 100_000 + "1", "1,2; 3,x", "0: 1\n1: b", "{'a': __import__('os')}")),
    *(
        (given, ONE_ONLY)
        for given in ("[[1, 2], [3, 4]]", "[[1. 2.]\n [3. 4.]]", '{"a": [1, 2], "b": [3, 4]}')
    ),
    ([[1, 2], [3, 4]], ONE_ONLY),
    ([[[1, 2], [3, 4]]], "they are not pooled"),
    ("[1, 2, NaN]", "number 3 of the vector"),
    ("1 inf", "number 2 of the vector"),
    ("[1e999, 2]", "number 1 of the vector"),
    *((given, DIRECTION) for given in ("0 0 0", "AAAAAAAAAAA=", [1.7e308, 1.7e308], [10**400, 1])),
    ("QUJD", "these are 3"),
    (printed(np.arange(2000.0))[0].replace(" 5.", " ... "), "left out"),
    (str(np.arange(2000.0)), "left out"),
    ("1 " * (MOST + 1), "at most 16,384"),
    ("0.1 " * LONGEST, "at most 400,000"),
]


def test_what_is_no_vector_is_refused_in_a_sentence() -> None:
    for wrong, allowed in REFUSED:
        with pytest.raises(PoolscopeError, match=allowed) as refusal:
            to_vector(wrong)
        assert refusal.value.field == "vector"
        assert len(str(refusal.value)) < 300


ONE = {"text": "a", "vector": [1, 2]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1 2", (Pasted((1.0, 2.0)),)),
        ({"text": None, "vector": [1, 2]}, (Pasted((1.0, 2.0)),)),
        (ONE, (Pasted((1.0, 2.0), "a", ""),)),
        (json.dumps([ONE]), (Pasted((1.0, 2.0), "a", ""),)),
        (
            [ONE, {"text": "b", "text_pair": "c", "data": [3, 4]}],
            (Pasted((1, 2), "a", ""), Pasted((3, 4), "b", "c")),
        ),
    ],
)
def test_vectors_with_their_texts(given: object, expected: object) -> None:
    assert to_vectors(given) == expected


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ([ONE, {"vector": [1, 2]}], "'2 vectors' was given; each of several vectors needs its “text”"),
        ([ONE, [1, 2]], "needs its “text”"),
        ([ONE] * (TEXTS + 1), f"at most {TEXTS} are allowed"),
        ([ONE, {"text": "b", "vector": [1, 2, 3]}], "these have 2, 3 numbers"),
        ([ONE, {"text": "b"}], "the numbers of one vector"),
        ([{"vector": [1, 2]}, {"vector": [3, 4]}], "or a list of objects with a “text” and a “vector” each"),
    ],
)
def test_vectors_that_cannot_be_asked_about_together(given: object, allowed: str) -> None:
    for form in (given, json.dumps(given)):
        with pytest.raises(PoolscopeError, match=allowed) as refusal:
            to_vectors(form)
        assert refusal.value.field == "vector"


@given(st.one_of(st.text(), st.recursive(st.none() | st.floats() | st.text(), st.lists, max_leaves=20)))
def test_anything_else_is_a_vector_or_a_sentence(given: object) -> None:
    try:
        numbers = to_vector(given)
    except PoolscopeError:
        return
    assert 2 <= len(numbers) <= MOST
    assert np.isfinite(numbers).all()
