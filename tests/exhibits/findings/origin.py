"""Findings of where an answer comes from, held against the numbers that they are made of."""

from dataclasses import replace

import numpy as np

from components.exhibits.origin import WHENCE
from components.types import Analysis
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.exhibits.showing import analysis, reading
from tests.ui.fake_answers import fake_origin

NOT = analysis(text="not bad not good")  # of [CLS] not bad not good [SEP], [CLS] is read
ALL, CLS, NONE, BOTH = [0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0.1] * 6, [0, 0.6, 0, 0, 0.7, 0]


def masked(fall: float, *rows: list[float], of: Analysis = NOT) -> Told:
    """Words on 90 % that falls so far without the first word, with these shares, layer by layer."""
    sure = np.full_like(of.probabilities, 0.05)
    sure[0] = 0.9
    found = fake_origin(replace(of, probabilities=sure))
    shares = np.array(rows, dtype=np.float32).reshape(-1, len(of.tokens.text))
    together = shares[:, 1], shares[:, of.reads.positions].sum(axis=1)
    falls = np.float32([fall, *[0] * (len(found.words) - 1)])
    return told(WHENCE, replace(found, falls=falls, shares=shares, in_word=together[0], in_read=together[1]))


def fallen(before: str, after: str, label: str = "negative") -> Values:
    return lambda say: {
        "word": say("origin.before", word="not", next="bad"),
        "unread": say("origin.unread"),
        "label": label if say.language.tag == "en" or label == "score" else "负面 negative",
        **{"before": before, "after": after},
    }


def after(layer: int, **more: object) -> Values:
    """Logits that are said of states after a layer."""
    return lambda say: {"where": say("trace.after", layer=layer), **more}


SCORE, PAIR = analysis("score", "not bad not good"), analysis("pair", "not bad not good", "x")
TURNS = ([0, 1, *[0] * 6], [0.1] * 8) * 4
ROWS = {
    "origin.falls": Row(masked(0.5), fallen("90 %", "40 %"), masked(0.05)),
    "origin.moves": Row(masked(-0.5, of=SCORE), fallen("0.90", "1.40", "score"), masked(0.5)),
    "origin.unread": Row(masked(0.5), {}, masked(0.5, of=reading(NOT, 1, 5))),
    "origin.none": Row(masked(0.05), fallen("90 %", "85 %"), masked(0.5)),
    "origin.none_falls": Row(masked(-0.5), fallen("90 %", "90 %"), masked(0.05)),
    "origin.none_moves": Row(masked(0.05, of=SCORE), fallen("0.90", "0.85", "score"), masked(0.05)),
    "origin.random": Row(masked(0.5, ALL, of=analysis("untrained", "not bad not good")), {}, masked(0.5)),
    "origin.sits": Row(
        masked(0.5, ALL, [0, 0.7, 0, 0, 0.4, 0], CLS),
        {"token": "not", "last": 1, "share": "70 %"},
        "origin.shared",
    ),
    "origin.sits_start": Row(masked(0.5, ALL, NONE, CLS), {"token": "not"}, "origin.read"),
    "origin.sits_wholly": Row(
        masked(0.5, ALL, [0, 1.01, 0, 0, 0.4, 0], CLS), {"token": "not", "last": 1}, "origin.sits"
    ),
    "origin.in": Row(
        masked(0.5, ALL, [0, 0, 0, 0, 0.7, 0], CLS), after(1, token="good", share="70 %"), "origin.sits_start"
    ),
    "origin.spread": Row(masked(0.5, ALL, NONE, CLS), after(1), "origin.rises"),
    "origin.shared": Row(masked(0.5, ALL, BOTH, CLS), after(1), "origin.read"),
    "origin.moves_about": Row(
        masked(0.5, *TURNS[:7], of=PAIR),
        lambda say: {"where": say("trace.between", first=2, last=4)},
        masked(0.5, *TURNS[:6], TURNS[5], of=PAIR),
    ),
    "origin.read": Row(
        masked(0.5, ALL, ALL, CLS),
        lambda say: {"token": "[CLS]", "low": say("origin.wholly"), "where": say("trace.after", layer=2)},
        masked(0.5, ALL, NONE, NONE, of=reading(NOT, *range(6))),
    ),
    "origin.rises": Row(
        masked(0.5, ALL, [0.2, 0.1, 0, 0, 0, 0], CLS),
        lambda say: {
            **{"token": "[CLS]", "first": 1, "last": 2},
            **{"low": say("origin.by", share="20 %"), "high": say("origin.wholly")},
        },
        "origin.read",
    ),
}
