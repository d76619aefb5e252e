"""Tiny random models of architectures that no study uses, for the question whether the engines score them right.

They stand in architectures.yaml and are built in memory, with the zoo's tokenizers. Each stands for a way in which a
score can come to depend on more than its own text: windows, linear biases, recurrent states, mixtures of experts,
positions that reach their end, layers that look ahead. ``make architectures`` prints the whole table.
"""

import argparse
import functools
import itertools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
import yaml

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.generation import check
from scripts.core.generation.generate import Generator
from scripts.core.models import loading
from scripts.core.scoring import decoder
from tests import zoo
from tests.core.scoring import loops
from tests.core.scoring.memory import Scores

PLACE = torch.device(zoo.DEVICE).type
"""The key of the tests' device in the engines' tables of sizes."""
TOKENIZERS = {"decoder": "llama", "encoder": "wordpiece", "encoder-decoder": "t5"}
"""Unless a row says otherwise."""


@dataclass(frozen=True)
class Kind:
    """An architecture and how to build it small, as explained at the head of architectures.yaml."""

    name: str
    architecture: str
    tokenizer: str
    kind: type
    options: dict = field(hash=False)
    refused: str | None = None
    half: bool = True
    scale: float = 6.0

    @property
    def model_type(self):
        """What transformers calls it."""
        return self.kind.config_class.model_type


def _read_kinds():
    data = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    for architecture, tokenizer in TOKENIZERS.items():
        for name, row in data[architecture].items():
            kind = getattr(transformers, row.pop("class"))
            yield Kind(**{"name": name, "architecture": architecture, "tokenizer": tokenizer, "kind": kind, **row})


KINDS = {kind.name: kind for kind in _read_kinds()}
DAILY = ("olmo2", "mixtral", "falcon-alibi", "mamba", "bert-as-decoder", "mpnet", "nystromformer-512", "mt5")
"""One of each fate: packed, by equal length for two reasons, refused for two, an encoder, an encoder-decoder."""
tokenizer = functools.cache(zoo.make_tokenizer)


def by_tier(names, daily=DAILY):
    """Return names as parameters of a test, of which all but the daily ones are for the night."""
    return [name if name in daily else pytest.param(name, marks=pytest.mark.nightly) for name in names]


def build(kind, **changed):
    """Return a float32 model of a kind on the tests' device, and its tokenizer.

    Args:
        kind: A :class:`Kind`.
        **changed: Options of the configuration that differ from the kind's.
    """
    words = tokenizer(kind.tokenizer)
    special = {f"{role}_token_id": getattr(words, f"{role}_token_id") or 0 for role in ("bos", "eos", "pad")}
    if kind.architecture == "encoder-decoder":
        special["decoder_start_token_id"] = special["pad_token_id"]
    if kind.architecture == "decoder":
        # Some keep the vector of their padding token at zero.
        special["pad_token_id"] = None
    torch.manual_seed(20240601)
    model = kind.kind(kind.kind.config_class(**{"vocab_size": len(words), **special, **kind.options, **changed}))
    zoo.make_louder(model, kind.scale)
    return loading.keep_attention_type(model.eval().to(zoo.DEVICE)), words


NEW = 12
"""Tokens that are written after a prompt."""

FORMS = [["he", "she", "they", "xe"], ["his", "her", "their", "xyrs"], ["him", "her", "them", "xem"]]
TASKS = (
    "The {0} said that ___ would be late for the meeting with the {1}.",
    "The {1} knew that the {0} had left ___ umbrella at the station.",
    "The {1} told the {0} that the rain would keep ___ at home.",
)
PEOPLE = (("baker", "client"), ("clerk", "passenger"), ("cook", "guest"), ("teacher", "student"))
ASIDES = (
    "The {1} had a long day behind them.",
    "It was raining and the bus was late, so the {1} took the train to their sister.",
    "The {1} had bought a coat for themself in the spring, and it was too small by the autumn.",
    "They had never liked the old garden wall.",
    "On Sundays the {1} went for a walk with their dog, whatever the weather was.",
)


def instances(count, asides=(0, 2, 5)):
    """Return instances whose texts have sentences in between, and begin alike as those of a study do."""
    distinct = {}
    for people, number, (task, forms) in itertools.product(PEOPLE, asides, list(zip(TASKS, FORMS, strict=True))):
        for start in range(len(ASIDES)):
            between = [ASIDES[(start + i) % len(ASIDES)] for i in range(number)]
            opening = f"The {{0}} was tired because {forms[0]} had slept badly."
            distinct[" ".join([opening, *between, task]).format(*people)] = forms
    step = max(1, len(distinct) // count)
    chosen = list(distinct.items())[::step][:count]
    return frame(chosen)


def frame(texts):
    """Return instances of pairs of a text and its options."""
    texts, offered = zip(*texts, strict=True)
    return pd.DataFrame(
        {"instance_id": [f"{i:016x}" for i in range(len(texts))], "text": texts, "options": list(offered)}
    )


EXACT = {}
"""Plain scores in float32 by kind, changes and texts: the same weights are measured in each precision."""


def looped(model, words, kind, rows, changed):
    """Return the plain scores of rows, shape (rows,); None for a model that must not be scored."""
    if kind.refused:
        return None
    key = (kind.name, kind.scale, repr(sorted(changed.items())), *rows.text, *rows.masked)
    if model.dtype != torch.float32 or key not in EXACT:
        values = [loops.token_values(model, words, kind.architecture, row)[1] for row in rows.itertuples()]
        scores = np.array([sum(value) for value in values])
        if model.dtype != torch.float32:
            return scores
        EXACT[key] = scores
    return EXACT[key]


def measure(kind: Kind, precision: str, pack_tokens: int, some: pd.DataFrame, **changed) -> dict:
    """Score instances with the engine and in a plain loop.

    Args:
        precision: One of "float32", "bfloat16".
        pack_tokens: Tokens of a packed sequence.
        some: Instances.
        **changed: Options of the configuration that differ from the kind's.

    Returns:
        ``way``; ``difference``, the largest to the plain loop (nats); ``changed``, instances for which another option
        scores highest than in the plain loop; ``rounding``, how far the plain loop is from the same model in float32
        (nats). A model that is refused has ``way`` alone, the refusal.
    """
    model, words = build(kind, **changed)
    rows = options.option_texts(some)
    rounding = 0.0
    if precision != "float32":
        exact = looped(model, words, kind, rows, changed)
        model = model.to(getattr(torch, precision))
    before = decoder.PACK_TOKENS[PLACE]
    decoder.PACK_TOKENS[PLACE] = pack_tokens
    try:
        made = Scores((model, words, kind.architecture), some)
    except UserError as error:
        return {"way": f"refused: {error}"}
    finally:
        decoder.PACK_TOKENS[PLACE] = before
    scores, expected = made.table, looped(model, words, kind, rows, changed)
    if precision != "float32":
        rounding = float(np.abs(expected - exact).max())
    found, right = options.pick_best(scores), options.pick_best(scores.assign(log_probability=expected))
    different = found.option_index != right.option_index
    return {
        "way": made.check["way"],
        "difference": float(np.abs(scores.log_probability - expected).max()),
        "changed": int(different.sum()),
        "margin": float(right.margin[different].max()) if different.any() else 0.0,
        "rounding": rounding,
    }


def prompts() -> list[str]:
    """Return texts that begin alike and a short one."""
    texts = instances(40).text.str.replace("___", "they").tolist()
    return [texts[0], texts[0][:30], texts[5], texts[17], f"{texts[30]} And then", f"{texts[30]} So", "The clerk"]


def prompted(kind: Kind, **changed) -> dict:
    """Continue :data:`NEW` tokens after :func:`prompts`, together and in a plain loop.

    Args:
        kind: A decoder or an encoder-decoder.
        **changed: Options of the configuration that differ from the kind's.

    Returns:
        ``way``, one of :data:`scripts.core.generation.generate.BATCHING_MODES` or the refusal; ``changed``, how many of
        ``prompts`` continuations are not those of the plain loop.
    """
    model, words = build(kind, **changed)
    model.generation_config.eos_token_id = words.eos_token_id = None
    generator, some = Generator(model, words, NEW, tokens_per_batch=4096), prompts()
    try:
        check.choose_way(generator, generator.tokenize(some))
    except UserError as error:
        return {"way": f"refused: {error}"}
    found = [list(answer.tokens) for answer in generator.answer(some)]
    expected = [loops.write(model, ids, NEW)[0] for ids in generator.tokenize(some)]
    wrong = sum(a != b for a, b in zip(found, expected, strict=True))
    return {"way": generator.way, "changed": wrong, "prompts": len(some)}


def main():
    """Print the table of all kinds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    # A pseudo-log-likelihood takes a forward pass for each token: fewer instances.
    chosen = {True: instances(max(1, given.instances // 4)), False: instances(given.instances)}
    print("| architecture | kind | scored in | float32: nats | decisions | bfloat16: nats | rounds by | decisions | "
          "prompted | answers |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS.values():
        if not given.names or kind.name in given.names:
            print(summary(kind, chosen[kind.architecture == "encoder"]), flush=True)


def summary(kind: Kind, some: pd.DataFrame) -> str:
    """Return a row of the table: what differs from the plain loop, at most, over two sizes of packed sequences."""
    cells = [kind.name, kind.architecture]
    for precision in ("float32", "bfloat16"):
        packs = (256, 1024) if kind.architecture == "decoder" else (256,)
        rows = [measure(kind, precision, pack_tokens, some) for pack_tokens in packs]
        refused = next((row["way"] for row in rows if "difference" not in row), None)
        if precision == "float32":
            cells.append(", ".join(dict.fromkeys("refused" if refused else row["way"] for row in rows)))
        if refused:
            cells += [""] * (2 if precision == "float32" else 3)
            continue
        changed = max(row["changed"] for row in rows)
        cells.append(f"{max(row['difference'] for row in rows):.1e}")
        cells += [f"{rows[0]['rounding']:.2g}"] * (precision == "bfloat16")
        cells.append(f"{changed} of {len(some)}")
    answers = prompted(kind) if kind.architecture != "encoder" else {"way": ""}
    cells.append(answers["way"].partition(":")[0])
    cells.append(f"{answers['changed']} of {answers['prompts']}" if len(answers) > 1 else "")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
