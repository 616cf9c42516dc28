"""What of importance a visitor can set: what else is computed, and which head of attention is drawn."""

from __future__ import annotations

from components.exhibits.control import Control, Switch, Whole

MOST_HEADS = 1000
INTEGRATED = Control("integrated", Switch(), False, "matters.integrated", "matters.integrated_info")
HEAD = Control("attention_head", Whole(0, MOST_HEADS), 0, "matters.head")  # 0: the mean over heads
