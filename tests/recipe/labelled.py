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
    rows = []
    for number in range(first, first + count):
        label = rng.randint(0, 1)
        word = rng.choice(PRAISE if label else BLAME)
        rows.append(f"{number} : the {rng.choice(THINGS)} is n't long , it 's {word} .\t{label}")
    return rows


def reports(count: int, rng: random.Random, first: int = 0) -> list[tuple[str, str, int]]:
    """Pairs of news with serial numbers from ``first`` on, and 1 where they report the same."""
    rows = []
    for number in range(first, first + count):
        who, what, other, day = (rng.choice(words) for words in (FIRMS, NEWS, NEWS, DAYS))
        one = f"{number} . The {who} {what} {day} ."
        same = rng.randint(0, 1)
        two = f"{day.capitalize()} the {who} {what} ( {number} ) ."
        rows.append((one, two if same else f"{number} . The {who} {other} , it was said .", same))
    return rows


def write(path: Path, *lines: str) -> None:
    """Writes the lines as UTF-8, the folder made first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_others(folder: Path, count: int, rng: random.Random) -> None:
    """The files whose labels are not trained on, or are for probes alone."""
    captions = reports(count, rng, 3000)
    write(folder / "snli/s1.dev", *(one for one, _, _ in captions))
    write(folder / "snli/s2.dev", *(two for _, two, _ in captions))
    entailed = [f"{i}\t{one}\t{two}\tentailment" for i, (one, two, _) in enumerate(reports(count, rng, 4000))]
    write(folder / "rte/train.tsv", "index\tsentence1\tsentence2\tlabel", *entailed)
    asked = [
        f"{i}\tWho did it ?\t{one}\tentailment" for i, (one, _, _) in enumerate(reports(count, rng, 5000))
    ]
    write(folder / "qnli/dev.tsv", "index\tquestion\tsentence\tlabel", *asked)
    opined = (row.split("\t")[0] for row in opinions(count, rng, 6000))
    told = (one.lower() for one, _, _ in reports(count, rng, 7000))
    lines = [
        line
        for pair in zip((f"0 {t}" for t in opined), (f"1 {t}" for t in told), strict=True)
        for line in pair
    ]
    (folder / "subj").mkdir()
    (folder / "subj/subj.all").write_text("".join(f"{line} caf\xe9\n" for line in lines), encoding="latin-1")
    news = [
        f'"{i % 4 + 1}","News {i}","{one} It was said ""{i}""."'
        for i, (one, _, _) in enumerate(reports(3 * count, rng, 8000))
    ]
    write(folder / "agnews/test.csv", *news)
    scored = [f"{one}\t{two}\t{4.0 if same else 1.2}" for one, two, same in reports(count, rng, 9000)]
    write(folder / "stsb/dev.tsv", "sentence1\tsentence2\tscore", *scored)


def write_data(folder: Path, count: int = 80) -> None:
    """A data folder with ``count`` rows per file, and three planted rows that stand in an evaluation."""
    rng = random.Random(1)
    opinion = "sentence\tlabel"
    write(folder / "sst2/dev.tsv", opinion, *opinions(count, rng, 1000), f"{LEAKED}\t1")
    write(folder / "sst2/train.tsv", opinion, f"{LEAKED_NATURALLY}\t1", *opinions(count, rng))
    reviews = (" ".join(row.split("\t")[0] for row in opinions(30, rng)) for _ in range(count // 8))
    write(
        folder / "reviews/reviews.tsv",
        "review\tlabel",
        *(f"{text}\t{i % 2}" for i, text in enumerate(reviews)),
    )
    judged = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    pairs = [f"{same}\t1\t2\t{one}\t{two}" for one, two, same in reports(count, rng, 1000)]
    planted = f"1\t1\t2\tQuite another sentence .\t{LEAKED_SIDE}"
    write(folder / "mrpc/msr_paraphrase_test.txt", judged, *pairs, f"1\t1\t2\t{LEAKED_SIDE}\tThe mill lost .")
    pairs = [f"{same}\t1\t2\t{one}\t{two}" for one, two, same in reports(count, rng)]
    write(folder / "mrpc/msr_paraphrase_train.txt", judged, planted, *pairs)
    scored = [f"{one}\t{two}\t{5.0 if same else 1.2}" for one, two, same in reports(count, rng, 500)]
    leaked = f"{LEAKED_SIDE.lower().replace(' ,', ',')}\tNobody knows why .\t4.4"
    write(
        folder / "stsb/train.tsv",
        "sentence1\tsentence2\tscore",
        leaked,
        "Half alike .\tAlike .\t3.1",
        *scored,
    )
    write_others(folder, count, rng)
