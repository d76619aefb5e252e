"""Heads of GGUF files; that of the packaged model is read in test_descriptions.py."""

import pytest

from scripts.core.models import gguf_heads
from tests.refusals import refused

HEAD = b"GGUF\3" + bytes(11) + b"\1" + bytes(7)
"""Of a file without tensors and with one fact, which is to follow."""
BROKEN = {
    "empty": b"",
    "another kind": b"GGUX" + bytes(40),
    "cut off": HEAD,
    "of an unknown type": HEAD + bytes(8) + b"c" + bytes(40),
    "endless text": HEAD + b"\xff" * 8,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_file_without_a_head_is_refused(tmp_path, content):
    (tmp_path / "m.gguf").write_bytes(content)
    with refused("m.gguf", "install its package again"):
        gguf_heads.read_head(tmp_path / "m.gguf")
