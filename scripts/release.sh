#!/usr/bin/env bash
# Packs one file to upload: the source as committed, the locks, the paper, the crate, and the digests of all of them.
# Usage: scripts/release.sh [RUN]    the folder of a run that has made its paper and its crate (default: this project)
set -euo pipefail
run=$(cd "${1:-$(dirname "$0")/..}" && pwd)
cd "$(dirname "$0")/.."
command -v sha256sum >/dev/null || sha256sum() { shasum -a 256 "$@"; }
fail() { echo "Error: $*" >&2; exit 1; }

version=$(sed -n 's/^version: //p' CITATION.cff)
grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md has no heading '## $version (DATE)'; add it"
[[ -z "$(git status --porcelain --untracked-files=no)" ]] || fail "files differ from the last commit; commit them"
results=(results/paper/main.pdf results/paper/manifest.sha256 results/crate/run.crate.zip)
for file in "${results[@]}"; do
    [[ -f "$run/$file" ]] || fail "$run/$file is missing; make it: snakemake --cores 2 crate"
done

name=pronoun-workflow-$version
rm -rf "release/$name"
mkdir -p "release/$name"
git archive --format=tar.gz --prefix="$name/" --output="release/$name/source.tar.gz" HEAD
cp requirements.lock models.lock CITATION.cff CHANGELOG.md LICENSE "${results[@]/#/$run/}" "release/$name"
(cd "release/$name" && sha256sum -- * > SHA256SUMS)
tar -czf "release/$name.tar.gz" -C release "$name"
echo "release/$name.tar.gz"
