#!/usr/bin/env bash
# Installs Chromium, where tests open the HTML report and the explorer, when it is missing and this user may.
# Exit status 0: it is there. 1: it is not, and those tests are skipped.
# Usage: envs/chromium.sh [--help]
set -euo pipefail
if [[ "${1:-}" == --help ]]; then sed -n '2,4s/^# //p' "$0"; exit 0; fi

if command -v chromium >/dev/null; then exit 0; fi
as_root=""
if [[ "$(id -u)" != 0 ]]; then as_root="sudo -n"; fi
if command -v apt-get >/dev/null && { [[ -z "$as_root" ]] || $as_root true 2>/dev/null; }; then
    echo "Installing Chromium for the tests of the HTML report"
    export DEBIAN_FRONTEND=noninteractive
    if $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null; then
        exit 0
    fi
fi
echo "Chromium is missing and could not be installed here: tests that open the HTML report are skipped" >&2
exit 1
