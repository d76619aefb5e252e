"""Colours, markers and lines: one look for each pronoun set and for each model, whatever else is in a run."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

ARCHITECTURES = {"decoder": "Decoder-only", "encoder": "Encoder-only", "encoder-decoder": "Encoder-decoder"}
"""Architectures in the order of the panels (Gautam et al. 2024, Figures 7 and 9) with their titles."""
LINES = {"decoder": "-", "encoder": (0, (4, 1.5)), "encoder-decoder": (0, (1, 1))}
SHAPES = {"decoder": "o", "encoder": "s", "encoder-decoder": "D"}

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which people with colour vision deficiencies tell apart; the faintest last."""
PRONOUNS = ("he", "she", "they", "xe")
"""Pronoun sets whose colour never changes: the first of the palette. Nothing but pronouns has these colours."""
CATEGORIES = ("#000000", "#E69F00", "#56B4E9", "#8C8C8C", "#6A3D9A")
"""Colours of what is neither a pronoun set nor a model: methods, outcomes, metrics."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")

ORDERED = ("#000000", "#E69F00", "#6A3D9A", "#009E73")
"""Colours of a few models or methods that a figure compares, in their order."""

# Hue, fewest and most parameters of the registry's families; those with one size keep their hue as it is. Lightness
# depends on a model's place in this range, so a model looks the same whatever else is in the run. Families of one
# study have hues that can be told apart.
FAMILIES = {
    "SmolLM2": ("#332288", None, None),
    "MiniLM": ("#D4526E", None, None),
    "ALBERT-v2": ("#B5179E", 1.1e7, 2.1e8),
    "BERT": ("#E69F00", 1.0e8, 3.4e8),
    "RoBERTa": ("#56B4E9", 1.2e8, 3.6e8),
    "MosaicBERT": ("#444444", None, None),
    "OPT": ("#117733", 1.2e8, 6.6e10),
    "Pythia": ("#8B5A2B", 1.4e7, 1.2e10),
    "Llama-2": ("#7A6BB0", 6.7e9, 7.0e10),
    "FLAN-T5": ("#882255", 7.6e7, 1.2e10),
    "Llama-2-chat": ("#88AA22", 6.7e9, 7.0e10),
    "LingMess": ("#4477AA", None, None),
    "CAW-coref": ("#EE6677", None, None),
    "F-coref": ("#66CCEE", None, None),
    "MiniLM coreference": ("#A14D00", None, None),
    "BERT coreference": ("#CCBB44", 1.0e8, 3.4e8),
    "SpanBERT coreference": ("#228833", 1.0e8, 3.4e8),
    "GPT-2": ("#EE7733", 1.2e8, 1.6e9),
    "GPT-J": ("#CC3311", None, None),
    "BLOOM": ("#AA3377", 5.5e8, 7.1e9),
    "LLaMA": ("#44AA99", None, None),
    "BART": ("#00A0C8", 1.3e8, 4.1e8),
    "T5": ("#661100", 6.0e7, 2.9e9),
    "UL2": ("#6699CC", None, None),
    "GPT-3": ("#999999", None, None),
    "GPT-3.5": ("#DDAA33", None, None),
    "GPT-4o": ("#AA4499", None, None),
    "Llama-3": ("#1E88E5", 1.2e9, 8.1e9),
    "Qwen3": ("#6A3FD0", 5.9e8, 8.2e9),
    "Gemma-3": ("#3F9B2F", 2.6e8, 1.0e9),
    "OLMo-2": ("#C837AB", 1.4e9, 1.4e10),
    "OLMo-3": ("#5B2A5B", None, None),
    "Mistral": ("#FF8C00", None, None),
    "Phi-4": ("#8E8A00", 3.8e9, 1.5e10),
    "SmolLM3": ("#1B1B1B", None, None),
    "Mamba": ("#CC1133", 1.2e8, 2.8e9),
    "Mamba-2": ("#FF5A3C", None, None),
    "Falcon-Mamba": ("#E3B505", None, None),
    "ModernBERT": ("#2F9AA0", 1.4e8, 4.0e8),
    "Own server": ("#777777", None, None),
}
_UNKNOWN_RANGE = (1e7, 1e11)
_LIGHTEST, _DARKEST = 72.0, 32.0
# CIE lightness that a debiased coreference system has more than the same system without.
_DEBIASED = {"none": 0.0, "a-CDA": 12.0, "n-CDA": -12.0}


def pronoun_colours(sets: Iterable[str]) -> dict:
    """Return a colour for each pronoun set.

    The four sets of :data:`PRONOUNS` keep theirs in every run; others take the next colours in the given order, and
    after the last colour of :data:`PALETTE` its darker versions.
    """
    sets = list(sets)
    order = [*PRONOUNS, *(s for s in sets if s not in PRONOUNS)]
    return {s: _cycled(order.index(s)) for s in sets}


def pronoun_markers(sets: Iterable[str]) -> dict[str, str]:
    """Return a marker for each pronoun set, as stable as the colours of :func:`pronoun_colours`."""
    sets = list(sets)
    order = [*PRONOUNS, *(s for s in sets if s not in PRONOUNS)]
    return {s: MARKERS[order.index(s) % len(MARKERS)] for s in sets}


def _cycled(index: int) -> str:
    turn, place = divmod(index, len(PALETTE))
    if turn == 0:
        return PALETTE[place]
    # Black has no darker version; it becomes ever lighter greys.
    if PALETTE[place] == "#000000":
        return to_hex((1 - 0.5**turn,) * 3)  # pyright: ignore[reportArgumentType]: three numbers
    return to_hex(np.array(to_rgb(PALETTE[place])) * 0.55**turn)  # pyright: ignore[reportArgumentType]: three numbers


def text_colour(colour: str) -> str:
    """Return black or white, whichever is read more easily on ``colour``."""
    return "white" if _luminance(_linear(colour)) < 0.18 else "black"


def model_style(facts: dict) -> dict:
    """Return the look of one model, which depends on nothing but the model's own facts.

    Hue stands for the family, lightness and marker for the size (larger is darker) where the family has several, the
    line for the architecture. A family that :data:`FAMILIES` does not know gets one of its hues by a checksum of its
    name. A debiased coreference system is lighter (a-CDA) or darker (n-CDA), with the next marker or the one after.

    Args:
        facts: ``family``, ``architecture`` and ``parameters`` (None if they are not published); ``debiasing`` of a
            system.

    Returns:
        Keyword arguments of a line: ``color``, ``marker``, ``linestyle``.
    """
    debiasing = facts.get("debiasing", "none")
    family, count = facts["family"], facts["parameters"]
    colour, fewest, most = _family(family)
    place = 0.5
    if fewest and count:
        place = float(np.clip(np.log(count / fewest) / np.log(most / fewest), 0, 1))
        colour = _with_lightness(colour, _LIGHTEST + place * (_DARKEST - _LIGHTEST))
    if debiasing != "none":
        colour = _with_lightness(colour, _lightness(colour) + _DEBIASED[debiasing])
    names = list(FAMILIES)
    offset = names.index(family) if family in FAMILIES else zlib.crc32(family.encode())
    offset += list(_DEBIASED).index(debiasing)
    marker = MARKERS[(offset + round(place * (len(MARKERS) - 1))) % len(MARKERS)]
    return {"color": colour, "marker": marker, "linestyle": LINES[facts["architecture"]]}


def in_order(labels: Sequence[str]) -> dict[str, dict]:
    """Return looks that few models of one figure have by their order, the first one black, whatever they are."""
    return {label: {"color": ORDERED[n % len(ORDERED)], "marker": MARKERS[n % len(MARKERS)]} for n, label in
            enumerate(dict.fromkeys(labels))}  # fmt: skip


def family_style(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the look of a model's whole family: the hue as it is, with shape and line of the architecture."""
    architecture = facts["architecture"]
    return {
        "color": _family(facts["family"])[0],
        "marker": SHAPES[architecture],
        "linestyle": LINES[architecture],
    }


def _family(name: str):
    if name in FAMILIES:
        return FAMILIES[name]
    hues = [hue for hue, _, _ in FAMILIES.values()]
    return (hues[zlib.crc32(name.encode()) % len(hues)], *_UNKNOWN_RANGE)


def _linear(colour: str) -> np.ndarray:
    """Return the linear-light components of an sRGB colour (IEC 61966-2-1)."""
    value = np.array(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _luminance(linear: np.ndarray) -> float:
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _lightness(colour: str) -> float:
    """Return the CIE lightness of a colour, which must be above 8."""
    return 116 * _luminance(_linear(colour)) ** (1 / 3) - 16


def _with_lightness(colour: str, lightness: float) -> str:
    """Mix a colour with white, or darken it, until it has a CIE lightness of ``lightness`` (above 8, up to 100)."""
    target = ((lightness + 16) / 116) ** 3
    linear = _linear(colour)
    luminance = _luminance(linear)
    linear = (
        linear * target / luminance
        if target < luminance
        else linear + (1 - linear) * (target - luminance) / (1 - luminance)
    )
    linear = np.clip(linear, 0, 1)
    return to_hex(np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055))  # pyright: ignore[reportArgumentType]: three numbers
