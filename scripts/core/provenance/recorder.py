"""Writes the record of a job (:mod:`scripts.core.provenance.job_records`)."""

import datetime
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.core import files
from scripts.core.data.portable import make_portable
from scripts.core.provenance import closure, environment, job_records


class Recorder:
    """Records one job: made before it runs, which removes its old record; :meth:`finish` writes the new one.

    Args:
        inputs, outputs: Paths as the job got them.
        params: With ``_code``, the digests of script and modules.
        root: The repository.
        call: ``script``, its ``function``, and ``paths``: inputs and outputs by the names of the function's arguments.
    """

    def __init__(
        self, rule: str, wildcards: dict, inputs: Sequence[str], outputs: Sequence[str], params: dict, root: str | Path,
        call: dict[str, Any],
    ):  # fmt: skip
        self.root = Path(root)
        self.outputs = [str(path) for path in outputs]
        self.path = job_records.record_path(rule, wildcards, make_portable(self.outputs, root)) if outputs else None
        if self.path is None:
            return
        Path(self.path).unlink(missing_ok=True)
        # Before the job reads them: a file that changes meanwhile must not pass for what was read.
        digests = {str(path): job_records.digest_path(path, job_records.CACHE) for path in inputs}
        self.inputs = list(digests)
        self.record = {
            "format": job_records.FORMAT,
            "rule": rule,
            "wildcards": make_portable(dict(wildcards), root),
            "call": make_portable(call, root),
            "params": make_portable(job_records.recorded_params(params), root),
            "inputs": make_portable(digests, root),
            "package_files": environment.package_files(
                environment.package_inputs(make_portable(params, root)), job_records.CACHE
            ),
            "lock": environment.digest_locks(root),
            "started": utc_now(),
        }

    def finish(self) -> None:
        """Write the record; without outputs, or with one of them missing, there is none."""
        if self.path is None or not all(Path(path).exists() for path in self.outputs):
            return
        modules = list(sys.modules)
        sources = self.record["params"].get("_code", {})
        named = {name for path in sources for name in closure.top_level_imports(path, self.root)}
        providers = environment.find_providers(job_records.CACHE)
        record = self.record | {
            # A clock that was set back makes no record that contradicts itself.
            "ended": max(utc_now(), self.record["started"]),
            "outputs": make_portable(
                {path: job_records.digest_path(path, job_records.CACHE) for path in self.outputs}, self.root
            ),
            "models": make_portable(job_records.model_facts([*self.inputs, *self.outputs]), self.root),
            "packages": environment.reachable_packages(modules, named, providers),
            "git": environment.git_state(self.root),
            "machine": machine(),
        }
        files.write_json(self.path, record | {"checksum": job_records.checksum(record)})


def machine() -> dict[str, Any]:
    """Return system, Python, processor and, if the job used torch, the GPUs it could see; nothing names the machine."""
    torch = sys.modules.get("torch")
    gpus = []
    if torch is not None and torch.cuda.is_available():
        gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {
        "system": " ".join(filter(None, [platform.system(), platform.machine(), *platform.libc_ver()])),
        "python": platform.python_version(),
        "cpu": _processor(),
        "gpus": gpus,
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    match = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return match[1] if match else platform.machine()


def utc_now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
