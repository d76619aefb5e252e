"""A module of this project that runs with the Python of another environment; what is said is JSON, a line each."""

import collections
import json
import logging
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.errors import UserError

log = logging.getLogger("pronouns")

ROOT = Path(__file__).resolve().parents[4]
REMAKE = (
    "make the environment of the coreference systems again: snakemake --cores 1 -R coreference_environment "
    "results/environments/coreference.json"
)


def read_interpreter(environment: str | Path) -> str:
    """Return the interpreter of an environment, from what says where it is (JSON with the key ``python``).

    Raises:
        UserError: If the file is none of this kind.
    """
    text = files.read_text(environment, REMAKE)
    try:
        return json.loads(text)["python"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{environment}: names no interpreter; {REMAKE}") from error


class Process:
    """A module that is running.

    Args:
        what: Of messages: what runs there.
        python: The interpreter of the environment.
        module: The module's name.
        arguments: Of its command line.
        threads: For its arithmetic.

    Raises:
        UserError: If the interpreter is not there.
    """

    def __init__(self, what: str, python: str, module: str, arguments: Iterable[str] = (), threads: int = 1):
        self.what = what
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            # Checkpoints are folders here; nothing is asked of a hub.
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
            "OMP_NUM_THREADS": str(threads),
        }
        environment.pop("PYTHONHOME", None)
        try:
            self.process = subprocess.Popen(
                [python, "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                encoding="utf-8",
            )
        except OSError as error:
            raise UserError(f"{what}: {python} cannot be started ({error.strerror}); {REMAKE}") from error
        self._said = collections.deque(maxlen=50)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None, "it is a pipe"
        for line in self.process.stderr:
            self._said.append(line.rstrip())
            log.info("%s: %s", self.what, line.rstrip())

    def send(self, lines: Iterable[Any]) -> None:
        """Write lines while answers are read, so that neither process waits for the other."""
        threading.Thread(target=self._write, args=(lines,), daemon=True).start()

    def _write(self, lines: Iterable[Any]) -> None:
        assert self.process.stdin is not None, "it is a pipe"
        try:
            for line in lines:
                self.process.stdin.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            # Why it ended is in what it wrote before.
            pass

    def answers(self) -> Iterator[Any]:
        """Yield what the process writes until it ends.

        Raises:
            UserError: If it reports an ``error`` or fails; with the last line of what it said.
        """
        assert self.process.stdout is not None, "it is a pipe"
        # Half a line is what a process that was killed leaves.
        while (line := self.process.stdout.readline()).endswith("\n"):
            answer = json.loads(line)
            if isinstance(answer, dict) and "error" in answer:
                raise UserError(answer["error"])
            yield answer
        if self.process.wait():
            raise self.exit_error()

    def receive(self) -> Any:
        """Return the next answer; raises as :meth:`answers`, and if there is none."""
        for answer in self.answers():
            return answer
        raise self.exit_error()

    def exit_error(self) -> UserError:
        """Return what to raise where a process has ended too early, with the last line that it said."""
        status = self.process.wait()
        self._listener.join(timeout=10)
        said = next((text[:200] for text in reversed(self._said) if text.strip()), "it said nothing")
        return UserError(f"{self.what} ended with status {status} ({said}); if a package is missing, {REMAKE}")
