"""Archives are read within limits: bombs and members outside their folder are refused by every reader."""

import bz2
import gzip
import io
import lzma
import tarfile
import time
import tracemalloc
import zipfile

import pytest

from scripts.core.data import archives
from scripts.core.errors import UserError
from scripts.ruff import templates
from scripts.underspecification import releases
from tests.ruff import small_templates

MEMBER = "data/task.tsv"


@pytest.fixture(autouse=True)
def lower_limits(monkeypatch):
    """A bomb of a few megabytes is made faster than a real one."""
    monkeypatch.setattr(archives, "MEMBER_BYTES", 1 << 20)
    monkeypatch.setattr(archives, "ALL_BYTES", 4 << 20)
    monkeypatch.setattr(archives, "MEMBERS", 100)


def refusal(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    return str(caught.value)


def zipped(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def patched(path, old, new):
    """Change what the headers of a member say about it."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


def lying_zip(path):
    """A member of 8 MB whose headers say that it has 20 bytes."""
    size = 8_392_773
    zipped(path, [("data/context.tsv", b"x"), (MEMBER, bytes(size))])
    return patched(path, size.to_bytes(4, "little"), (20).to_bytes(4, "little"))


ZIPS = {
    "bomb": (
        lambda p: zipped(p, [("data/context.tsv", b"x"), (MEMBER, bytes(9 << 20))]),
        f"{MEMBER} has 9437184 bytes, more than 1048576",
    ),
    "lying": (lying_zip, "damaged or not a zip archive"),
    "twice": (
        lambda p: zipped(p, [("data/context.tsv", b"x"), (MEMBER, b"a"), (MEMBER, b"b")]), f"{MEMBER} occurs twice",
    ),
    "outside": (
        lambda p: zipped(p, [("../evil", b"x"), ("data/context.tsv", b"x"), (MEMBER, b"a")]),
        "the member '../evil' is outside the archive's folder",
    ),
    "absolute": (
        lambda p: zipped(p, [("/tmp/evil", b"x"), ("data/context.tsv", b"x"), (MEMBER, b"a")]),
        "the member '/tmp/evil' is outside the archive's folder",
    ),
    "windows": (
        lambda p: zipped(p, [("..\\evil", b"x"), ("data/context.tsv", b"x"), (MEMBER, b"a")]),
        "is outside the archive's folder",
    ),
    "many": (
        lambda p: zipped(p, [(f"{i}", b"") for i in range(101)], zipfile.ZIP_STORED),
        "has 101 members, more than 100",
    ),
    "other_compression": (
        lambda p: zipped(p, [("data/context.tsv", b"x"), (MEMBER, b"x")], zipfile.ZIP_LZMA),
        "damaged or not a zip archive that can be read here",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ZIPS)
def test_zip_archives_are_read_within_limits(tmp_path, name):
    make, expected = ZIPS[name]
    path = make(tmp_path / "data.zip")
    tracemalloc.start()
    message = refusal(templates.read_official, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(f"{path}: ") and expected in message and "fetch it again" in message
    assert peak < 3 << 20


def test_a_sound_zip_archive_is_read(tmp_path):
    path = tmp_path / "data.zip"
    path.write_bytes(small_templates.archive())
    assert len(archives.zip_members(path, [MEMBER])) == 1


def tarred(path, members, pack=lzma.compress):
    """Write a tar archive of (name, content or type and target)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as made:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                made.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                made.addfile(info)
    path.write_bytes(pack(buffer.getvalue()))
    return path


def with_pax(path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as made:
        info = tarfile.TarInfo("folder/a.csv")
        info.pax_headers = {"comment": "x" * (9 << 20)}
        made.addfile(info)
    path.write_bytes(lzma.compress(buffer.getvalue(), preset=0))
    return path


def huge_dictionary(path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    content = lzma.compress(bytes(1024), filters=filters)
    path.write_bytes(content)
    return path


TARS = {
    "bomb": (lambda p: tarred(p, [("folder/a.csv", bytes(9 << 20))]), "unpacks to more than 4194304 bytes"),
    "member": (
        lambda p: tarred(p, [("folder/a.csv", bytes(2 << 20))]),
        "folder/a.csv has 2097152 bytes, more than 1048576",
    ),
    "parent": (
        lambda p: tarred(p, [("../evil.csv", b"x")]), "the member '../evil.csv' is outside the archive's folder",
    ),
    "absolute": (lambda p: tarred(p, [("/tmp/evil.csv", b"x")]), "'/tmp/evil.csv' is outside the archive's folder"),
    "inner_parent": (lambda p: tarred(p, [("a/../../evil.csv", b"x")]), "is outside the archive's folder"),
    "symbolic_link": (
        lambda p: tarred(p, [("folder/a.csv", (tarfile.SYMTYPE, "/etc/passwd"))]),
        "the member 'folder/a.csv' is neither a file nor a folder",
    ),
    "hard_link": (
        lambda p: tarred(p, [("folder/a.csv", (tarfile.LNKTYPE, "/etc/passwd"))]), "is neither a file nor a folder",
    ),
    "device": (lambda p: tarred(p, [("folder/a.csv", (tarfile.CHRTYPE, ""))]), "is neither a file nor a folder"),
    "twice": (lambda p: tarred(p, [("folder/a.csv", b"x"), ("folder/a.csv", b"y")]), "folder/a.csv occurs twice"),
    "many": (lambda p: tarred(p, [(f"folder/{i}", b"") for i in range(101)]), "has more than 100 members"),
    "header_bomb": (with_pax, "unpacks to more than 4194304 bytes"),
    "huge_dictionary": (huge_dictionary, "needs more memory to unpack than any of the authors' archives"),
    "truncated": (
        lambda p: tarred(p, [("folder/a.csv", b"x" * 9999)], lambda c: lzma.compress(c)[:-40]), "damaged",
    ),
    "not_an_archive": (lambda p: p.write_bytes(b"x" * 999) and p, "damaged or not a .tar.xz or .tar.gz archive"),
    "bzip": (lambda p: tarred(p, [("folder/a.csv", b"x")], bz2.compress), "not a .tar.xz or .tar.gz archive"),
    "nothing": (lambda p: p.write_bytes(b"") or p, "not a .tar.xz or .tar.gz archive"),
    "trailing": (
        lambda p: tarred(p, [("folder/a.csv", b"x")], lambda c: lzma.compress(c) + b"more"), "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TARS)
def test_tar_archives_are_read_within_limits(tmp_path, name):
    make, expected = TARS[name]
    path = make(tmp_path / "raw.tar.xz")
    started = time.monotonic()
    message = refusal(lambda: releases.read(path, "preprint", "winogender"))
    assert message.startswith(f"{path}: ") and expected in message and "fetch it again" in message
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
def test_sound_tar_archives_are_read(tmp_path, pack):
    path = tarred(tmp_path / "a", [("folder", (tarfile.DIRTYPE, "")), ("folder/1_a.txt", b"Text.")], pack)
    assert list(archives.tar_members(path)) == [("folder/1_a.txt", b"Text.")]
