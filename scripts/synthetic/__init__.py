"""Scripts of rules/synthetic.smk: scores that are drawn, to measure what a run of many models costs."""
