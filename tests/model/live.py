"""Models in the middle of training, and what plain transformers says of them."""

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertModel, BertPreTrainedModel, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from components.analyses.anatomy import Anatomy
from components.analyses.measuring.live import anatomy_of
from tests.families.making import boundless, tiny_model

TEXT = "the film is not good at all , not good !"
FAMILIES = ("bert", "distilbert", "roberta", "albert", "electra", "deberta-v2", "gpt2", "xlnet")
LABELS = {"num_labels": 3}
WORDS = boundless()


def measured(model: object, tokenizer: object = WORDS, text: str = TEXT, pair: str = "") -> Anatomy:
    return anatomy_of(model, tokenizer, text, pair, 1000)


def trained(family: str = "bert", **more: Any) -> PreTrainedModel:
    """A model in the middle of training: gradients lie in it, and dropout is on."""
    model = tiny_model(family, **{**LABELS, **more}).train()
    torch.manual_seed(5)
    step(model)
    return model


def step(model: PreTrainedModel) -> Tensor:
    """The loss of one text, whose gradients are added to those that lie there."""
    loss: Tensor = model(**WORDS(TEXT, return_tensors="pt"), labels=torch.tensor([1])).loss
    loss.backward()
    return loss


def plainly(model: PreTrainedModel, text: str = TEXT, pair: str | None = None) -> Any:
    """What transformers alone says: another object of the same config, given the weights as float32."""
    plain = type(model)(deepcopy(model.config)).float().eval()
    plain.load_state_dict(model.state_dict())
    plain.config.use_cache = False
    with torch.no_grad():
        return plain(**WORDS(text, pair, return_tensors="pt"), output_hidden_states=True)


def agrees(anatomy: Anatomy, plain: Any) -> None:
    np.testing.assert_allclose(anatomy.analysis.logits, plain.logits[0], atol=1e-5, rtol=0)
    np.testing.assert_allclose(anatomy.steps[-1].given, plain.logits[0], atol=1e-5, rtol=0)
    for layer, states in enumerate(plain.hidden_states):
        cosines = torch.cosine_similarity(states[0], states[0][:1])  # [CLS] is the first token
        np.testing.assert_allclose(anatomy.analysis.similarity[layer], cosines, atol=1e-5, rtol=0)
    assert len(plain.hidden_states) == len(anatomy.analysis.similarity)


def weights(tokens: int) -> Tensor:
    """Of each token in the mean: (T,)."""
    counted = torch.arange(1.0, tokens + 1, dtype=torch.float32, device="cpu")
    return counted / counted.sum()


class Averaging(BertPreTrainedModel):
    """A classifier of somebody's own, as one writes it in a notebook: later tokens count for more."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert, self.drop = BertModel(config), nn.Dropout(0.5)
        self.out = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None, **named: Any
    ) -> SequenceClassifierOutput:
        given = self.bert(input_ids, attention_mask, token_type_ids, **named)
        pooled = weights(given.last_hidden_state.shape[1]) @ given.last_hidden_state
        logits = self.out(self.drop(pooled))
        return SequenceClassifierOutput(logits=logits, hidden_states=given.hidden_states)
