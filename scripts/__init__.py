"""The project's code. Importing it makes sure that Python runs what the source says.

Python takes byte code for current if size and second of modification of its source are the same; an edit may keep both,
and files from a zip archive all carry 1980. The digests that are recorded would then be of other code than what ran. So
byte code of this package carries a hash of its source, and is used only with that source; this file alone is loaded as
Python does.
"""

import importlib.util
import marshal
import os
import sys
from importlib.machinery import FileFinder, SourceFileLoader
from types import CodeType


class _Loader(SourceFileLoader):
    """Loads a module from its source, or from byte code that begins with the source's hash and path."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        key = importlib.util.MAGIC_NUMBER + importlib.util.source_hash(path.encode() + b"\0" + source)
        stored = importlib.util.cache_from_source(path, optimization=f"hashed{sys.flags.optimize}")
        try:
            content = self.get_data(stored)
            if content.startswith(key):
                return marshal.loads(content[len(key) :])
        except (OSError, EOFError, ValueError, TypeError):
            pass
        code = self.source_to_code(source, path)
        if not sys.dont_write_bytecode:
            # Replaces the file at once, and passes over folders that cannot be written.
            self.set_data(stored, key + marshal.dumps(code))
        return code


def _finder(folder: str) -> FileFinder:
    """Return the finder of a folder of this package; Python asks it before its own."""
    if not f"{folder}{os.sep}".startswith(f"{__path__[0]}{os.sep}"):
        raise ImportError(folder)
    return FileFinder.path_hook((_Loader, [".py"]))(folder)  # pyright: ignore[reportReturnType]: it is one


sys.path_hooks.insert(0, _finder)
sys.path_importer_cache.pop(__path__[0], None)
