"""What the paper's main file says of models behind servers."""

from scripts.paper.paper_source import server_checks

GATE = {
    "checked": True, "texts": 52, "instances": 13, "largest_difference_nats": 0.01, "changed_decisions": 1,
    "repeated_calls_agree": True, "largest_repeat_difference_nats": 0.0, "bound_nats": 0.1,
}  # fmt: skip
MODELS = {"a": {"label": "A"}, "b": {"label": "B"}, "c": {"label": "C"}}


def test_all_sets_of_a_served_model_count():
    worse = {"largest_difference_nats": 0.05, "repeated_calls_agree": False, "largest_repeat_difference_nats": 1e-3}
    stated = [
        {"model": "a", "gate": GATE},
        {"model": "a", "gate": GATE | worse},
        {"model": "b", "gate": GATE},
        {"model": "b", "gate": {"checked": False}},
        {"model": "c"},
    ]
    first, second = server_checks(stated, MODELS)
    assert (first["texts"], first["instances"], first["changed_decisions"]) == (104, 26, 2)
    assert (first["largest_difference_nats"], first["repeated_calls_agree"]) == (0.05, False)
    assert second == {"label": "B", "checked": False}
