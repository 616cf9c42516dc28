"""Labelled text of the tests' own making, in the formats of the files that the recipe reads."""

import random
from pathlib import Path

PRAISE = ("warm", "funny", "clever", "lovely", "graceful", "thrilling")
BLAME = ("dull", "clumsy", "hollow", "tedious", "noisy", "lazy")
THINGS = ("story", "ending", "cast", "music", "joke", "picture", "script", "chase")
FIRMS = ("baker", "ferry line", "mill", "brewery", "harbour office", "tailor")
NEWS = ("sold its boats", "hired ten cooks", "closed two shops", "raised its prices", "moved to the coast")
DAYS = ("on monday", "last week", "in the spring", "after the storm")

LEAKED = "it 's a warm picture , and a clever one ."  # stands in the sentiment evaluation
LEAKED_NATURALLY = "It's a warm picture, and a clever one."
LEAKED_SIDE = "The mill sold its boats after the storm , said its owner ."  # in the paraphrase evaluation


def opinions(count: int, rng: random.Random, first: int = 0) -> list[str]:
    """Rows of text and label, lower-cased and tokenised, with serial numbers from ``first`` on."""
    labels = [rng.randint(0, 1) for _ in range(count)]
    words = [(rng.choice(THINGS), rng.choice((BLAME, PRAISE)[label])) for label in labels]
    rows = enumerate(zip(words, labels, strict=True), first)
    return [f"{n} : the {thing} is n't long , it 's {word} .\t{label}" for n, ((thing, word), label) in rows]


def reports(count: int, rng: random.Random, first: int = 0) -> list[tuple[str, str, int]]:
    """Pairs of news with serial numbers from ``first`` on, and 1 where they report the same."""
    rows = []
    for n in range(first, first + count):
        who, what, other, day = (rng.choice(words) for words in (FIRMS, NEWS, NEWS, DAYS))
        same = rng.randint(0, 1)
        more = f"{day.capitalize()} the {who} {what} ( {n} ) .", f"{n} . The {who} {other} , it was said ."
        rows.append((f"{n} . The {who} {what} {day} .", more[1 - same], same))
    return rows


def write(path: Path, *lines: str, encoding: str = "utf-8") -> None:
    """Writes the lines, the folder made first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)


def write_data(folder: Path, count: int = 80) -> None:
    """A data folder with ``count`` rows per file, and three planted rows that stand in an evaluation."""
    rng = random.Random(1)
    opinion, scored = "sentence\tlabel", "sentence1\tsentence2\tscore"
    write(folder / "sst2/dev.tsv", opinion, *opinions(count, rng, 1000), f"{LEAKED}\t1")
    write(folder / "sst2/train.tsv", opinion, f"{LEAKED_NATURALLY}\t1", *opinions(count, rng))
    reviews = (" ".join(row.split("\t")[0] for row in opinions(30, rng)) for _ in range(count // 8))
    write(
        folder / "reviews/reviews.tsv",
        "review\tlabel",
        *(f"{text}\t{i % 2}" for i, text in enumerate(reviews)),
    )
    judged, lost = (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String",
        f"1\t1\t2\t{LEAKED_SIDE}\tThe mill lost .",
    )
    planted = f"1\t1\t2\tQuite another sentence .\t{LEAKED_SIDE}"
    for name, first, leaked in (("test", 1000, lost), ("train", 0, planted)):
        pairs = [f"{same}\t1\t2\t{one}\t{two}" for one, two, same in reports(count, rng, first)]
        write(folder / f"mrpc/msr_paraphrase_{name}.txt", judged, leaked, *pairs)
    similar = (
        f"{LEAKED_SIDE.lower().replace(' ,', ',')}\tNobody knows why .\t4.4",
        "Half alike .\tAlike .\t3.1",
    )
    for name, first, best, others in (("train", 500, 5.0, similar), ("dev", 9000, 4.0, ())):
        pairs = [f"{one}\t{two}\t{best if same else 1.2}" for one, two, same in reports(count, rng, first)]
        write(folder / f"stsb/{name}.tsv", scored, *others, *pairs)
    captions = reports(count, rng, 3000)
    for side in (0, 1):
        write(folder / f"snli/s{side + 1}.dev", *(pair[side] for pair in captions))
    entailed = [f"{i}\t{one}\t{two}\tentailment" for i, (one, two, _) in enumerate(reports(count, rng, 4000))]
    write(folder / "rte/train.tsv", "index\tsentence1\tsentence2\tlabel", *entailed)
    asked = [f"0\tWho did it ?\t{one}\tentailment" for one, _, _ in reports(count, rng, 5000)]
    write(folder / "qnli/dev.tsv", "index\tquestion\tsentence\tlabel", *asked)
    opined = (row.split("\t")[0] for row in opinions(count, rng, 6000))
    told = (one.lower() for one, _, _ in reports(count, rng, 7000))
    rows = (
        f"{label} {text} caf\xe9"
        for pair in zip(opined, told, strict=True)
        for label, text in enumerate(pair)
    )
    write(folder / "subj/subj.all", *rows, encoding="latin-1")
    news = enumerate(reports(3 * count, rng, 8000))
    topics = [f'"{i % 4 + 1}","News {i}","{one} It was said ""{i}""."' for i, (one, _, _) in news]
    write(folder / "agnews/test.csv", *topics)
