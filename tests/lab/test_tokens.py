"""Texts that a backbone cuts off or cannot read are counted, as soon as it reads them."""

from transformers import AutoTokenizer

from components.fitting import Fit, Plan, Stage, Table
from components.inference.engine import Engine
from components.settings import ASSETS, Settings
from components.types import Query
from tests.lab.test_lab import reviews

LONG = "a long film " * 300
FOREIGN = (
    "\u6211\u4eec\u5f88\u559c\u6b22\u8fd9\u90e8\u7535\u5f71"  # Chinese, which an English vocabulary lacks
)
MIXED = f"a fine film and a fine plot {FOREIGN[:1]}"


def test_what_is_cut_off_and_what_is_unreadable_is_counted() -> None:
    engine, whole = Engine(Settings()), reviews(80)
    texts = (LONG, FOREIGN, MIXED, *whole.texts[3:77], FOREIGN * 2, FOREIGN * 3, LONG + "!")
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models" / "bert-sentiment")
    limit = engine.analyze(Query("bert-sentiment", LONG)).tokens.text
    cut = sum(len(tokenizer.tokenize(text)) + 2 > len(limit) for text in texts)
    unread = sum(engine.analyze(Query("bert-sentiment", text)).unreadable is not None for text in texts)
    assert (cut, unread) == (2, 3)
    title = next(spec.title for spec in engine.backbones() if spec.key == "bert-sentiment")
    expected = (
        f"{title}: 2 of 80 rows have more than the {len(limit)} tokens that it takes. "
        "The rest of them is cut off.",
        f"{title}: it cannot read 3 of 80 rows, whose words are mostly unknown to its vocabulary.",
    )
    plan = Plan(("bert-sentiment",), ("cls",), folds=2)
    *stages, fit = engine.fit(Table(texts, (), whole.labels), plan)
    assert isinstance(fit, Fit)
    assert tuple(map(str, fit.warnings)) == expected
    early = [stage.notes for stage in stages if isinstance(stage, Stage) and stage.name == "embed"]
    assert tuple(map(str, early[-1])) == expected
