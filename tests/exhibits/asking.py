"""Questions put to made-up classifiers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from components.exhibits.question import ELSE, QuestionCard, read_questions
from components.exhibits.questions import CardAnswer, CardAnswers
from components.results import Table, beside
from components.texts import ASSETS, load_texts, read_toml
from tests.measured import having, measured
from tests.ui.fake import KINDS, FakeAnalyst, Kind
from tests.ui.fake_results import BACKBONES, fake_results

QUESTIONS = read_questions()
RESULTS = fake_results()
KEYS = [question.key for question in QUESTIONS]
LANGUAGES = tuple(QUESTIONS[0].question)
CASES: Mapping[str, Mapping[str, Sequence[str]]] = read_toml(ASSETS / "question_cases.toml")  # by measure


def cases(measures: Sequence[str]) -> dict[str, Sequence[str]]:
    """The values of each case of these measures."""
    return {case: values for name in measures for case, values in CASES[name].items()}


def check(question: QuestionCard) -> None:
    """ValueError names the question, and says what of it does not fit together."""

    def needed(holds: object, fault: str) -> None:
        if not holds:
            raise ValueError(f"{question.key}: {fault}")

    strangers, unknown = question.papers.keys() - {*question.backbones}, {*question.measures} - CASES.keys()
    evidence, tags = question.view == "evidence", question.question.keys()
    needed(question.backbones, "backbones are needed")
    needed(question.task if evidence else question.text, "a text is needed or, for the evidence, a task")
    needed(not (evidence and question.shows), f"the evidence has no {question.shows}")
    needed(not strangers, f"papers: {sorted(strangers)} are not among the backbones")
    needed(not unknown, f"measures: {sorted(unknown)} are none of {sorted(CASES)}")
    for name, line in chain(question.answer.items(), question.each.items()):
        values = {*cases(question.measures).get(name.partition("-")[0], ())}
        others = line.keys() - values - {ELSE}
        needed(not others, f"{name}: there is no case with the values {sorted(others)}")
        lacking = sorted(values - line.keys())
        needed(ELSE in line or not lacking, f"{name}: the values {lacking} have no text")
        told = all(text.keys() == tags for text in line.values() if text)
        needed(told, f"{name}: every text is needed in {sorted(tags)}")
    papers = all(text.keys() == tags for text in question.papers.values())
    needed(papers, f"papers: every text is needed in {sorted(tags)}")


def shipped() -> FakeAnalyst:
    """A fake with the keys of the shipped catalogue; one family in three reads its last token."""
    likes = {"pretrained": "untrained", "sentiment": "first", "paraphrase": "pair"}
    kinds = {kind.spec.key: kind for kind in KINDS}

    def kind(key: str) -> Kind:
        family, training = key.split("-")
        like = kinds["last" if family in ("xlnet", "gpt2") and training == "sentiment" else likes[training]]
        named = replace(like.spec, key=key, title=key.upper(), architecture=f"{family.title()}Classifier")
        return replace(like, spec=named)

    return FakeAnalyst(tuple(kind(key) for key in BACKBONES))


def answers(
    questions: tuple[QuestionCard, ...] = QUESTIONS,
    analyst: FakeAnalyst | None = None,
    results: Table = RESULTS,
    language: str = "en",
) -> CardAnswers:
    """Answers of the shipped catalogue, if no other is given."""
    return CardAnswers(analyst or shipped(), results, questions, load_texts(language))


def put_to(kind: Kind, question: QuestionCard, language: str = "en") -> CardAnswer:
    """The question, asked of one kind of classifier in the place of its backbones."""
    key = kind.spec.key
    probes = [beside(row, backbone=key) for row in measured(RESULTS, "probe", backbone=BACKBONES[0])]
    own = [beside(row, backbone=key) for row in measured(RESULTS, "head")[:1]]
    papers = dict(zip((key,), question.papers.values(), strict=False))
    asked = replace(question, backbones=(key,), papers=papers)
    results = having(RESULTS, probe=probes, head=own)
    return answers((asked,), FakeAnalyst((kind,)), results, language).answer(asked.key)
