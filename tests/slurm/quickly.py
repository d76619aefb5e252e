"""Snakemake that asks for the state of its jobs every few seconds at least.

The executor waits ten seconds longer after every answer without news, up to three minutes, which suits jobs of hours.
"""

import asyncio
import sys

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

LONGEST = 3

_sleep = RemoteExecutor.sleep


async def sleep(self):
    """Wait as the executor does, but no longer than ``LONGEST`` seconds."""
    try:
        await asyncio.wait_for(_sleep(self), LONGEST)
    except TimeoutError:
        return


RemoteExecutor.sleep = sleep

if __name__ == "__main__":
    main(sys.argv[1:])
