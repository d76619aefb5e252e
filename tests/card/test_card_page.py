"""What a card says first."""

import pandas as pd

from scripts.card.card_page import chance_sentences


def test_a_model_at_chance_everywhere_is_said_to_be():
    columns = ["model", "value", "low", "high", "chance"]
    rows = [
        ("random", 24.0, 21.0, 27.0, 25.0),
        ("random", 1.0, -2.0, 4.0, 0.0),
        ("half", 24.0, 21.0, 27.0, 25.0),
        ("half", 60.0, 55.0, 65.0, 25.0),
        # Without a chance level or an interval nothing can be said.
        ("unknown", 24.0, 21.0, 27.0, None),
        ("unknown", 25.0, None, None, 25.0),
    ]
    called = {"random": "Dice", "half": "Half", "unknown": "Unknown"}
    assert chance_sentences(pd.DataFrame(rows, columns=columns), called) == [
        "Dice is at chance everywhere: the 95% interval of each of its 2 headline estimates includes the chance level."
    ]
