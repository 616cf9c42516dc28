"""What a browser may send for a part of the page: anything else is refused before a function sees it."""

import asyncio
from typing import Any

import gradio as gr
import pytest

from components.ui.gradio_internals import block_functions, take_values
from tests.serving import built

REFUSED = "no such value"


def page_of_examples() -> gr.Blocks:
    with gr.Blocks() as page:
        examples = gr.Dataset(components=[gr.Textbox(visible=False)], samples=[["a"], ["b"]], type="index")
        examples.click(str, inputs=examples)
    take_values(page, lambda: REFUSED)
    return page


def taken(value: Any) -> list[Any]:
    page = built(page_of_examples)
    (function,) = block_functions(page).values()
    return asyncio.run(page.preprocess_data(function, [value], None))


def test_an_example_is_one_of_those_that_are_offered() -> None:
    assert [taken(0), taken(1)] == [[0], [1]]


@pytest.mark.parametrize("value", [2, -1, "x", "0", None, True, 1.0, [0], {"index": 0}])
def test_no_other_example_is_asked_for(value: Any) -> None:
    with pytest.raises(gr.Error, match=REFUSED):
        taken(value)
