#!/usr/bin/env bash
# Renews lock files from the .in files beside them, with Python 3.11; packages keep their versions where those still fit.
# Usage: envs/lock.sh [--help] [--upgrade] [LOCK ...]
#   --upgrade  take the newest versions that the .in files allow
#   LOCK       requirements.lock, envs/docs.lock, ...; without one, all that pip-compile makes
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ "${1:-}" == --help ]]; then sed -n '2,5s/^# //p' "$0"; exit 0; fi

upgrade=()
if [[ "${1:-}" == --upgrade ]]; then upgrade=(--upgrade); shift; fi
locks=("$@")
if ((${#locks[@]} == 0)); then locks=(requirements.lock envs/coreference.lock envs/docs.lock envs/types.lock); fi
for lock in "${locks[@]}"; do
    if [[ ! -f "${lock%.lock}.in" ]]; then
        echo "Error: $lock: there is no ${lock%.lock}.in to make it from" >&2; exit 1
    fi
done

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"${PYTHON:-python3}" -m venv "$made/venv"
"$made/venv/bin/pip" install --quiet --disable-pip-version-check pip-tools==7.6.2
for lock in "${locks[@]}"; do
    options=()
    # Not every environment has torch, and setuptools is a package only where something asks for it.
    if grep -q '^torch==' "${lock%.lock}.in"; then options+=(--unsafe-package torch); fi
    # The stubs of pandas ask for numpy, which is in the main environment.
    if [[ "$lock" == envs/types.lock ]]; then options+=(--unsafe-package numpy)
    elif [[ "$lock" != requirements.lock ]]; then options+=(--allow-unsafe); fi
    cp "$lock" "$made/new.lock"
    "$made/venv/bin/pip-compile" --quiet --generate-hashes --strip-extras --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host "${options[@]}" "${upgrade[@]}" \
        --output-file "$made/new.lock" "${lock%.lock}.in" 2>"$made/said" || { cat "$made/said" >&2; exit 1; }
    # torch's build depends on the machine: its entry, and a heading that is left without one, go.
    "$made/venv/bin/python" - "$made/new.lock" "$lock" <<'PYTHON'
import re
import sys
from pathlib import Path

made, lock = map(Path, sys.argv[1:])
text = re.sub(r"^torch==.*\\\n(?:    .*\\\n)*    .*\n", "", made.read_text(encoding="utf-8"), flags=re.MULTILINE)
text = re.sub(r"\n# The following packages are considered to be unsafe[^\n]*\s*\Z", "", text)
text = re.sub(r"\n# WARNING: The following packages were not pinned(.*\n)*\Z", "", text).rstrip() + "\n"
lock.write_text(text, encoding="utf-8")
PYTHON
    git --no-pager diff --stat -- "$lock"
done
