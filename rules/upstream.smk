# The authors' files: from a mirror or from their repositories at pinned commits, verified by digest.


def upstream(path):
    """Return where the workflow keeps an upstream file of config/upstream.tsv."""
    return f"results/upstream/{path}"


rule fetch_upstream:
    input:
        manifest=root("config/upstream.tsv"),
    output:
        file="results/upstream/{path}",
    log:
        "results/logs/fetch_upstream/{path}.log",
    threads: 1
    resources:
        runtime=30,
    params:
        path=lambda wildcards: wildcards.path,
        mirror=MIRROR,
        _code=code("scripts/fetch_upstream.py"),
    script:
        script("scripts/fetch_upstream.py")
