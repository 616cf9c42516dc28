"""How many bytes an answer of 128 tokens and six layers takes."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from components.as_json import to_json
from components.exhibits.answer.heatmap import HEATMAP
from components.exhibits.answer.outputs import OUTPUTS
from components.exhibits.answer.similarity import SIMILARITY
from components.inference.engine import Engine
from components.settings import Settings
from components.texts import load_texts
from components.types import Query
from tests.benchmarks.engine import SIZES, random_bert, words


def report() -> None:
    """Print the size of the API's JSON and of each figure."""
    with TemporaryDirectory() as folder:
        random_bert(Path(folder) / "six", **SIZES["BERT 6 x 384"])
        catalogue = Path(folder) / "backbones.toml"
        catalogue.write_text('[six]\ntitle = "S"\ntask = "t"\npath = "six"', encoding="utf-8")
        analysis = Engine(Settings(catalogue=catalogue)).analyze(Query("six", words(128)))
    tokens, layers = len(analysis.tokens.text), analysis.layers
    print(f"\nSize of an answer, {tokens} tokens, {layers} layers")
    plots = {
        "similarity plot (bar 40 kB)": SIMILARITY,
        "head outputs plot (bar 40 kB)": OUTPUTS,
        "heat map (bar 40 kB)": HEATMAP,
    }
    sizes = {"the API's JSON (bar 60 kB)": json.dumps(to_json(analysis))}
    for name, exhibit in plots.items():
        figure = exhibit.show(analysis, {}, load_texts()).figure
        sizes[name] = "" if figure is None else figure.to_json()
    for name, text in sizes.items():
        print(f"{name:<44}{len(text) / 1000:9.1f} kB", flush=True)
