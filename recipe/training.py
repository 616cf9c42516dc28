"""Tokenizers, models, the losses of the papers, the loop that trains, and the teacher's part in it.

Random numbers of losses are torch's. Logits of words are computed only at the predicted positions, since the
output embedding is by far the widest matrix. The trainers of the `tokenizers` library iterate over hash maps,
whose order changes from run to run: what depends on it is sorted here, so that texts give one vocabulary.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from tokenizers import pre_tokenizers, processors, trainers
from torch import Tensor, nn
from torch.nn.functional import cosine_embedding_loss, cross_entropy, kl_div, log_softmax, pad, softmax
from torch.nn.utils import clip_grad_norm_
from torch.optim.swa_utils import AveragedModel
from transformers import BatchEncoding

from components.analyses.fit import batches_of
from components.model.files import packaged
from components.types import Floats
from recipe.corpus import AUGMENTATIONS, Corpus, Example, Examples
from recipe.recipes import Family, Recipes, Stage, Teacher, TokenizerRecipe, Training, Vocabulary

TEMPERATURE = 2.0  # of the distillation
POOL = 32  # batches that are sorted by length together: little padding, still well mixed
TAIL = 0.05  # pieces that hardly occur get scores within this distance of the lowest, in no fixed order

Model = transformers.PreTrainedModel
Tokenizer = transformers.PreTrainedTokenizerFast
Loss = Callable[[Model, BatchEncoding, Tensor], Tensor]  # of inputs (B, T) and their labels (B,)
Report = Callable[[str], None]  # says how far a step is


def outputs_at(model: Model, asked: Tensor, inputs: Mapping[str, Any]) -> Any:
    """The model's outputs, whose logits are (N, V), for the N true positions of ``asked`` (B, T) alone."""
    words: nn.Module = cast(Any, model).get_output_embeddings()
    with words.register_forward_pre_hook(lambda _, hidden: (hidden[0][asked],)):
        return model(**inputs)


def mask_words(ids: Tensor, tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """Ids (B, T) with 15 % of the ordinary tokens chosen for prediction, and which these are (B, T).

    Of the chosen ones 80 % become the mask token, 10 % a random token, 10 % stay (Devlin et al. 2019).
    """
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    collator = transformers.DataCollatorForLanguageModeling(tokenizer)
    hidden, wanted = collator.torch_mask_tokens(ids.clone(), special)
    return hidden, wanted >= 0  # -100 where nothing is asked for


def masked_words(tokenizer: Tokenizer, model: Model, inputs: BatchEncoding, _labels: Tensor) -> Tensor:
    """The mean cross-entropy over words that are masked anew in each step (RoBERTa: Liu et al. 2019)."""
    hidden, asked = mask_words(inputs["input_ids"], tokenizer)
    logits = outputs_at(model, asked, {**inputs, "input_ids": hidden}).logits
    return cross_entropy(logits, inputs["input_ids"][asked])


def next_sentence(tokenizer: Tokenizer, model: Model, inputs: BatchEncoding, labels: Tensor) -> Tensor:
    """The mean cross-entropy of masked words plus that of the next sentence (BERT: Devlin et al. 2019).

    ``labels``: (B,), 0 where the second text followed the first, 1 where not.
    """
    hidden, asked = mask_words(inputs["input_ids"], tokenizer)
    outputs = outputs_at(model, asked, {**inputs, "input_ids": hidden})
    words = cross_entropy(outputs.prediction_logits, inputs["input_ids"][asked])
    return words + cross_entropy(outputs.seq_relationship_logits, labels.long())


def distilled_words(
    tokenizer: Tokenizer, teacher: Model, model: Model, inputs: BatchEncoding, _labels: Tensor
) -> Tensor:
    """The masked words, the teacher's predictions of them, and the teacher's final hidden states.

    The weights of the three means are those of DistilBERT (Sanh et al. 2019): 2, 5 and 1.
    """
    hidden, asked = mask_words(inputs["input_ids"], tokenizer)
    seen = {**inputs, "input_ids": hidden, "output_hidden_states": True}
    ours = outputs_at(model, asked, seen)
    with torch.no_grad():
        theirs = outputs_at(teacher, asked, seen)
    student = log_softmax(ours.logits / TEMPERATURE, dim=-1)
    goal = softmax(theirs.prediction_logits / TEMPERATURE, dim=-1)
    imitation = kl_div(student, goal, reduction="batchmean") * TEMPERATURE**2
    attended = inputs["attention_mask"].bool()
    states, targets = (one.hidden_states[-1][attended] for one in (ours, theirs))  # (N, D)
    alignment = cosine_embedding_loss(states, targets, torch.ones(len(states)))
    return 5 * imitation + 2 * cross_entropy(ours.logits, inputs["input_ids"][asked]) + alignment


def next_words(model: Model, inputs: BatchEncoding, _labels: Tensor) -> Tensor:
    """The mean cross-entropy of each word after those before it (GPT-2: Radford et al. 2019)."""
    asked = pad(inputs["attention_mask"][:, 1:], (0, 1)).bool()  # (B, T) where a word follows
    logits = outputs_at(model, asked, inputs).logits
    return cross_entropy(logits, inputs["input_ids"][:, 1:][asked[:, :-1]])


def permuted_words(tokenizer: Tokenizer, model: Model, inputs: BatchEncoding, _labels: Tensor) -> Tensor:
    """The mean cross-entropy over spans that are predicted in a random order (XLNet: Yang et al. 2019)."""
    ids, attended = inputs["input_ids"], inputs["attention_mask"]  # (B, T)
    odd = (ids.shape[1] % 2, 0)  # the collator wants an even T
    ids, attended = pad(ids, odd, value=tokenizer.pad_token_id), pad(attended, odd)
    collated = transformers.DataCollatorForPermutationLanguageModeling(tokenizer)(list(ids))
    wanted = collated.pop("labels")  # (B, T), -100 where nothing is asked for
    logits = outputs_at(model, wanted >= 0, {**collated, "attention_mask": attended}).logits
    return cross_entropy(logits, wanted[wanted >= 0])


def label_loss(model: Model, inputs: BatchEncoding, labels: Tensor) -> Tensor:
    """The mean cross-entropy of the logits (B, 2) with the ``labels`` (B,): probabilities of class 1."""
    return cross_entropy(model(**inputs).logits, torch.stack([1 - labels, labels], dim=-1))


def template_ids(tokenizer: Tokenizer) -> Tensor:
    """The ids of the tokens that the tokenizer adds to a pair, padding included."""
    pair = tokenizer("a", "a", return_special_tokens_mask=True)
    added = torch.tensor(pair["input_ids"])[torch.tensor(pair["special_tokens_mask"]) == 1]
    return torch.cat([added, torch.tensor([tokenizer.pad_token_id])])


def shared_tokens(ids: Tensor, template: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens of a pair that occur in the other text too, and those that belong to the second: (B, T) each.

    ``ids``: (B, T) token ids. ``template``: the ids of tokens that the tokenizer adds; between two tokens of
    different texts there is at least one.
    """
    added = torch.isin(ids, template)  # (B, T)
    before = added.cumsum(-1)  # (B, T) added tokens up to here
    opposite = (before[:, :, None] != before[:, None, :]) & ~added[:, None, :]  # (B, T, T)
    same = ids[:, :, None] == ids[:, None, :]  # (B, T, T)
    first = before.masked_fill(added, ids.shape[1]).amin(-1, keepdim=True)  # of the first text's tokens
    return (same & opposite).any(-1) & ~added, ~added & (before > first)


class SharedTokens(nn.Module):
    """Classifies each token of a pair's second text: whether it occurs in the first text too.

    One linear classifier on the hidden states of every layer above the embeddings. With one label per token
    an encoder learns to compare two texts; with one per pair it hardly does. Only the second text is
    classified, since causal encoders cannot look ahead.
    """

    def __init__(self, model: Model, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.head = nn.Linear(model.config.hidden_size, 2)
        self.template = nn.Buffer(template_ids(tokenizer))

    def forward(self, model: Model, inputs: BatchEncoding, _labels: Tensor) -> Tensor:
        """The mean cross-entropy over the second text's tokens and the layers."""
        shared, asked = shared_tokens(inputs["input_ids"], self.template)
        layers = model.base_model(**inputs, output_hidden_states=True).hidden_states[1:]
        answers = self.head(torch.stack(layers)[:, asked])  # (L, asked tokens, 2)
        return cross_entropy(answers.flatten(0, 1), shared[asked].long().repeat(len(layers)))


# Makers of a loss, given the model, its tokenizer and its teacher, by the name that a stage gives.
OBJECTIVES: Mapping[str, Callable[[Model, Tokenizer, Model | None], Loss]] = {
    "labels": lambda *_: label_loss,
    "shared tokens": lambda model, tokenizer, _: SharedTokens(model, tokenizer),
    "masked words": lambda _, tokenizer, __: partial(masked_words, tokenizer),
    "masked words and next sentence": lambda _, tokenizer, __: partial(next_sentence, tokenizer),
    "distilled masked words": lambda _, *given: partial(distilled_words, *cast(Any, given)),
    "permuted words": lambda _, tokenizer, __: partial(permuted_words, tokenizer),
    "next words": lambda *_: next_words,
}


def stage_examples(stage: Stage, corpus: Corpus, soft_labels: Mapping[str, Floats]) -> list[Example]:
    """A stage's examples, each label averaged with the teacher's by the stage's ``teacher_weight``.

    ``soft_labels``: (N,) for the N examples of each source that the teacher was asked about. Examples with
    neither label are left out; a stage whose ``teacher_weight`` is 0 takes all as they are.
    """
    weight = stage.teacher_weight
    found: list[Example] = []
    for source in stage.sources:
        examples = corpus.training[source]
        if weight and source in soft_labels:
            examples = tuple(
                Example(one.texts, soft if one.label < 0 else (1 - weight) * one.label + weight * soft)
                for one, soft in zip(examples, soft_labels[source].tolist(), strict=True)
            )
        found.extend(one for one in examples if one.label >= 0 or not weight)
    return found


def training_batches(
    tokenizer: Tokenizer, examples: Examples, size: int, rng: random.Random
) -> Iterator[tuple[BatchEncoding, Tensor]]:
    """The examples once, in random order: inputs (B, T) padded to the longest, and labels (B,) float32.

    They are cut at the tokenizer's longest input; a pair loses tokens of its longer text.
    """
    sides = zip(*(example.texts for example in examples), strict=True)
    encoded = tokenizer(*map(list, sides), truncation=True)
    order, wide = rng.sample(range(len(examples)), len(examples)), POOL * size
    pools = (order[start : start + wide] for start in range(0, len(order), wide))
    ranked = (sorted(pool, key=lambda row: len(encoded["input_ids"][row])) for pool in pools)
    groups = [pool[start : start + size] for pool in ranked for start in range(0, len(pool), size)]
    for group in rng.sample(groups, len(groups)):
        labels = torch.tensor([examples[row].label for row in group], dtype=torch.float32)
        rows = {name: [column[row] for row in group] for name, column in encoded.items()}
        yield tokenizer.pad(rows, return_tensors="pt"), labels


def drop_tokens(inputs: BatchEncoding, special: Sequence[int], share: float) -> BatchEncoding:
    """The inputs with a random share of their ordinary tokens masked out of attention; special ones stay.

    ``inputs["input_ids"]`` and ``inputs["attention_mask"]``: (B, T). The random numbers are torch's.
    """
    ids = inputs["input_ids"]
    kept = (torch.rand(ids.shape) >= share) | torch.isin(ids, torch.tensor(special))
    return BatchEncoding({**inputs, "attention_mask": inputs["attention_mask"] * kept})


def _optimizer(model: nn.Module, rate: float, decay: float) -> torch.optim.AdamW:
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    vectors = [weight for weight in model.parameters() if weight.ndim == 1]  # biases, norms: no decay
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)


def train(
    model: Model,
    tokenizer: Tokenizer,
    examples: Examples,
    stage: Stage,
    settings: Training,
    rng: random.Random,
    report: Report,
    teacher: Model | None = None,
) -> Model:
    """Trains the model in place for one stage; gives the exponential moving average of its weights.

    AdamW, with linear warmup of the learning rate from 0 to the stage's and linear decay back to 0.
    """

    def moved(average: Tensor, now: Tensor, count: Tensor | int) -> Tensor:
        weight = 1 - min(settings.ema_decay, float((1 + count) / (10 + count)))  # early averages forget fast
        return torch.lerp(average, now, weight)

    loss_of = OBJECTIVES[stage.objective](model, tokenizer, teacher)
    learned = [model, *([loss_of] if isinstance(loss_of, nn.Module) else [])]
    optimizer = _optimizer(nn.ModuleList(learned), stage.learning_rate, settings.weight_decay)
    warmup = max(1, round(settings.warmup_ratio * stage.steps))
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, warmup, stage.steps)  # type: ignore[no-untyped-call]  # theirs
    average = AveragedModel(model, avg_fn=moved)
    model.train(stage.dropout)
    epochs = (AUGMENTATIONS[stage.augmentation](examples, rng) for _epoch in count())
    batches = chain.from_iterable(training_batches(tokenizer, rows, stage.batch, rng) for rows in epochs)
    for done, (inputs, labels) in enumerate(islice(batches, stage.steps), start=1):
        seen = drop_tokens(inputs, tokenizer.all_special_ids, stage.token_dropout)
        loss = loss_of(model, seen, labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
        clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
        if done % 100 == 0 or done == stage.steps:
            report(f"{stage.objective}: step {done:,} of {stage.steps:,}, loss {loss.item():.3f}")
    return cast(Model, average.module)


@torch.inference_mode()
def logits_of(model: Model, tokenizer: Tokenizer, examples: Examples) -> Tensor:
    """The model's answers (N, K) to the examples."""
    model.train(False)
    found = torch.empty(len(examples), cast(int, model.config.num_labels))
    for chosen in batches_of([example.texts for example in examples]):
        sides = zip(*(examples[row].texts for row in chosen), strict=True)
        inputs = tokenizer(*map(list, sides), truncation=True, padding=True, return_tensors="pt")
        found[chosen] = model(**inputs).logits
    return found


def correct(model: Model, tokenizer: Tokenizer, examples: Examples) -> Tensor:
    """Tells whether the likeliest label of each example is its own: (N,)."""
    return logits_of(model, tokenizer, examples).argmax(-1) == torch.tensor([one.label for one in examples])


def load(folder: Path, kind: Any = transformers.AutoModelForSequenceClassification, **given: Any) -> Any:
    """A checkpoint folder's model, as float32; by default with its classification head."""
    return kind.from_pretrained(folder, dtype=torch.float32, **given)


def load_tokenizer(folder: Path, **given: Any) -> Tokenizer:
    """A checkpoint folder's tokenizer."""
    return cast(Tokenizer, transformers.AutoTokenizer.from_pretrained(folder, **given))


def save(model: Model, tokenizer: Tokenizer, folder: Path) -> None:
    """Writes the weights as float16, to be loaded as float32: training in half precision ends in NaN."""
    cast(nn.Module, model).half()
    model.save_pretrained(folder)
    model.config.dtype = "float32"  # what transformers loads a checkpoint as, unless it is told
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train_tokenizer(
    recipe: TokenizerRecipe, size: Vocabulary, texts: Sequence[str], max_length: int
) -> Tokenizer:
    """A tokenizer of the recipe's class learned from the texts, special tokens first.

    ``max_length``: tokens of the longest input, special ones included.
    """
    kind = getattr(transformers, recipe.kind)
    learned = _learned(kind(**recipe.arguments).backend_tokenizer, list(recipe.special), size, texts)
    tokenizer: Tokenizer = kind(**learned, **recipe.arguments, model_max_length=max_length)
    if recipe.pair:
        special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in recipe.special]
        template = processors.TemplateProcessing(single="$A", pair=recipe.pair, special_tokens=special)
        spans = processors.ByteLevel(trim_offsets=True)  # a token's span leaves out the space before it
        tokenizer.backend_tokenizer.post_processor = processors.Sequence([spans, template])
    return tokenizer


def _learned(backend: Any, special: list[str], size: Vocabulary, texts: Sequence[str]) -> dict[str, Any]:
    """The vocabulary that a tokenizer's class takes and, for pairs of bytes, the merges."""
    model = type(backend.model).__name__
    given: dict[str, Any] = {"vocab_size": size.size, "show_progress": False}
    if model == "BPE":
        given |= {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
        found = _trained(backend, trainers.BpeTrainer(special_tokens=special, **given), texts)
        return {"vocab": found["vocab"], "merges": [tuple(pair) for pair in found["merges"]]}
    counts: Counter[str] = Counter()  # of characters, normalised and split as the backend does
    for text in texts:
        normal = backend.normalizer.normalize_str(text)
        counts.update("".join(word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)))
    characters = sorted(counts, key=lambda each: (-counts[each], each))[: size.characters]
    if model == "WordPiece":
        # as special tokens, the continuations get fixed ids; else chance orders them, and ids settle ties
        fixed = [*special, *(f"##{character}" for character in characters)]
        given |= {"initial_alphabet": characters, "limit_alphabet": len(characters)}
        found = _trained(backend, trainers.WordPieceTrainer(special_tokens=fixed, **given), texts)
        return {"vocab": found["vocab"]}
    trainer = trainers.UnigramTrainer(special_tokens=special, unk_token=special[0], **given)
    # a character that is met gets a piece of its own, so texts with others (accents too) are left out
    alphabet = {*characters, " "}
    pieces = _trained(backend, trainer, [text for text in texts if alphabet.issuperset(text)])["vocab"]
    learned = pieces[len(special) :]
    lowest = min(score for _, score in learned)
    rounded = [(piece, round(lowest if score < lowest + TAIL else score, 6)) for piece, score in learned]
    in_order = sorted(rounded, key=lambda one: (-one[1], one[0]))
    return {"vocab": [*map(tuple, pieces[: len(special)]), *in_order]}


def _trained(backend: Any, trainer: Any, texts: Sequence[str]) -> Any:
    """The model of the backend as JSON has it, after the ``trainer`` has seen the texts."""
    backend.train_from_iterator(texts, trainer)
    return json.loads(backend.to_str())["model"]


def untrained(family: Family, recipes: Recipes, tokenizer: Tokenizer) -> Model:
    """A model of the family for its paper's pre-training, with random weights from torch's generator.

    Its word embeddings are the teacher's, projected, and scaled to the standard deviation of random ones.
    """
    scale = recipes.training.initializer_range
    given = {"vocab_size": len(tokenizer), "initializer_range": scale, **family.config}
    given |= {name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")}
    config = transformers.AutoConfig.for_model(family.model_type, **given)
    model: Model = transformers.AutoModelForPreTraining.from_config(config)  # type: ignore[no-untyped-call]  # theirs
    words = cast(nn.Embedding, model.get_input_embeddings())
    with torch.no_grad():
        words.weight.copy_(scale * projected_embeddings(recipes.teacher, tokenizer, words.embedding_dim))
    return model


def checkpoint(package: str) -> Path:
    """The folder of the checkpoint that a package carries; ModuleNotFoundError where it is not installed."""
    folder = packaged(package)
    if folder is None:
        raise ModuleNotFoundError(f"no installed package {package} carries a checkpoint", name=package)
    return folder


def teacher_tokenizer(teacher: Teacher) -> Tokenizer:
    """The teacher's tokenizer, cut at its longest input."""
    return load_tokenizer(checkpoint(teacher.package), model_max_length=teacher.max_length)


@torch.inference_mode()
def projected_embeddings(teacher: Teacher, tokenizer: Tokenizer, width: int) -> Tensor:
    """The teacher's word embeddings for the tokens of another vocabulary: (V, width), of unit variance.

    A token's embedding is the mean of the teacher's embeddings of its text, projected on the first ``width``
    principal components. A token whose text the teacher's tokenizer drops gets the mean of all, zero.
    """
    table = load(checkpoint(teacher.package), transformers.AutoModel).get_input_embeddings().weight
    theirs = teacher_tokenizer(teacher)
    known = theirs.get_vocab()
    rows = []
    for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))):
        text = tokenizer.convert_tokens_to_string([token]).strip()
        ids = [known[text]] if text in known else theirs(text, add_special_tokens=False)["input_ids"]
        rows.append(table[ids].mean(0) if ids else torch.full((table.shape[1],), torch.nan))
    found = torch.stack(rows)
    centred = torch.where(found.isnan(), 0, found - found.nanmean(0))
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    reduced = centred @ directions[:width].T  # (V, width)
    return cast(Tensor, reduced / reduced.std())
