from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from components.bundle.corpus import Corpus, load_corpus
from components.bundle.recipes import Book, load_book, smoke
from components.bundle.vocabulary import train_tokenizer
from tests.bundle.labelled import write_data

FAMILIES = tuple(load_book().families)


@pytest.fixture(scope="session")
def book() -> Book:
    return smoke(load_book())


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_data(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(book: Book, data: Path) -> Corpus:
    return load_corpus(book, data)


@pytest.fixture(scope="session")
def tokenizers(book: Book, corpus: Corpus) -> dict[str, PreTrainedTokenizerFast]:
    return {
        name: train_tokenizer(
            family.tokenizer, book.vocabulary, corpus.texts(book.vocabulary.sources), book.longest
        )
        for name, family in book.families.items()
    }
