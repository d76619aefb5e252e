"""Answers in logs of inspect and records of every_eval_ever: they become the model's, or are refused by sample."""

import json
import math
import zipfile
import zlib

import pandas as pd
import pyarrow as pa
import pytest

from scripts.core import files
from scripts.core.data import model_outputs, sample_logs
from scripts.core.errors import UserError
from scripts.prompting import import_answers

PROMPTS = pd.DataFrame(
    {
        "text_id": [f"t{n}" for n in range(5)], "method": ["vanilla"] * 3 + ["kojima", "vanilla"],
        "text": ["Who left, he or she?", "Who slept?", "Who ate?", "Think. Who ate?", "Who ate?"],
        "follow_up": [None] * 3 + ["{first} {chain} So?", None],
    }
)  # fmt: skip
ANSWERS = {"t0": "answer 0", "t1": "answer 1", "t2": "answer 2", "t4": "answer 2"}
ENTRY = {"label": "Theirs", "outputs": {}, "architecture": "decoder", "demonstration": False, "prompt_wrapping": "none"}


def log(**changed):
    """Return a log of inspect that answers the prompts of one step, in another order."""
    samples = [
        {
            "id": n,
            "epoch": 1,
            "messages": [{"role": "user", "content": text}, {"role": "assistant"}],
            "output": {
                "choices": [{"message": {"role": "assistant", "content": f"answer {n}"}, "stop_reason": "stop"}],
                "usage": {"output_tokens": 2},
            },
        }
        for n, text in reversed(list(enumerate(PROMPTS.text[:3])))
    ]
    return {"version": 2, "status": "success", "samples": samples} | changed


def record(n, **changed):
    return {
        "schema_version": "0.3.0", "evaluation_name": "e", "evaluation_result_id": "accuracy", "sample_id": str(n),
        "interaction_type": "single_turn", "input": {"raw": PROMPTS.text[n], "reference": ["x"]},
        "output": {"raw": [f"answer {n}"], "reasoning_trace": ["well"]}, "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True}, "token_usage": {"output_tokens": 2},
        "metadata": {"stop_reason": "max_tokens"},
    } | changed  # fmt: skip


@pytest.fixture
def bring(tmp_path):
    """Import a log (dict), records (list) or files; return the answers."""

    def bring(*logged, methods=("vanilla",)):
        paths = []
        for number, given in enumerate(logged):
            if isinstance(given, dict):
                paths.append(tmp_path / f"{number}.json")
                paths[-1].write_text(json.dumps(given))
            elif isinstance(given, list):
                paths.append(tmp_path / f"{number}.jsonl")
                paths[-1].write_text("".join(json.dumps(line) + "\n" for line in given))
            else:
                paths.append(given)
        files.write_parquet(tmp_path / "prompts.parquet", PROMPTS)
        answers = tmp_path / "answers.parquet"
        import_answers.main(
            prompts=str(tmp_path / "prompts.parquet"), logged=list(map(str, paths)), answers=str(answers),
            model="theirs", entry=ENTRY, methods=list(methods),
        )  # fmt: skip
        return model_outputs.read_answers(answers, "theirs", PROMPTS).set_index("text_id")

    return bring


def archive(path, given, zstandard=False, checksum=zlib.crc32):
    """Write a log as inspect's archive; with Zstandard, by entries whose method is set afterwards."""
    header = {key: value for key, value in given.items() if key != "samples"}
    parts = {"header.json": header} | {f"samples/{s['id']}_epoch_1.json": s for s in given["samples"]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, part in parts.items():
            data = json.dumps(part).encode()
            if zstandard:
                info = zipfile.ZipInfo(name)
                target.writestr(info, pa.Codec("zstd").compress(data, asbytes=True))
                info.compress_type, info.file_size = sample_logs.ZSTANDARD, len(data)
                info.CRC = checksum(data)
            else:
                target.writestr(name, data)
    return path


def test_answers_are_matched_by_their_prompts(bring, tmp_path):
    given = log()
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "attachment://a"}]
    given["samples"][0]["output"]["choices"][0] = {"message": {"content": parts}, "stop_reason": "max_tokens"}
    given["samples"][0]["attachments"] = {"a": "answer 2"}
    answers = bring(given)
    assert answers.answer.to_dict() == ANSWERS
    assert answers.answer_thought["t2"] == "hm" and answers.answer_finished.tolist() == [True, True, False, False]
    assert files.parquet_metadata(tmp_path / "answers.parquet")["source"] == {"outputs": "inspect"}
    for zstandard in (False, True):
        pd.testing.assert_frame_equal(bring(archive(tmp_path / "log.eval", given, zstandard)), answers)


def test_records_are_matched_by_their_prompts(bring):
    further = record(0, evaluation_result_id="stderr")
    answers = bring([record(2), record(0), further], [record(1)])
    assert answers.answer.to_dict() == ANSWERS
    assert answers.answer_thought["t0"] == "well" and not answers.answer_finished.any()
    with pytest.raises(UserError, match=r"0.jsonl:4: sample 0: its prompt is answered in .*0.jsonl:2: sample 0 too"):
        bring([record(2), record(0), record(1), record(0)])
    with pytest.raises(UserError, match=r"0.jsonl:1: sample 0: input.formatted lacks input.raw"):
        bring([record(0, input={"raw": PROMPTS.text[0], "formatted": "Who?", "reference": []})])
    with pytest.raises(UserError, match=r"0.jsonl:2: sample 0: its prompt is answered in"):
        bring([record(0), further | {"output": {"raw": ["another answer"]}}])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda s: s[1]["messages"][0].update(content="Who left?"),
            "sample 1, epoch 1: its prompt, 'Who left.', is not",
        ),
        (
            lambda s: s[1]["messages"].insert(0, {"role": "system"}),
            "sample 1, epoch 1: its model read more than one me",
        ),
        (lambda s: s[1].update(error={"message": "timeout"}), r"sample 1, epoch 1 ended with an error \(timeout\)"),
        (lambda s: s[1]["output"]["choices"].clear(), "sample 1, epoch 1: .* another number of answers than one"),
        (lambda s: s.append(s[1] | {"epoch": 2}), "sample 1, epoch 2: its prompt is answered in .*epoch 1 too"),
        (lambda s: s.pop(), r"lack an answer to the prompt t0 \(1 of 4 lack one\)"),
        (lambda s: s[1]["output"]["usage"].update(output_tokens=math.nan), r"sample 1, epoch 1: .* \(ValueError"),
        (lambda s: s[1].pop("output"), r"sample 1, epoch 1: not a sample that can be read \(KeyError"),
    ],
)
def test_samples_that_differ_are_refused(change, problem, bring):
    given = log()
    change(given["samples"])
    with pytest.raises(UserError, match=problem):
        bring(given)


def test_other_logs_are_refused(bring, tmp_path):
    for changed, problem in (
        ({"status": "error"}, "0.json: the status of the log is error; run it again"),
        ({"invalidated": True}, "0.json: the status of the log is invalidated"),
        ({"version": 1}, "0.json: version 1 of the format is unknown"),
        ({"status": None, "samples": 1}, "0.json: the status of the log is None"),
        ({"samples": 1}, r"0.json: not a log of inspect that can be read \(TypeError"),
        ({"samples": ["a"]}, r"0.json: not a log of inspect that can be read \(AttributeError"),
    ):
        with pytest.raises(UserError, match=problem):
            bring(log(**changed))
    (tmp_path / "log.eval").write_text("no archive")
    with pytest.raises(UserError, match=r"log.eval: not a log of inspect that can be read \(BadZipFile"):
        bring(tmp_path / "log.eval")
    with pytest.raises(UserError, match=r"log.eval: not a log of inspect .* Bad CRC-32 for file 'header.json'"):
        bring(archive(tmp_path / "log.eval", log(), zstandard=True, checksum=lambda data: 1))
    with pytest.raises(UserError, match="no log of inspect and no record"):
        bring([{"doc": {}}])
    with pytest.raises(UserError, match="answers in two steps cannot be imported"):
        bring(log(), methods=("vanilla", "kojima"))
    with pytest.raises(UserError, match="hold answers and no scores"):
        next(sample_logs.read_scores([str(tmp_path / "0.json")], []))
