"""Questions put to made-up classifiers."""

from dataclasses import replace

from components.exhibits.question import Question, read_questions
from components.exhibits.questions import Answer, Answers
from components.results import Table, beside
from components.texts import load_texts
from tests.measured import having, measured
from tests.ui.fake import KINDS, FakeAnalyst, Kind
from tests.ui.fake_results import BACKBONES, fake_results

QUESTIONS = read_questions()
RESULTS = fake_results()
KEYS = [question.key for question in QUESTIONS]
LANGUAGES = tuple(QUESTIONS[0].question)


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
    questions: tuple[Question, ...] = QUESTIONS,
    analyst: FakeAnalyst | None = None,
    results: Table = RESULTS,
    language: str = "en",
) -> Answers:
    """Answers of the shipped catalogue, if no other is given."""
    return Answers(analyst or shipped(), results, questions, load_texts(language))


def put_to(kind: Kind, question: Question, language: str = "en") -> Answer:
    """The question, asked of one kind of classifier in the place of its backbones."""
    key = kind.spec.key
    probes = [beside(row, backbone=key) for row in measured(RESULTS, "probe", backbone=BACKBONES[0])]
    own = [beside(row, backbone=key) for row in measured(RESULTS, "head")[:1]]
    papers = dict(zip((key,), question.papers.values(), strict=False))
    asked = replace(question, backbones=(key,), papers=papers)
    results = having(RESULTS, probe=probes, head=own)
    return answers((asked,), FakeAnalyst((kind,)), results, language).answer(asked.key)
