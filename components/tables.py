"""Tables of labelled texts that somebody brings: CSV, TSV or JSON, read by pandas -> columns -> a Table."""

import csv
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice, pairwise, zip_longest
from typing import Any

import pandas as pd

from components.errors import PoolscopeError
from components.fitting import Table
from components.texts import ASSETS, Sentence, read_toml

KNOWN: Mapping[str, Any] = read_toml(ASSETS / "columns.toml")  # of names and cells
WORDS = {name: frozenset(each) for name, each in KNOWN["words"].items()}  # that say this
PATTERNS: Mapping[str, str] = KNOWN["patterns"]
FORMATS: Mapping[str, str] = read_toml(ASSETS / "formats.toml")
CLASSES = 50  # labels at most: a column with more is hardly one of labels
COLUMNS = 200
LINES, LEFT = 25, 10  # of a row that are read: a letter's; rows to one that is wanted: others lack something
CELLS = 4_000_000  # at most, in all
LABEL = 100  # characters in which spellings are told apart: Unicode takes long to put marks in order
PART = "\x1f"
SEPARATORS = f"\1{PART}\t;|,^~"  # of two that fit, the one that is rarer in prose comes first
FIRST, READ = 20, 20_000  # lines, in so many characters, that tell which of them separates
TITLES = 3  # lines at most above the names of the columns, and words that a name hardly has
WORD = re.compile(r"[^\W\d_]+")
TURNS = 4  # objects in a list at most that get columns each: of a talk, of those who labelled
TOLD = 1_000  # rows that tell what stands in a column
ALIKE = "lab.alike"  # the key of the note on labels that differ in spelling alone


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it was read: its cells as texts, in columns with names; ``notes`` on how.

    ``headless``: whether the first row is read as a row, and the columns are numbered.
    """

    cells: pd.DataFrame
    notes: tuple[Sentence, ...] = ()
    headless: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.cells.columns)


@dataclass(frozen=True)
class Columns:
    """Names of the columns by what they hold; ``text_pair``: "" for single texts.

    ``others``: columns that may be the label as well as the one that was guessed.
    """

    text: str
    label: str
    text_pair: str = ""
    others: tuple[str, ...] = ()


def read_sheet(given: object, headed: bool = False, rows: float = math.inf) -> Sheet:
    """The sheet that ``given`` is; PoolscopeError says in which line it is none.

    ``headed``: the first row names the columns, even where it looks like a row. ``rows``: that are wanted at
    most; a text of many more lines is not read.
    """
    if not isinstance(given, str):
        raise PoolscopeError("table", given, "errors.text")
    text = f"\n{given}".replace("\n\ufeff", "\n")[1:]
    if fence := re.match(PATTERNS["fence"], text):
        text = text[fence.end() :].rstrip().removesuffix("```")
    text = re.sub(PATTERNS["counted"], "", text)
    if not text.strip():
        raise PoolscopeError("table", "", "errors.table_empty")
    _check_count(text.count("\n") + text.count("\r"), LINES * rows, rows)
    for name, begins in FORMATS.items():
        if re.match(begins, text[:READ], re.IGNORECASE):
            raise PoolscopeError("table", text, "errors.table_foreign", name=name)
    if text.count("\0") > len(text) / 100:
        raise PoolscopeError("table", text, "errors.table_binary")
    text = re.sub("[\0\ud800-\udfff]", "\ufffd", text)
    listed = re.match(PATTERNS["json"], text)
    return _readable(Sheet(_from_json(text)) if listed else _from_separated(text, headed, rows), text)


def _check_count(count: int, most: float, rows: float) -> None:
    if count > most:
        raise PoolscopeError("table", Sentence("errors.count", count=count), "errors.lab_rows", most=rows)


def _check_width(columns: Collection[str], rows: int = 0) -> None:
    """Check that a table has columns enough and not too many: pandas takes long for those of a wide one."""
    if not 2 <= len(columns) <= COLUMNS or len(columns) * rows > CELLS:
        raise PoolscopeError("table", ", ".join(islice(columns, 3)), "errors.table_columns", most=COLUMNS)


def _readable(sheet: Sheet, text: str) -> Sheet:
    """Leave out the rows that hold what could not be decoded; PoolscopeError where it is a label, or much."""
    cells, marks = sheet.cells, re.compile(PATTERNS["odd"])
    named = [name for name in cells if marks.search("".join(cells[name]))]  # cell by cell takes long
    found = cells[named].where(cells[named].map(lambda cell: marks.search(cell) is not None))
    odd = found.notna().any(axis=1)
    repeats = any(found[name].dropna().duplicated().any() for name in named)
    if repeats or odd.sum() > len(cells) / 10 or any("\ufffd" in name for name in sheet.columns):
        line = text.count("\n", 0, text.index("\ufffd")) + 1 if "\ufffd" in text else 1
        raise PoolscopeError("table", text, "errors.table_encoding", line=line)
    if cells[~odd].map(str.strip).eq("").all(axis=None):
        raise PoolscopeError("table", text, "errors.table_rows")
    notes = [Sentence("lab.unreadable", count=int(odd.sum()))] if odd.any() else []
    return Sheet(cells[~odd], (*sheet.notes, *notes), sheet.headless)


def guess(sheet: Sheet) -> Columns:
    """Guess what the columns hold: prose; beside it a label, whose few values repeat; like prose.

    PoolscopeError where no column can be a label.
    """
    cells = {name: sheet.cells[name].str.strip() for name in sheet.columns}
    kinds = {name: found[found != ""].nunique() for name, found in cells.items()}
    lengths = {name: found.str.len().mean() for name, found in cells.items()}
    other = f"{PATTERNS['aside']}|{PATTERNS['date']}"
    aside = {name: found[found != ""].str.fullmatch(other) for name, found in cells.items()}
    prose = {name: bool((~found).mean() > 0.5) for name, found in aside.items()}  # mostly words
    words = {name: set(WORD.findall(name.casefold())) for name in cells}
    beside = WORDS["aside"] | WORDS["label"]
    named = {name: bool(words[name] & WORDS["text"]) and not words[name] & beside for name in cells}
    filled = {name: bool(found.ne("").mean() > 0.5) for name, found in cells.items()}
    apart = {name: kinds[name] > len(cells[name]) / 2 for name in cells}
    signs = {name: (prose[name], prose[name] and kinds[name] > CLASSES, apart[name]) for name in cells}
    likely = {name: signs[name].count(True) for name in cells}
    text = max(cells, key=lambda one: (kinds[one] > 1, named[one] and filled[one], likely[one], lengths[one]))
    several = [name for name in cells if name != text and 2 <= kinds[name] <= CLASSES]
    ranks = {one: (rank, not filled[one]) for one in several if (rank := _rank(one, cells[one])) is not None}
    if not ranks:
        raise PoolscopeError("table", ", ".join(sheet.columns), "errors.table_label")
    label = min(ranks, key=lambda name: (ranks[name], kinds[name]))
    tied = [name for name in ranks if name != label and ranks[name] == ranks[label]]
    both = {name: (cells[label] + PART + cells[name]).nunique() for name in tied}
    others = [name for name in tied if ranks[name][0] or (both[name] > kinds[label] and not apart[name])]
    left = [name for name in cells if name not in (text, label) and prose[name] and apart[name]]
    left = [name for name in left if not (cells[name].equals(cells[text]) or words[name] & WORDS["aside"])]
    like = [name for name in left if words[name] & WORDS["pair"] or lengths[name] > lengths[text] / 3]
    pair = max(like, key=lambda name: (named[name], lengths[name]), default="")
    in_order = sorted((text, pair), key=sheet.columns.index) if pair else [text, ""]
    return Columns(in_order[0], label, in_order[1], tuple(others))


def _rank(name: str, cells: "pd.Series[str]") -> int | None:
    """Rate a column as a label: 0 by its name, 1 by what it holds, 2 where it rather tells something else.

    None where its values hardly repeat: they are no labels, unless the name says so.
    """
    words = set(WORD.findall(name.casefold()))
    given = cells[cells != ""].str.casefold()
    if words & WORDS["label"]:
        return 0
    if given.nunique() > len(given) / 2:
        return None
    aside = words & WORDS["aside"] or set(given) <= WORDS["parts"]
    return 2 if aside or given.str.fullmatch(PATTERNS["date"]).all() else 1


def to_table(sheet: Sheet, columns: Columns, merged: bool = False) -> tuple[Table, tuple[Sentence, ...]]:
    """The rows that have a text and a label, and what a reader has to know of them.

    ``merged``: labels that differ in spelling alone are read as the one that stands first. PoolscopeError
    where a column is not there or is named twice, or where nothing can be fitted.
    """
    named = {"text": columns.text, "label": columns.label, "text_pair": columns.text_pair}
    named = {field: name for field, name in named.items() if name or field != "text_pair"}
    for field, name in named.items():
        if name not in sheet.columns:
            raise PoolscopeError(field, name, "errors.table_column", columns=tuple(map(repr, sheet.columns)))
    cells = pd.DataFrame({field: list(sheet.cells[name]) for field, name in named.items()}, dtype=object)
    if len(set(named.values())) < len(named):
        raise PoolscopeError("label", columns.label, "errors.table_twice")
    cells["label"] = cells["label"].str.strip()
    whole = cells[cells.map(str.strip).ne("").all(axis=1)]
    if whole.empty:
        raise PoolscopeError("table", len(cells), "errors.table_rows")
    spellings = whole.groupby(whole["label"].map(_plain), sort=False)["label"].unique()
    if merged:
        whole = whole.assign(label=whole["label"].map(_plain).map(spellings.str[0]))
    kept = Table(*(tuple(whole[field]) if field in whole else () for field in ("text", "text_pair", "label")))
    if (kinds := len(set(kept.labels))) > CLASSES:
        raise PoolscopeError("label", columns.label, "errors.table_classes", count=kinds, most=CLASSES)
    alike = () if merged else tuple(one for several in spellings if len(several) > 1 for one in several)
    notes = [*sheet.notes, *_notes(kept, len(cells) - len(whole))]
    if columns.others:
        notes.append(Sentence("lab.other_labels", label=columns.label, others=columns.others))
    return kept, (*notes, *([Sentence(ALIKE, labels=alike)] if alike else []))


def _plain(label: str) -> str:
    """Write a label as all of its spellings would be: without case, marks that nobody sees, or decimals."""
    if len(label) > LABEL:
        return label
    shown = "".join(one for one in unicodedata.normalize("NFKC", label) if unicodedata.category(one) != "Cf")
    try:
        return f"{float(shown):g}"
    except ValueError:
        words = re.sub(r"(?<=[^\W_])[_-]+(?=\w)", " ", shown.casefold()).strip(" .,;:!?\"'").split()
        return " ".join(words) or shown


def _notes(table: Table, missing: int) -> Iterator[Sentence]:
    if missing:
        yield Sentence("lab.missing", count=missing)
    stripped = (cell.strip() for cell in (*table.texts, *table.labels))
    for cell, count in Counter(cell for cell in stripped if cell.casefold() in WORDS["spelled"]).items():
        yield Sentence("lab.spelled", spelled=cell, count=count)
    if several := sum("\n" in text.strip() for text in (*table.texts, *table.pairs)):
        yield Sentence("lab.lines", count=several)
    texts = list(zip(table.texts, table.pairs or table.texts, strict=True))
    labels = pd.Series(table.labels).groupby(pd.factorize(pd.Series(texts))[0]).nunique()  # of each text
    if twice := len(texts) - len(labels):
        yield Sentence("lab.twice", count=twice)
    if torn := int((labels > 1).sum()):
        yield Sentence("lab.conflicting", count=torn)
    kinds = Counter(map(_plain, table.labels))
    if kinds[_plain(table.labels[0])] == 1 and len(table.labels) > len(kinds) > 2:
        yield Sentence("lab.first", label=table.labels[0])
    label, most = Counter(table.labels).most_common(1)[0]
    if most > 0.9 * len(table.labels):
        yield Sentence("lab.lopsided", label=label, share=f"{most / len(table.labels):.0%}")


def _from_json(text: str) -> pd.DataFrame:
    """Read what pandas writes as JSON, in any orientation, or one each line; "data.text" is in "data"."""
    listed, several = re.subn(PATTERNS["lists"], "],", text)
    try:
        found = json.loads(f"[{listed}]" if several else text)
        rows = list(chain(*found)) if several and all(_are(one, dict) for one in found) else _records(found)
    except PoolscopeError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and text.lstrip().startswith("["):
            raise PoolscopeError("table", text, "errors.table_json", line=error.lineno) from error
        rows = list(_lines(text))
    cells = [{name.strip(): cell for each in row.items() for name, cell in _flat(*each)} for row in rows]
    _check_width({name: None for row in cells for name in row}, len(cells))
    return pd.DataFrame(cells, dtype=object).map(_cell)


def _records(found: Any) -> list[Any]:
    """A dict for each row of a whole document of JSON; ValueError where it is no table."""
    if isinstance(found, dict) and found:
        inner = list(found.values())
        data = next((one for one in map(found.get, ("data", "rows", "values")) if _are(one, list)), None)
        if _are(found.get("columns"), dict) and all("values" in one for one in found["columns"]):
            return _records({one.get("name"): one["values"] for one in found["columns"]})
        if data and isinstance(names := found.get("columns", found.get("meta")), list):
            names = [one.get("name") if isinstance(one, dict) else one for one in names]
            return [dict(zip(names, row, strict=True)) for row in data]
        if all(set(WORD.findall(str(name).casefold())) & WORDS["parts"] for name in found):
            return [row for part in inner for row in _records(part)]
        lists = {name: one for name, one in found.items() if _are(one, dict)}
        if lists:
            return _joined(lists)
        for deep in (one for one in inner if isinstance(one, dict)):
            if len(inner) == 1 or any(_are(each, dict) for each in deep.values()):
                return _records(deep)
        if len(inner) > 1 and all(_are(one, str) for one in inner):
            rows = [{"label": name, "text": one} for name, each in found.items() for one in each]
            said = (WORDS["label"] | WORDS["text"]) & {*WORD.findall(" ".join(found).casefold())}
            if not said and len({row["text"] for row in rows}) == len(rows):
                return rows
        if all(isinstance(one, str | int | float) for one in inner) and 2 * len({*inner}) <= len(inner):
            return [{"text": name, "label": one} for name, one in found.items()]
        if _are(inner, dict):
            numbered = [all(str(key).isdigit() for key in one) for one in (found, inner[0])]
            if numbered[0] if numbered[0] != numbered[1] else len(found) > len(inner[0]):
                return inner
            columns, lengths = found, {len({key for one in inner for key in one})}
        else:
            half = max((len(one) for one in inner if isinstance(one, list)), default=0) / 2
            columns = {name: one for name, one in found.items() if isinstance(one, list) and len(one) > half}
            lengths = {len(one) for one in columns.values()} if len(columns) > 1 else set()
        if len(lengths) == 1:
            _check_width(columns, *lengths)
            return list(pd.DataFrame(columns, dtype=object).to_dict("records"))
        found = data
    if _are(found, list):
        names = list(map(str, found[0]))
        said = WORDS["label"] & {name.casefold() for name in names}
        names = names if said else [f"column {number + 1}" for number in range(max(map(len, found)))]
        return [dict(zip(names, row, strict=False)) for row in (found[1:] if said else found)]
    if _are(found, dict):
        tables = {str(one.get("name")): one.get("data") for one in found if one.get("type") == "table"}
        whole = all(_are(one, dict) for one in tables.values())  # beside lines on their database
        return _records(tables) if tables and whole else list(found)
    raise ValueError(found)


def _joined(lists: Mapping[str, list[Any]]) -> list[Any]:
    """The rows of lists that have much the same fields, with their names where none of these is a label.

    Beside them may stand a schema, names of labels, or how many there are.
    """
    most = max([lists[name] for name in ("data", "rows") if name in lists] or lists.values(), key=len)[0]
    near = {name: one for name, one in lists.items() if 2 * len(most.keys() & one[0]) >= len(most | one[0])}
    texts = " ".join(name.casefold() for name, cell in most.items() if isinstance(cell, str))
    if len(near) == 1 or WORDS["label"] & {*WORD.findall(texts)}:
        return [row for rows in near.values() for row in rows]
    return [row | {"label": row.get("label", name)} for name, rows in near.items() for row in rows]


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(one, kind) for one in values)


def _lines(text: str) -> Iterator[dict[str, Any]]:
    """Objects one after the other, on a line or on several."""
    objects, decoder, end = re.compile(PATTERNS["object"]), json.JSONDecoder(), 0
    while begins := objects.search(text, end):
        start = begins.start()
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            line = text.count("\n", 0, start) + 1
            raise PoolscopeError("table", text[start:], "errors.table_json", line=line)
        yield found


def _flat(name: object, value: Any, depth: int = 6) -> Iterator[tuple[str, Any]]:
    """A cell of JSON or, where it is an object or a list of one, each of those in it."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        (value,) = value
    turns = _are(value, dict) and len(value) <= TURNS
    if depth and (turns or isinstance(value, dict)):
        for inner, one in enumerate(value, 1) if turns else value.items():
            yield from _flat(name if inner == 1 else f"{name}.{inner}", one, depth - 1)
    else:
        yield str(name), value


def _cell(value: Any) -> str:
    """A value of JSON as a text; a list of one is that one, and what is nested stays JSON."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, dict | list) and value:
        with suppress(RecursionError):
            return json.dumps(value, ensure_ascii=False)
        return "\ufffd"
    return "" if value in (None, [], {}) or value != value else str(value)  # NaN


def _from_separated(text: str, headed: bool, rows: float) -> Sheet:
    """Cells between commas, tabs, semicolons or bars, the first row being the names of the columns."""
    if labelled := _labelled(text):
        return Sheet(pd.DataFrame(labelled, columns=["label", "text"]))
    text = _bare(text)
    declared, printed = re.match(PATTERNS["declared"], text), _undrawn(text) or _unescaped(text)
    text, above = printed or ((text[declared.end() :], 0) if declared else _untitled(text))
    text, separator = (text, declared[1]) if declared else (text, ",") if printed else _parted(text)
    how: dict[str, Any] = {"sep": ","} if printed else _dialect(text, separator)
    _check_count(text.count(how["sep"]), 2 * COLUMNS * rows, rows)
    notes = [Sentence("lab.above", count=above)] if above else []
    if not printed and '"' in text and _is_unquoted(text, how):
        how["quoting"] = csv.QUOTE_NONE
        notes.append(Sentence("lab.unquoted"))
    if "escapechar" in how and "\\N" in text:
        text = re.sub(PATTERNS["nothing"].format(re.escape(how["sep"])), r"\1\\\\N", text)
    try:
        cells = _parsed(text, **how)
    except PoolscopeError:
        if "\\" not in text:
            raise
        how["escapechar"] = None if "escapechar" in how else "\\"  # as databases write a separator in a text
        cells = _parsed(text, **how)
    _check_width(cells.columns)
    _check_count(len(cells), LEFT * rows, rows)
    begins = cells.iloc[:, 0].str.strip().str.casefold() == cells.columns[0].casefold()
    again = cells[begins].map(lambda cell: cell.strip().casefold())  # no others: it takes long
    repeated = again.eq([*map(str.casefold, cells)]).all(axis=1).reindex(cells.index, fill_value=False)
    below = _headings(cells)
    label = None if headed or below else _label_in(cells[~repeated])
    if label is not None:
        cells = _parsed(text, **how, header=None)
        return Sheet(cells, (*notes, Sentence("lab.headless", label=label)), headless=True)
    if repeated.any():
        notes.append(Sentence("lab.repeated_header", count=int(repeated.sum())))
    notes += [Sentence("lab.below", count=below)] if below else []
    words = {word for name in cells for word in WORD.findall(name.casefold())}
    prose = [name for name in cells if len(name.split()) >= TITLES]
    if prose and not below and not words & WORDS["label"]:
        notes.append(Sentence("lab.named", name=prose[0]))
    return Sheet(cells.iloc[below:][~repeated.iloc[below:]], tuple(notes))


def _labelled(text: str) -> list[tuple[str, str]]:
    """Rows of a label, a space and a text, as fastText and TREC have them; none where a line is another.

    Labels without a sign before them come again, and nothing that separates cells stands in each line.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not all(map(re.compile(PATTERNS["labelled"]).fullmatch, lines[:FIRST])):
        return []
    found = re.findall(f"(?m)^{PATTERNS['labelled']}", text)
    bare = [label for _, label, _ in found if label]
    separated = any(all(one in line for line in lines) for one in SEPARATORS)
    if len(found) < len(lines) or (bare and (separated or 2 * len(set(bare)) > len(bare))):
        return []
    return [(signed or label, prose.rstrip()) for signed, label, prose in found]


def _bare(text: str) -> str:
    """A text without marks about whole lines: a spreadsheet puts them where it took a line for a cell."""
    if not re.fullmatch(PATTERNS["enclosed"], text):
        return text
    lines = [line.replace('""', '"') for line in re.findall('"((?:[^"]|"")*+)"', text)]
    named = WORDS["label"] & {*WORD.findall(lines[0].casefold())}
    return "\n".join(lines) if named else text


def _headings(cells: pd.DataFrame) -> int:
    """Count the rows below the names that go on with these: lines, types; questions and ids of survey tools.

    Of the last, two columns at least have a number or a date in all rows below; these have one in none of
    them, and no cell of theirs comes again.
    """
    rows, code = cells.iloc[TITLES:TOLD], f"{PATTERNS['number']}|{PATTERNS['date']}"
    coded = [name for name in cells if len(rows) and rows[name].str.fullmatch(code).all()]
    for count, row in enumerate(cells.iloc[:TITLES].to_dict("records")):
        if all(re.fullmatch(PATTERNS["kind"], cell) for cell in row.values()):
            continue
        one, below = any(re.fullmatch(code, row[name]) for name in coded), cells.iloc[count + 1 : TOLD]
        if one or len(coded) < 2 or any(cell and below[name].eq(cell).any() for name, cell in row.items()):
            return count
    return 0


def _undrawn(text: str) -> tuple[str, int] | None:
    """Write a table that is printed between bars as CSV, and count the lines above its names.

    None of another text: a line is drawn below the names, and rows may have one above and below each.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    drawn = re.compile(PATTERNS["drawn"]).fullmatch
    first = next((place for place, line in enumerate(lines[:FIRST]) if drawn(line)), FIRST)
    before = list(filter(None, lines[:first]))
    closed = first < FIRST and not {*"+|"}.isdisjoint(lines[first])
    if not closed or len(before) > TITLES + 1 or '"' in "".join(before):  # which is in a text
        return None
    above = first - ("|" in lines[first - 1])
    body = {place: line for place, line in enumerate(lines) if place >= above and line and not drawn(line)}
    grid = lines[first].lstrip().startswith("+") and sum(map(bool, map(drawn, lines))) > TITLES
    joined = {place for place in body if grid and place - 1 in body}  # rows may go over several lines
    cells = pd.DataFrame(_printed(text, body, lines[first], joined))
    written = cells.to_csv(index=False, header=False, quoting=csv.QUOTE_ALL)
    return written, sum(map(bool, lines[: max(above, 0)]))


def _unescaped(text: str) -> tuple[str, int] | None:
    r"""Write what databases copy to a file as CSV: ``\N`` is alone in a cell, or ``\.`` below.

    None of another text, of a large one, and where marks enclose cells: then one is escaped, or before a tab.
    """
    bare = text.replace(2 * "\\", "")
    copied = all(re.search(PATTERNS[name], bare) for name in ("copied", "copied_letter"))
    large = text.count("\t") + text.count('"') > CELLS / 8  # takes long
    if large or not copied or re.search(PATTERNS["uncopied"], bare):
        return None
    text = text.rstrip("\r\n").removesuffix("\\.").rstrip("\r\n")
    for one, other in KNOWN["copied"]:
        text = text.replace(one, other)
    return f'"{text}"', 0


def _printed(text: str, body: Mapping[int, str], rule: str, joined: Collection[int]) -> list[list[str]]:
    """Cells of the lines between bars, by their places; ``joined`` ones go on with the row above.

    Where all lines have bars below those of the ``rule``, others are of texts, and a sign before them says
    that a cell goes on. PoolscopeError where a row has more cells than the first one.
    """
    ends = [place for place, sign in enumerate(rule) if sign in "+|"]
    outer, closed = (line.lstrip()[:1] in tuple("+|") for line in (next(iter(body.values()), ""), rule))
    apart = all(line[end : end + 1] == "|" for line in body.values() if "|" in line for end in ends)
    bounds = pairwise(ends if outer else (-1, *ends, len(text))) if apart and outer == closed else ()
    parts = [slice(start + 1, end) for start, end in bounds]
    rows, goes_on = list[list[list[str]]](), False  # cells of each line of each row
    for place, line in body.items():
        bare = line.strip().removeprefix("|").removesuffix("|") if outer else line
        cells = [line[part] for part in parts if "|" in line]
        cells = cells or [one.replace("\\|", "|") for one in re.split(r"(?<!\\)\|", bare)]
        signs = {line[end - 1 : end] for end in (*ends, len(rule)) if parts and "+" in rule and "|" in line}
        if not outer and "." in signs:
            raise PoolscopeError("table", text, "errors.table_foreign", name="psql's wrapped format")
        if not (goes_on or place in joined):
            rows.append([])
        goes_on = "+" in signs
        rows[-1].append([one.removesuffix("+" if goes_on else "").strip() for one in cells])
        if any(rows[-1][-1][len(rows[0][0]) :]):
            where = {"line": place + 1, "count": len(cells), "expected": len(rows[0][0])}
            raise PoolscopeError("table", text, "errors.table_cells", **where)
    return [["\n".join(parts).strip() for parts in zip_longest(*row, fillvalue="")] for row in rows]


def _untitled(text: str) -> tuple[str, int]:
    """A table without comments, titles or empty rows above the names of its columns; how many."""
    lines = text[:READ].split("\n")[:FIRST]
    cells = [{cell.strip(' "\r').casefold() for cell in re.split(r"[,\t;|]", line)} for line in lines]
    named = [place for place, row in enumerate(cells) if row & WORDS["label"]]
    if len(named) == 1 and 0 < named[0] <= TITLES and '"' not in "".join(lines[: named[0]]):
        return text.split("\n", named[0])[-1], sum(any(row) for row in cells[: named[0]])
    lines = re.sub('"[^"]*"', "", text[:READ]).split("\n")[:FIRST]
    for above in range(1, min(TITLES, len(lines) - 2) + 1):
        titles, rows = lines[:above], [line for line in lines[above:] if line.strip()]
        if titles[-1].strip() and not all(line.startswith("#") for line in titles):
            continue
        for one in SEPARATORS:
            counts = {line.count(one) for line in rows}
            if len(counts) == 1 and not any(one in line for line in titles) and one in rows[0]:
                return text.split("\n", above)[-1], sum(bool(line.strip()) for line in titles)
    return text, 0


def _parted(text: str) -> tuple[str, str]:
    """Put PART in the place of a longer separator that is in each line as often, and give it; or R's."""
    begins = text.strip("\r\n")[:READ]
    marked = re.sub(PATTERNS["marked"], '""', begins).splitlines()[1:FIRST]
    if marked and all('""' in line and re.fullmatch(PATTERNS["r"], line) for line in marked):
        return text.replace('\\"', '""'), " "
    lines = begins.splitlines()[:FIRST]
    known = KNOWN["separators"]
    counts = {one: {line.count(one) for line in lines} for one in (*(f" {long} " for long in known), *known)}
    found = next((one for one, often in counts.items() if len(often) == 1 and often != {0}), "")
    bars = {line.replace(found, "").count("|") for line in lines} if "|" in found else {0}
    if not found or len(lines) == 1 or (len(bars) == 1 and bars != {0}):  # nothing stands between two bars
        return text, ""
    return text.replace(found, found.rpartition("@")[0] + PART), PART


def _dialect(text: str, separator: str) -> dict[str, Any]:
    """Choose how pandas reads a text: which ``separator`` it has, where none is declared, and its escapes."""
    begins = text.strip("\r\n")[:READ]
    plain = re.sub(PATTERNS["doubled"], "", begins)
    if '"' in plain:  # some are escaped
        plain = re.sub('"[^"]*"', "", re.sub(PATTERNS["within"], "", begins))
    lines = plain.splitlines()[:FIRST] or [""]
    counts = {one: [line.count(one) for line in lines] for one in SEPARATORS}
    alike = [one for one in SEPARATORS if 0 < min(counts[one]) == max(counts[one])]  # in each line as often
    fits = {one: (min(often), often[0]) for one, often in counts.items() if one in (alike or SEPARATORS)}
    separator = separator or max(fits, key=lambda one: (bool(alike) and one < " ", fits[one]))  # not of texts
    how: dict[str, Any] = {"sep": separator}
    sign, mark = re.escape(separator), '"'
    alone = all(line[:1] == line[-1:] == "'" for line in lines[1:]) and f"'{separator}'" in text
    double = '\n"' in f"\n{text}" or f'{separator}"' in text  # then single ones are of texts
    if alone or (not double and any(map(re.compile(PATTERNS["single"].format(sign)).search, lines))):
        how["quotechar"] = mark = "'"
    escaped, cell = (PATTERNS[name].format(sign, mark) for name in ("escaped", "cell"))
    bare = text.replace(2 * "\\", "").replace(f"\\{mark}", "")
    if re.search(escaped, text) and mark not in re.sub(cell, "", bare):
        how["escapechar"] = "\\"
    if separator != " " and ' "' in text and re.search(PATTERNS["spaced"].format(sign), text):
        how["skipinitialspace"] = True
    return how


def _parsed(text: str, **how: Any) -> pd.DataFrame:
    """Have pandas read every cell as a text; PoolscopeError says in which line it cannot."""
    how |= {"dtype": object, "keep_default_na": False}  # texts as Python has them: pandas' own take longer
    if max(line.count(how["sep"]) for line in text.replace("\r", "\n").split("\n")) >= COLUMNS:
        count = max(map(len, _by_line(text, how)))
        if count > COLUMNS:  # before pandas makes a column of each
            given = Sentence("errors.count", count=count)
            raise PoolscopeError("table", given, "errors.table_columns", most=COLUMNS)
    try:
        cells = _cells(text, **how)
    except pd.errors.EmptyDataError as error:
        raise PoolscopeError("table", text, "errors.table_rows") from error
    except pd.errors.ParserError as error:
        (wanted, line, count, row), *_ = re.findall(PATTERNS["place"], str(error))
        where = {"line": line or int(row or 0) + 1, "count": count, "expected": wanted}
        parted = [how["sep"] in each for each in re.sub('"[^"]*"', "", text[:READ]).splitlines()]
        key = "csv" if not count else "cells" if 2 * sum(parted) > len(parted) else "columns"
        raise PoolscopeError("table", text, f"errors.table_{key}", most=COLUMNS, **where) from error
    if not isinstance(cells.index, pd.RangeIndex):  # the rows have more cells than the first one
        cells = _beside_names(cells, text)
    cells = cells.fillna("")
    names = [str(name).strip() for name in cells.columns]
    numbered = [f"column {number}" for number in range(1, len(names) + 1)]
    cells.columns = pd.Index(numbered if "header" in how or len(set(names)) < len(names) else names)
    nameless = [name for name in cells if name.startswith("Unnamed: ") and cells[name].eq("").all()]
    return cells.drop(columns=nameless)


def _cells(text: str, **how: Any) -> pd.DataFrame:
    """Have pandas read a text; where a row has more cells than the first one, nothing may stand in these."""
    try:
        return pd.read_csv(StringIO(text, newline=""), **how)
    except pd.errors.ParserError as error:
        if "Expected" not in str(error):  # a mark is not closed
            raise
        first = pd.read_csv(StringIO(text, newline=""), nrows=1, **how)
        index = 0 if isinstance(first.index, pd.RangeIndex) else first.index.nlevels
        named = [place for place, name in enumerate(first, 1) if not str(name).startswith("Unnamed: ")]
        width = range(index + first.shape[1])
        kept = how | {"header": None, "names": width, "usecols": width}  # without what stands beyond
        cells = pd.read_csv(StringIO(text, newline=""), **kept)
        below = islice(filter(None, _by_line(text, how)), "header" not in how, None)
        if any(any(row[index + max(named, default=0) :]) for row in below):
            raise
        cells = (cells if "header" in how else cells.iloc[1:]).reset_index(drop=True)
        return (cells.set_index([*range(index)]) if index else cells).set_axis(first.columns, axis=1)


def _by_line(text: str, how: Mapping[str, Any]) -> Iterator[list[str]]:
    """Rows as Python reads them: of any width, one after the other."""
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    known = {
        name: one for name, one in how.items() if name not in ("sep", "dtype", "keep_default_na", "header")
    }
    return csv.reader(StringIO(text, newline=""), delimiter=how["sep"], **known)


def _beside_names(cells: pd.DataFrame, text: str) -> pd.DataFrame:
    """Rows with a cell more than there are names: nothing at their end, or at their beginning an index.

    PoolscopeError where it is neither: then a separator stands in the texts.
    """
    names, index = cells.columns, cells.index
    if cells.iloc[:, -index.nlevels :].fillna("").eq("").all(axis=None):
        return cells.reset_index(allow_duplicates=True).iloc[:, : -index.nlevels].set_axis(names, axis=1)
    named = index.nlevels == 1 and index.is_unique and index.astype(str).str.fullmatch(r"[\w.-]+").all()
    if named and not str(names[0]).startswith("Unnamed: "):  # there is no other index
        return cells.reset_index(names="Unnamed: 0", allow_duplicates=True)
    several = {"line": 2, "count": len(names) + index.nlevels, "expected": len(names)}
    raise PoolscopeError("table", text, "errors.table_cells", **several)


def _is_unquoted(text: str, how: dict[str, Any]) -> bool:
    """Tell whether quotation marks belong to the texts.

    They do where rows would be swallowed between two, or a cell goes on behind the second. Where they enclose
    lines, most of these have nothing, or what no row has, in each column whose values repeat.
    """
    try:
        plain = quoted = _parsed(text, **how, quoting=csv.QUOTE_NONE)
        with suppress(PoolscopeError):
            quoted = _parsed(text, **how)
    except PoolscopeError:
        return False
    swallowed, forms = len(plain) - len(quoted), (r'"[^"]++"\s*+[^"\s]', r'"[^"]*+"\s*+$')
    goes_on, ends = (plain.map(re.compile(form).match).count().sum() for form in forms)
    marked = goes_on > ends and "escapechar" not in how
    pairs = ((plain[one], quoted[other]) for one, other in zip(plain, quoted, strict=False))
    few = ((one, other) for one, other in pairs if 2 * one.nunique() <= len(one))
    torn = ((~one.isin({*other} - {""})).sum() - other.eq("").sum() for one, other in few)
    return (marked or quoted is plain or swallowed > 0) and any(2 * one <= swallowed for one in torn)


def _label_in(cells: pd.DataFrame) -> str | None:
    """The cell of the first row that is one of the labels below it, or a number over numbers."""
    names = [str(name) for name in cells.columns if not name.startswith("Unnamed: ")]
    if names == [str(number) for number in range(len(names))]:  # pandas' names of columns that have none
        return None
    for name in names:
        below = cells[name].str.strip().loc[lambda cell: cell != ""]
        repeats = 2 <= below.nunique() <= min(CLASSES, len(below) - 1)
        numbers = len(below) and pd.to_numeric(pd.Series([name, *below]), errors="coerce").notna().all()
        if numbers or (repeats and name in set(below)):
            return name
    return None
