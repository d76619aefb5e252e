"""Write the variables of a TensorFlow checkpoint to a safetensors file, under their names.

    python -m scripts.core.coreference_systems.c2f.tensorflow_reader CHECKPOINT VARIABLES

Runs where TensorFlow is (envs/tensorflow.in). What optimisers keep for training is left out: their moments of a
variable that is there, their powers and the number of the step.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError

# AdamWeightDecayOptimizer of BERT; AdamOptimizer of TensorFlow.
MOMENTS = ("adam_m", "adam_v", "Adam", "Adam_1")
COUNTS = {"global_step", "beta1_power", "beta2_power"}


def weights(names: Iterable[str]) -> list[str]:
    """Return the names of a checkpoint's variables without those of optimisers, sorted."""
    names = set(names)

    def is_moment(name: str) -> bool:
        variable, _, last = name.rpartition("/")
        return last in MOMENTS and variable in names

    return sorted(name for name in names - COUNTS if not is_moment(name))


def dump(checkpoint: str, path: str | Path) -> int:
    """Write the variables of a checkpoint as a safetensors file, atomically.

    Args:
        checkpoint: What its files' names begin with, ``.../model.max.ckpt``.

    Returns:
        The number of variables.

    Raises:
        UserError: If there is no such checkpoint, or it is damaged.
    """
    import tensorflow  # pyright: ignore[reportMissingModuleSource]
    from safetensors.numpy import save_file

    try:
        reader = tensorflow.train.load_checkpoint(checkpoint)
        tensors = {name: reader.get_tensor(name) for name in weights(reader.get_variable_to_shape_map())}
    except (tensorflow.errors.OpError, IndexError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{checkpoint}: cannot be read as a TensorFlow checkpoint ({reason}); get it again") from error
    with files.write_atomically(path) as temporary:
        save_file(tensors, temporary)
    return len(tensors)


def main() -> None:
    """Dump what the command line names; a refusal is one line and ends with status 1."""
    try:
        print(dump(*sys.argv[1:]))
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
