"""Two runs compared: where they differ, how sure that is, and why."""
