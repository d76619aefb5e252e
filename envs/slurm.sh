#!/usr/bin/env bash
# Installs the Slurm packages that tests/slurm needs, when they are missing and this user may install packages; starts
# no service. Users of a cluster do not need it.
# Exit status 0: Slurm is there. 1: it is not, and the message says what to install.
# Usage: envs/slurm.sh [--help]
set -euo pipefail
if [[ "${1:-}" == --help ]]; then sed -n '2,5s/^# //p' "$0"; exit 0; fi

packages="slurmctld slurmd slurm-client slurmdbd munge mariadb-server-core mariadb-client-core"
PATH=$PATH:/usr/sbin
complete() {
    for program in slurmctld slurmd slurmdbd sbatch munged mariadbd mariadb-install-db mariadb; do
        command -v "$program" >/dev/null || return 1
    done
}
if complete; then exit 0; fi

as_root=""
if [[ "$(id -u)" != 0 ]]; then as_root="sudo -n"; fi
if command -v apt-get >/dev/null && { [[ -z "$as_root" ]] || $as_root true 2>/dev/null; }; then
    echo "Installing Slurm for its tests: $packages (a minute)"
    export DEBIAN_FRONTEND=noninteractive
    # Debian starts what it installs; this file forbids it for the time being, where nothing does so already.
    forbid=/usr/sbin/policy-rc.d
    if [[ ! -e $forbid ]]; then
        printf '#!/bin/sh\nexit 101\n' | $as_root tee $forbid >/dev/null
        $as_root chmod 755 $forbid
        trap '$as_root rm -f $forbid' EXIT
    fi
    # shellcheck disable=SC2086  # both are lists of words
    if $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
        if complete; then exit 0; fi
    fi
fi
echo "Slurm is missing and could not be installed here: its tests are skipped. Install it: sudo apt-get install $packages" >&2
exit 1
