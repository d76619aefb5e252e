"""Convert a c2f checkpoint of another implementation to a folder that this project reads.

Every variable is compared by name and shape: one that is missing, too many or of another shape ends the job and is
named, and so does a setting that this project's model has no part for.
"""

from scripts.core.coreference_systems.c2f import checkpoints, conversion, coref_hoi, foreign, published_tensorflow
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run

FAMILIES = {"coref-hoi": coref_hoi, "tensorflow": published_tensorflow}


def main(
    *,
    weights: str,
    encoder: str,
    vocabulary: str,
    system: str,
    kind: str,
    settings: dict,
    name: str = "the checkpoint",
    originals: list | None = None,
):
    """Write the folder ``system``.

    Args:
        weights: The checkpoint: model_*.bin of coref-hoi, or what convert_tensorflow wrote
        encoder: Configuration of its BERT (JSON)
        vocabulary: Word pieces of its BERT, one a line
        system: The folder to write
        kind: Which implementation made it: coref-hoi or tensorflow
        settings: Settings of its experiments.conf, by their names there
        name: What messages about the settings call it
        originals: Files whose digests are noted in the system, by default the checkpoint
    """
    if kind not in conversion.FORMATS:
        raise UserError(f"the kind '{kind}' is none of {', '.join(conversion.FORMATS)}")
    family = FAMILIES[kind]
    made = family.convert_settings(settings, f"{name}: settings")
    tensors = family.read(weights)
    model, tokenizer = foreign.build(encoder, vocabulary, made)
    family.fill(model, tensors, weights)
    sources = [*(originals or [weights]), encoder, vocabulary]
    checkpoints.write_folder(system, model, tokenizer, foreign.recipe(kind, settings, sources))
    log.info("%s: %d variables", system, len(model.state_dict()))


if __name__ == "__main__":
    run(main)
