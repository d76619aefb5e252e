"""Scripts of rules/export.smk: results in the schema of every_eval_ever."""
