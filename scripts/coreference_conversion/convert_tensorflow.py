"""Write the variables of a published TensorFlow checkpoint to a safetensors file, under their names.

Where this Python has no TensorFlow, an environment with it is made from the lock (about 1.6 GB); nothing else uses it.
"""

from scripts.core.coreference_systems.c2f import tensorflow_environment
from scripts.core.errors import UserError
from scripts.core.workflow.job import run


def main(*, index: str, values: str, variables: str, lock: str, environment: str):
    """Write ``variables``; what optimisers keep for training is left out.

    Args:
        index: The checkpoint's file that ends in .index
        values: The file beside it that ends in .data-00000-of-00001
        variables: The safetensors file to write
        lock: Names, versions and hashes of the packages that read it
        environment: Folder of the virtual environment to make, if this Python has no TensorFlow
    """
    checkpoint = index.removesuffix(".index")
    if checkpoint == index or not values.startswith(f"{checkpoint}.data-"):
        raise UserError(f"{index}, {values}: are no index and values of one checkpoint; name X.index and X.data-...")
    tensorflow_environment.dump(checkpoint, variables, lock, environment)


if __name__ == "__main__":
    run(main)
