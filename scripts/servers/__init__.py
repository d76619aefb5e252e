"""Scripts of rules/servers.smk: scores of models behind servers, and the check of the servers."""
