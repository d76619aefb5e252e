#!/usr/bin/env bash
# Installs the TeX packages that the paper needs, when they are missing and this user may install packages.
# Exit status 0: TeX is there. 1: it is not, and the message says what to install.
# Usage: envs/tex.sh [--help]
set -euo pipefail
if [[ "${1:-}" == --help ]]; then sed -n '2,4s/^# //p' "$0"; exit 0; fi

packages="latexmk texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended lmodern"
missing() {
    for program in latexmk pdflatex kpsewhich; do
        command -v "$program" >/dev/null || echo "$program"
    done
    for file in booktabs lmodern mathptmx microtype natbib adjustbox titlesec dblfloatfix; do
        kpsewhich "$file.sty" >/dev/null 2>&1 || echo "$file.sty"
    done
}
if [[ -z "$(missing)" ]]; then exit 0; fi

as_root=""
if [[ "$(id -u)" != 0 ]]; then as_root="sudo -n"; fi
if command -v apt-get >/dev/null && { [[ -z "$as_root" ]] || $as_root true 2>/dev/null; }; then
    echo "Installing TeX: $packages (a few minutes)"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # both are lists of words
    if $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
        if [[ -z "$(missing)" ]]; then exit 0; fi
    fi
fi
# shellcheck disable=SC2005,SC2046  # one line of what is missing
echo "Error: TeX is incomplete and could not be installed here; there is no $(echo $(missing)). On Debian and Ubuntu:" \
    "sudo apt-get install $packages; elsewhere see docs/running.md, What to install" >&2
exit 1
