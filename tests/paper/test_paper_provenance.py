"""What a paper of results that are not current says."""

from scripts.paper import paper_provenance


def test_a_paper_that_is_not_current_says_so_of_one_result_and_of_several():
    reason = {"kind": "input", "what": "input", "name": "a.csv", "old": "1", "new": "2"}
    bad = {f"results/{name}.pdf": {"verdict": "stale", "reasons": [reason]} for name in ("a", "b")}
    one = {"results/a.pdf": bad["results/a.pdf"]}
    assert paper_provenance.refusal_message(one).startswith(
        "1 result behind the paper is not current: results/a.pdf is stale"
    )
    assert paper_provenance.refusal_message(bad).startswith(
        "2 results behind the paper are not current: results/a.pdf is stale"
    )
    assert "Of the 9 files behind this paper 1 is not what" in paper_provenance.stale_mark(one, 9)
    assert "Of the 9 files behind this paper 2 are not what" in paper_provenance.stale_mark(bad, 9)
