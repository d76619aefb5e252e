"""Samples that other evaluation tools logged: a reader per format, and checks that the formats share.

* lm-evaluation-harness, ``samples_*.jsonl`` of ``--log_samples``: scores of options.
* every_eval_ever, instance-level records (JSON lines, schema 0.3.0): scores of options, which are metadata that this
  project adds to the records it exports; or answers to prompts.
* inspect, logs (``.json`` or ``.eval``, version 2): answers to prompts.

docs/export.md lists the fields. Samples are matched by what the model read, never by their order.
"""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scripts.core.data.options import SLOT, fill
from scripts.core.errors import UserError

HARNESS, RECORDS, INSPECT = "lm-evaluation-harness", "every_eval_ever", "inspect"
WITHHELD = "withheld; sha256 "
"""What a record says instead of a text that is not exported, before its digest."""
LOG_PROBABILITIES, CONTINUATIONS, TOKENS = "log_probabilities", "continuation_log_probabilities", "scored_tokens"
"""Metadata of a record: lists (JSON) with a number per option, in the order of the options."""
ZSTANDARD = 93
"""A method of compression in ZIP files that the standard library of Python 3.11 does not know."""
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
"""What reading a sample of another form raises."""
RERUN = "run it again with inspect eval-retry and name the new log"


class LoggedScores(NamedTuple):
    """The scores of an instance: for each option context, continuation and the log-likelihood of the continuation."""

    where: str
    instance_id: str
    options: list[tuple[str, str, float]]
    tokens: list[int] | None = None


class LoggedAnswer(NamedTuple):
    """An answer to a prompt; ``result`` tells apart records that hold the same answer for several metrics."""

    where: str
    prompt: str
    answer: str
    thought: str | None
    tokens: int | None
    finished: bool | None
    result: str | None = None


def common_format(paths: Iterable[str]) -> str:
    """Return the format of some files.

    Raises:
        UserError: If they have different formats, or one cannot be read.
    """
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(_format(path), path)
    if len(found) > 1:
        (one, path), (other, further) = list(found.items())[:2]
        raise UserError(f"{path} is from {one}, {further} from {other}; name files of one tool per set")
    return next(iter(found))


def _format(path: str) -> str:
    if path.endswith((".json", ".eval")):
        return INSPECT
    with Path(path).open(encoding="utf-8", errors="replace") as stream:
        return RECORDS if '"schema_version"' in stream.readline() else HARNESS


def scored_after(paths: Iterable[str]) -> str | None:
    """Return the token that the model read before every text by the first record of each file, None if there is none.

    Raises:
        UserError: If files differ in it.
    """
    found: dict[str | None, str] = {}
    for path in paths:
        read = _parsed([path], lambda _, record: record.get("metadata", {}).get("scored_after"))
        found.setdefault(next(read, None), path)
    if len(found) > 1:
        (one, path), (other, further) = list(found.items())[:2]
        raise UserError(
            f"{path} has scored_after {one}, {further} has {other}; name the records of one model and one run"
        )
    return next(iter(found))


def read_scores(paths: list[str], masked: Iterable[str]) -> Iterator[LoggedScores]:
    """Yield the scores in files of one format.

    Args:
        paths: JSONL files of lm-evaluation-harness or every_eval_ever.
        masked: The run's texts with their slots, some of which records may withhold.

    Raises:
        UserError: Naming file and line, if a line is not such a sample.
    """
    kind = common_format(paths)
    if kind == INSPECT:
        raise UserError(f"{paths[0]}: logs of inspect hold answers and no scores; name them in outputs.answers instead")
    if kind == HARNESS:
        yield from _parsed(paths, _harness_scores)
        return
    withheld = {WITHHELD + hashlib.sha256(text.encode()).hexdigest(): text for text in masked}
    for found in _parsed(paths, lambda where, record: list(_record_scores(where, record, withheld))):
        yield from found


def read_answers(paths: list[str]) -> Iterator[LoggedAnswer]:
    """Yield the answers in files of one format, as :func:`read_scores`; of inspect's logs samples are named."""
    kind = common_format(paths)
    if kind == HARNESS:
        raise UserError(f"{paths[0]}: no log of inspect and no record of every_eval_ever; name such files")
    if kind == RECORDS:
        yield from _parsed(paths, _record_answer)
        return
    for path in paths:
        for where, sample in _inspect_samples(path):
            yield _guarded(where, lambda sample=sample, where=where: _inspect_answer(where, sample))


def collect_answers(paths: list[str], prompts: dict[str, str]) -> dict[str, LoggedAnswer]:
    """Return the answer to each prompt; prompts with the same text have the same answer.

    Args:
        paths: As for :func:`read_answers`.
        prompts: Id of each prompt to its text.

    Returns:
        Id to answer, in the order of ``prompts``.

    Raises:
        UserError: As :func:`read_answers`; if a prompt is not the run's, is answered twice or not at all.
    """
    texts = set(prompts.values())
    found: dict[str, LoggedAnswer] = {}
    for logged in read_answers(paths):
        if logged.prompt not in texts:
            raise UserError(
                f"{logged.where}: its prompt, {logged.prompt[:60]!r}, is not among those of the run; ask the prompts "
                "of results/STUDY/prompts/ as they are, and of this run alone"
            )
        first = found.setdefault(logged.prompt, logged)
        repeated = first is not logged and (first.result == logged.result or first[2:-1] != logged[2:-1])
        if repeated:
            raise UserError(
                f"{logged.where}: its prompt is answered in {first.where} too; ask each text once, in one epoch"
            )
    missing = [name for name, text in prompts.items() if text not in found]
    if missing:
        raise UserError(
            f"{paths[0]} and the model's other files lack an answer to the prompt {missing[0]} ({len(missing)} of "
            f"{len(prompts)} lack one); name all files of the set, or ask the missing prompts"
        )
    return {name: found[text] for name, text in prompts.items()}


def _guarded(where: str, read: Callable[[], Any]) -> Any:
    """Return what ``read`` returns; what it stumbles over is refused by its place."""
    try:
        return read()
    except UNREADABLE as error:
        raise UserError(
            f"{where}: not a sample that can be read ({type(error).__name__}: {error}); docs/export.md lists the fields"
        ) from error


def _parsed(paths: Iterable[str], read: Callable[[str, dict], Any]) -> Iterator[Any]:
    for path in paths:
        with Path(path).open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                where = f"{path}:{number}"
                yield _guarded(where, lambda line=line, where=where: read(where, json.loads(line)))


def _harness_scores(where: str, sample: dict[str, Any]) -> LoggedScores:
    given = sample["arguments"]
    pairs = [given[f"gen_args_{n}"] for n in range(len(given))]
    scores = [float(answer[0]) for answer in sample["filtered_resps"]]
    options = [(pair["arg_0"], pair["arg_1"], score) for pair, score in zip(pairs, scores, strict=True)]
    return LoggedScores(where, sample["doc"]["instance_id"], options)


def _checked(where: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record's metadata, if it is of one turn and without an error."""
    if record.get("error"):
        raise UserError(f"{where}: sample {record['sample_id']} ended with an error; evaluate it again")
    if record["interaction_type"] != "single_turn":
        raise UserError(f"{where}: sample {record['sample_id']} is of several turns; evaluate it with one prompt")
    return record.get("metadata") or {}


def _record_scores(where: str, record: dict[str, Any], withheld: dict[str, Any]) -> Iterator[LoggedScores]:
    stated, raw, choices = _checked(where, record), record["input"]["raw"], record["input"]["choices"]
    if LOG_PROBABILITIES not in stated:
        raise UserError(
            f"{where}: sample {record['sample_id']} has no metadata {LOG_PROBABILITIES}; export the records again, or "
            "name answers in outputs.answers"
        )
    masked = withheld.get(raw, raw)
    texts = [fill(masked, choice) if masked.count(SLOT) == 1 else masked for choice in choices]
    lists = {key: json.loads(stated[key]) for key in (LOG_PROBABILITIES, CONTINUATIONS, TOKENS) if key in stated}
    for key, listed in lists.items():
        if len(listed) != len(choices):
            raise UserError(
                f"{where}: sample {record['sample_id']}: the metadata {key} and the choices differ in length, "
                f"{len(listed)} and {len(choices)}; export the records again"
            )
    rest = len(masked.partition(SLOT)[2])
    for key, cuts in ((LOG_PROBABILITIES, [0] * len(texts)), (CONTINUATIONS, [len(text) - rest for text in texts])):
        if key in lists:
            parts = zip(texts, cuts, lists[key], strict=True)
            options = [(text[:cut], text[cut:], float(score)) for text, cut, score in parts]
            yield LoggedScores(where, record["sample_id"], options, lists.get(TOKENS))


def _record_answer(where: str, record: dict[str, Any]) -> LoggedAnswer:
    stated, given, output = _checked(where, record), record["input"], record["output"]
    if given["raw"] not in (given.get("formatted") or given["raw"]):
        raise UserError(f"{where}: sample {record['sample_id']}: input.formatted lacks input.raw; name other records")
    (answer,) = output["raw"]
    reason = stated.get("stop_reason")
    return LoggedAnswer(
        f"{where}: sample {record['sample_id']}", given["raw"], answer,
        "\n".join(output.get("reasoning_trace") or ()) or None, _count_tokens(record.get("token_usage")),
        reason == "stop" if reason else None, record.get("evaluation_result_id") or record["evaluation_name"],
    )  # fmt: skip


def _inspect_samples(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and content of each sample of a log of inspect; refuse a log that is not of a finished evaluation."""

    def check(log: dict[str, Any]) -> None:
        if log["status"] != "success" or log.get("invalidated"):
            status = "invalidated" if log["status"] == "success" else log["status"]
            raise UserError(f"{path}: the status of the log is {status}; {RERUN}")
        if log["version"] != 2:
            raise UserError(f"{path}: version {log['version']} of the format is unknown; evaluate with a newer inspect")

    def parts() -> Iterator[dict[str, Any]]:
        if path.endswith(".json"):
            log = json.loads(Path(path).read_text(encoding="utf-8"))
            check(log)
            yield from log.get("samples") or ()
            return
        with zipfile.ZipFile(path) as archive:
            if "header.json" not in archive.namelist():
                raise UserError(f"{path}: the log has no header, so its evaluation did not finish; {RERUN}")
            check(json.loads(_member(archive, "header.json")))
            for name in archive.namelist():
                if name.startswith("samples/"):
                    yield json.loads(_member(archive, name))

    try:
        for sample in parts():
            yield f"{path}: sample {sample.get('id')}, epoch {sample.get('epoch')}", sample
    except (*UNREADABLE, OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise UserError(
            f"{path}: not a log of inspect that can be read ({type(error).__name__}: {error}); convert it with inspect "
            "log convert --to json"
        ) from error


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a file in a ZIP archive, also where Zstandard compressed it."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    import pyarrow as pa

    # A local header of 30 bytes, of which the last four are the lengths of the name and of an extra field.
    archive.fp.seek(info.header_offset + 26)  # pyright: ignore[reportOptionalMemberAccess]: it is open
    archive.fp.seek(sum(struct.unpack("<HH", archive.fp.read(4))), 1)  # pyright: ignore[reportOptionalMemberAccess]: it is open
    packed = pa.BufferReader(archive.fp.read(info.compress_size))  # pyright: ignore[reportOptionalMemberAccess]: it is open
    data = pa.CompressedInputStream(packed, "zstd").read()
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {name!r}")
    return data


def _inspect_answer(where: str, sample: dict[str, Any]) -> LoggedAnswer:
    if sample.get("error"):
        raise UserError(f"{where} ended with an error ({sample['error']['message'][:60]}); {RERUN}")
    messages, output = sample["messages"], sample["output"]
    if [message["role"] for message in messages] != ["user", "assistant"] or len(output["choices"]) != 1:
        raise UserError(
            f"{where}: its model read more than one message, or gave another number of answers than one; use the "
            "solver generate without a system message, with num_choices 1"
        )
    (prompt, _), (answer, thought) = (
        _contents(message, sample.get("attachments") or {})
        for message in (messages[0], output["choices"][0]["message"])
    )
    finished = output["choices"][0]["stop_reason"] == "stop"
    return LoggedAnswer(where, prompt, answer, thought, _count_tokens(output.get("usage")), finished)


def _count_tokens(usage: dict[str, Any] | None) -> int | None:
    tokens = (usage or {}).get("output_tokens")
    return None if tokens is None else int(tokens)


def _contents(message: dict[str, Any], attachments: dict[str, str]) -> tuple[str, str | None]:
    """Return text and reasoning of a message, None without reasoning."""
    parts = message["content"]
    parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
    found = {
        kind: [
            attachments.get(part[kind].removeprefix("attachment://"), part[kind])
            for part in parts
            if part["type"] == kind
        ]
        for kind in ("text", "reasoning")
    }
    if len(found["text"]) + len(found["reasoning"]) != len(parts):
        raise ValueError("a message has other contents than text and reasoning")
    return "".join(found["text"]), "\n".join(found["reasoning"]) or None
