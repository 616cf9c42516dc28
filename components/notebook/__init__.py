"""For notebooks: what the Classify tab shows, of a model object that is still being trained."""

from components.notebook.show import Exhibits, poolscope_show

__all__ = ["Exhibits", "poolscope_show"]
