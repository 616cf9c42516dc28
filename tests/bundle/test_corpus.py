from pathlib import Path

import pytest

from components.bundle.corpus import Corpus, Example, fingerprint, read, without_leaks
from components.bundle.recipes import Book, Source
from tests.bundle.labelled import LEAKED, LEAKED_NATURALLY, LEAKED_SIDE, write


def test_rows_between_the_scores_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "scored.tsv", "a\tb\thow", "One  .\tTwo\t4", "Three\tFour\t3", 'Fi"ve\tSix\t2.5')
    source = Source("scored.tsv", ("a", "b"), "how", positive=4, negative=2.5)
    assert read(source, tmp_path) == (Example(("One .", "Two"), 1), Example(('Fi"ve', "Six"), 0))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    write(tmp_path / "rows.tsv", "text\tlabel", "One\t1")
    with pytest.raises(KeyError, match="sentence"):
        read(Source("rows.tsv", ("sentence",), "label"), tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [("It's GOOD!", "it 's  good !"), (LEAKED, LEAKED_NATURALLY), ("...", " ... ")],
)
def test_spellings_share_a_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_other_texts_do_not() -> None:
    assert len({fingerprint(text) for text in ("good", "not good", "...", "?", "gut", "güt")}) == 6


def test_a_leak_on_either_side_is_dropped() -> None:
    held = [Example(("Held text .",), 0)]
    rows = [Example(("a", "HELD text."), 1), Example(("held  text .", "b"), 0), Example(("a", "b"), 1)]
    assert without_leaks(rows, held) == (rows[2],)


def test_planted_rows_are_dropped_from_every_file(corpus: Corpus) -> None:
    assert corpus.dropped == {"phrases": 1, "reviews": 0, "paraphrases": 1, "similarities": 1}
    trained = {fingerprint(text) for text in corpus.texts}
    assert trained.isdisjoint(map(fingerprint, (LEAKED, LEAKED_SIDE)))


def test_texts_are_listed_once(corpus: Corpus, book: Book) -> None:
    assert len(set(corpus.texts)) == len(corpus.texts)
    assert all(len(rows) <= book.rows for rows in corpus.training.values())
