"""What is pasted as a vector: every form gives the numbers that NumPy has, and nothing else is one."""

import json
import re
import sys
import tomllib
from base64 import b64encode, urlsafe_b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, strategies as st

from components.analyses.vectors import LONGEST, MOST, TEXTS, to_vector, to_vectors
from components.errors import PoolscopeError

CASES = tomllib.loads(Path(__file__).with_name("vectors.toml").read_text("utf-8"))
NUMBERS = np.random.default_rng(0).normal(size=128).astype(np.float32)
LISTED = [float(number) for number in NUMBERS]
PACKED = b64encode(NUMBERS.astype("<f4").tobytes()).decode()
np.save(SAVED := BytesIO(), NUMBERS)
DIGITS = 1e-5  # what NumPy prints of a number
NAMES = ",".join(f"dim_{place}" for place in range(128))
COARSE = {
    "decimals of two digits": 6e-3,
    "base64 of bfloat16": 2e-2,
    "base64 of float16 in an answer": 2e-3,
    "bits of halves": 2e-3,
}


def printed(numbers: Any) -> tuple[str, str]:
    with np.printoptions(threshold=sys.maxsize):
        return str(numbers), repr(numbers)


STAND_INS = {
    "LISTED": str(LISTED)[1:-1],
    "PACKED": PACKED,
    "DOUBLE": b64encode(NUMBERS.astype("<f8").tobytes()).decode(),
    "HALF": b64encode(NUMBERS.astype("<f2").tobytes()).decode(),
    "BRAIN": b64encode(torch.tensor(NUMBERS).bfloat16().view(torch.int16).numpy().tobytes()).decode(),
    "JAVA": b64encode(NUMBERS.astype(">f4").tobytes()).decode(),
    "SAFE": urlsafe_b64encode(NUMBERS.tobytes()).decode().rstrip("="),
    "HEX": NUMBERS.tobytes().hex(),
    "ONES": ", ".join("1" * 128),
    "APART": NUMBERS.tobytes().hex(" "),
    "COLONS": NUMBERS.tobytes().hex(":"),
    "OCTETS": "0x" + NUMBERS.tobytes().hex(" ").replace(" ", ", 0x"),
    "FLOATS": ", ".join(map(float.hex, LISTED)),
    "BYTES": str([*NUMBERS.tobytes()])[1:-1],
    "SIGNED": str(NUMBERS.view("i1").tolist())[1:-1],
    "WORDS": str(NUMBERS.view("<u4").tolist())[1:-1],
    "XWORDS": ", ".join(map(hex, NUMBERS.view("<u4").tolist())),
    "HALVES": str(NUMBERS.astype("<f2").view("<u2").tolist())[1:-1],
    "BSON": b64encode(b"\x27\0" + NUMBERS.tobytes()).decode(),
    "REDIS": "".join(f"\\x{byte:02x}" for byte in NUMBERS.tobytes()),
}


def filled(form: str) -> str:
    """The form with what its stand-ins stand for."""
    return re.sub("|".join(STAND_INS), lambda found: STAND_INS[found[0]], form)


def joined(separator: str, form: str) -> str:
    """The numbers in this form each."""
    commas = (str(one).replace(".", ",") for one in LISTED)
    rows = enumerate(zip(LISTED, commas, strict=True))
    return separator.join(form.format(at=at, after=at + 1, one=one, comma=comma) for at, (one, comma) in rows)


FORMS = {
    **{name: filled(form) for name, form in CASES["forms"].items()},
    **{name: joined(*how) for name, how in CASES["joined"].items()},
    "a list": LISTED,
    "numbers in hundredths": "0.01 *\n" + "\n".join(f"{100 * one:.6f}" for one in LISTED),
    "numbers in brackets": "[" + ",".join(f"({one})" if one < 0 else str(one) for one in LISTED) + "]",
    "NumPy's file": b64encode(SAVED.getvalue()).decode(),
    "a dump of bytes": re.sub("(.{39}) ", r"0000000a: \1  .x=...\n", f"{NUMBERS.tobytes().hex(' ', 2)} "),
    "NumPy's print": printed(NUMBERS)[0],
    "NumPy's repr": printed(NUMBERS)[1],
    "base64 in lines": "\n".join(PACKED[start : start + 76] for start in range(0, len(PACKED), 76)),
    "a list of NumPy's numbers": repr([*NUMBERS]),
    "a print with an axis before it": printed(NUMBERS[None])[0],
    "a repr with two": printed(NUMBERS[None, None])[1],
    "a print of pandas": pd.Series(LISTED).to_string(),
    "a column that pandas prints": pd.DataFrame(NUMBERS).to_string(),
    "a column with its name": pd.Series(LISTED).to_csv(index=False),
    "a column with its index": pd.Series(LISTED).to_csv(),
    "a row with numbers of columns": pd.DataFrame([LISTED]).to_csv(index=False),
    "decimals of two digits": "Wert\n" + "\n".join(f"{one:.2f}".replace(".", ",") for one in LISTED),
    "a row with its index": pd.DataFrame([LISTED]).to_csv(),
    "a row of a table": f"{NAMES}\n{filled('LISTED')}",
    "a row with its number": f"id,{NAMES}\n7,{filled('LISTED')}",
    "places and values": json.dumps([{"at": {"x": str(at)}, "value": one} for at, one in enumerate(LISTED)]),
    "Redis's bytes": repr(NUMBERS.astype("<f4").tobytes()),
    "a list of YAML in a list": "- - " + "\n  - ".join(map(str, LISTED)),
    "a list of arrays without an axis": str([np.array(one) for one in NUMBERS]),
    "texts of numbers": json.dumps([str(one) for one in LISTED]),
    "an array of JavaScript": json.dumps({f"dim_{place}": one for place, one in enumerate(LISTED)}),
    "transformers.js": json.dumps(
        {"dims": [1, 128], "data": dict(zip(map(str, range(128)), LISTED, strict=True))}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_numbers(form: str) -> None:
    np.testing.assert_allclose(to_vector(FORMS[form]), LISTED, rtol=DIGITS, atol=COARSE.get(form, DIGITS))


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


NONE, DIRECTION = "the numbers of one vector", "neither zero nor endless"
REFUSED: list[tuple[object, str]] = [
    *((given, said) for said, each in CASES["refused"].items() for given in each),
    *((given, NONE) for given in (None, [1, None], "\ud800", "9" * 5000, "[" * 100_000 + "1")),
    ([10**400, 1], DIRECTION),
    (printed(np.arange(2000.0))[0].replace(" 5.", " ... "), "left out"),
    (str(np.arange(2000.0)), "left out"),
    ("1 " * (MOST + 1), "at most 65,536"),
    ("0.1 " * LONGEST, "at most 400,000"),
]


def test_what_is_no_vector_is_refused_in_a_sentence() -> None:
    for wrong, allowed in REFUSED:
        with pytest.raises(PoolscopeError, match=allowed) as refusal:
            to_vector(wrong)
        assert refusal.value.field == "vector"
        assert len(str(refusal.value)) < 300


ONE = {"text": "a", "vector": [1, 2]}
READ = ({"text": "a", "text_pair": ""}, (1.0, 2.0))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1 2", (({}, (1.0, 2.0)),)),
        ({"text": None, "vector": [1, 2]}, (({}, (1.0, 2.0)),)),
        (ONE, (READ,)),
        (json.dumps([ONE]), (READ,)),
        (
            [ONE, {"text": "b", "text_pair": "c", "data": [3, 4]}],
            (READ, ({"text": "b", "text_pair": "c"}, (3.0, 4.0))),
        ),
    ],
)
def test_vectors_with_their_texts(given: object, expected: object) -> None:
    assert to_vectors(given) == expected


@pytest.mark.parametrize(
    ("given", "allowed"), [*CASES["several"], ([ONE] * (TEXTS + 1), f"at most {TEXTS} are allowed")]
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
