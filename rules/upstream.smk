# Needs a mirror, or the authors' repositories at pinned commits. Makes the authors' files, verified by digest.


rule fetch_upstream:
    output:
        file="results/upstream/{path}",
    log:
        "results/logs/fetch_upstream/{path}.log",
    wildcard_constraints:
        path=one_of(UPSTREAM),
    conda:
        "../envs/analysis.yaml"
    resources:
        runtime=growing(30),
    params:
        path=lambda wildcards: wildcards.path,
        manifest=repo_path("config/upstream.tsv"),
        _sha256=lambda wildcards: UPSTREAM[wildcards.path].sha256,
    script:
        "../scripts/upstream/fetch_upstream.py"
