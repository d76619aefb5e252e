"""CAW-coref (D'Oosterlinck et al. 2023) as Stanza has it: word-level coreference that knows conjunctions.

Stanza's own pipeline is not used: words and sentences are spaCy's, as for the systems of fastcoref, so that every token
has its place in the text.
"""

import collections
from pathlib import Path
from typing import Any

from scripts.core.coreference_systems.packages.words import WordSplitter, drop_duplicates, package_versions
from scripts.core.data.coreference import Document, digest_text
from scripts.core.errors import UserError

HEADS = ("we", "rough_scorer", "pw", "a_scorer", "sp")
"""What a checkpoint must have, as Stanza names it; the encoder is there as well if it was trained."""


class Caw:
    """A checkpoint that is ready to resolve documents.

    Args:
        name: The system's name in the registry, for messages.
        checkpoint: A ``.pt`` file that Stanza wrote.
        encoder: The folder of the transformer that it builds on.
        device: A torch device.

    Raises:
        UserError: If the checkpoint does not fit Stanza or the encoder; names what is missing, surplus or of another
            size.
    """

    def __init__(self, name: str, checkpoint: str, encoder: str, device: str):
        import torch
        from stanza.models.coref import tokenizer_customization as customization  # pyright: ignore[reportMissingImports]
        from stanza.models.coref.model import CorefModel  # pyright: ignore[reportMissingImports]

        self.name = name
        self.words = WordSplitter()
        where = f"system {name}: {Path(checkpoint).name}"
        try:
            stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
            settings = stored["config"]
            trained, lora = settings["bert_model"], settings["lora"]
            needed = [*HEADS, *(["bert_lora"] if lora else ["bert"] if settings["bert_finetune"] else [])]
            # The encoder has another name here, under which Stanza looks up how words are divided.
            for table in (customization.TOKENIZER_FILTERS, customization.TOKENIZER_MAPS):
                if trained in table:
                    table[encoder] = table[trained]
            options = settings["tokenizer_kwargs"].get(trained.split("/")[-1], {})
            self.model = CorefModel.load_model(
                checkpoint,
                ignore={"bert_optimizer", "general_optimizer", "bert_scheduler", "general_scheduler"},
                config_update={
                    "bert_model": encoder,
                    "tokenizer_kwargs": {encoder.split("/")[-1]: options},
                    "device": device,
                    "log_norms": False,
                },
            )
        # What does not fit raises whatever the code happens to stumble over.
        except Exception as error:
            reason = next(iter(str(error).strip().splitlines()[-1:]), type(error).__name__).strip()
            raise UserError(
                f"{where} cannot be loaded ({type(error).__name__}: {reason[:200]}); it must be a checkpoint of Stanza "
                f"{package_versions('stanza')['stanza']} on the encoder in {Path(encoder).name}"
            ) from error
        for part in needed:
            if part not in stored:
                raise UserError(f"{where} lacks {part}; use a complete checkpoint")
        for part in HEADS:
            expected = self.model.trainable[part].state_dict().keys()
            for words, names in (("lacks", expected - stored[part].keys()), ("has", stored[part].keys() - expected)):
                if names:
                    extra = "" if words == "lacks" else ", which Stanza does not know"
                    raise UserError(f"{where} {words} {part}.{min(names)}{extra}; use a checkpoint of this version")
        self.model._set_training(False)
        self.facts: dict[str, Any] = {"libraries": package_versions("stanza", "peft")}

    def resolve(self, name: str, text: str) -> Document:
        """Return the :class:`~scripts.core.data.coreference.Document` of one text."""
        import torch

        tokens, sentences = self.words.sentences(text)
        words = [text[start:end] for start, end in tokens]
        # A word without any piece, such as a character that the tokenizer drops, is read as Stanza's own data are.
        words = [word if self.model.tokenizer.tokenize(word) else "_" for word in words]
        # Of one word nothing can corefer.
        if len(words) < 2:
            return Document(name, digest_text(text), tokens, ())
        document = self.model.build_doc(
            {
                "document_id": "wb_document",
                "cased_words": words,
                "sent_id": list(sentences),
                "speaker": ["_"] * len(words),
            }
        )
        self._check_sentences(name, document)
        with torch.no_grad():
            clusters = self.model.run(document).span_clusters
        mentions = [[(start, end - 1) for start, end in cluster if start < end] for cluster in clusters]
        return Document(name, digest_text(text), tokens, drop_duplicates(mentions, fewest=1))

    def _check_sentences(self, name: str, document: dict[str, Any]):
        """Refuse a sentence that fills more than two windows, over which Stanza 1.15 would never end."""
        takes = 2 * (self.model.config.bert_window_size - 2)
        pieces = collections.Counter(document["sent_id"][word] for word in document["word_id"])
        longest = max(pieces.values())
        if longest > takes:
            raise UserError(
                f"document '{name}' has a sentence of {longest} tokens and system {self.name} takes {takes}; leave "
                "this system or this document out"
            )
