"""pyarrow has no types, and makes most of its functions when it is imported: whatever it has is of any type."""

from typing import Any

def __getattr__(name: str) -> Any: ...
