"""Python never runs byte code of another source."""

import os
import subprocess
import sys

import pytest

from scripts.core.workflow.bytecode import CHECKED, compile_checked


@pytest.mark.attack(
    "an edited module keeps the byte code of the old one (same size, same time)", "the source is compiled again"
)
@pytest.mark.parametrize("compiled", ["before the edit", "after the edit"])
def test_byte_code_of_an_edited_source_is_not_used(tmp_path, compiled):
    """An edit may keep size and second of modification, by which Python tells whether its byte code is stale."""
    module = tmp_path / "package/value.py"
    module.parent.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def write(text):
        module.write_text(text)
        os.utime(module, (315532800, 315532800))

    def value():
        program = "from package.value import VALUE; print(VALUE)"
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    write("VALUE = 1\n")
    if compiled == "before the edit":
        compile_checked(module.parent)
    assert value() == "1"
    write("VALUE = 2\n")
    if compiled == "after the edit":
        # This is what is mended.
        assert value() == "1"
        compile_checked(module.parent)
    assert value() == "2"
    write("VALUE = 3\n")
    assert value() == "3"


def test_what_is_compiled_already_is_left_and_broken_modules_and_folders_are_passed_over(tmp_path):
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("x = (\n")
    compile_checked(tmp_path)
    (made,) = (tmp_path / "__pycache__").iterdir()
    assert made.name.startswith("good.") and made.read_bytes().startswith(CHECKED)
    before = made.stat().st_ino
    compile_checked(tmp_path)
    assert made.stat().st_ino == before
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed/other.py").write_text("x = 1\n")
    (tmp_path / "closed/__pycache__").write_text("a file in its place")
    compile_checked(tmp_path)
