"""Plain loops, one text at a time, with which the tests compare the engines; they share no code with them."""

import torch


@torch.no_grad()
def token_values(model, tokenizer, architecture, row, by_token=False) -> tuple[list[int], list[float]]:
    """Return the scored tokens of a row of option texts, and their log-probabilities in nats.

    If ``by_token``, each token has a pass of its own, of a decoder over the tokens before it alone.
    """

    def read(ids, **more):
        return model(input_ids=torch.tensor(ids, device=model.device), **more).logits

    if architecture == "encoder-decoder":
        mask = tokenizer.mask_token
        source = row.masked.replace("___", mask or "<extra_id_0>")
        targets = tokenizer(row.text if mask else f"<extra_id_0> {row.filled} <extra_id_1>")["input_ids"]
        labels = torch.tensor([targets], device=model.device)
        logits = read([tokenizer(source)["input_ids"]], labels=labels)[0]
    elif architecture == "decoder":
        ids = tokenizer(row.text)["input_ids"]
        targets = ids[1:]
        logits = [read([ids[:place]])[0, -1] for place in range(1, len(ids))] if by_token else read([ids])[0, :-1]
    else:
        copies, places, targets = masked_copies(tokenizer, row.text)
        if by_token:
            logits = [read([copy])[0, place] for copy, place in zip(copies, places, strict=True)]
        else:
            logits = read(copies)[range(len(places)), places]
    values = [
        (step[token].double() - step.double().logsumexp(0)).item() for step, token in zip(logits, targets, strict=True)
    ]
    return targets, values


def masked_copies(tokenizer, text):
    """Return a text's masked copies, the position that each is scored at, and the token that stood there."""
    encoding = tokenizer(text)
    ids, words = encoding["input_ids"], encoding.word_ids()
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    places = [position for position, token in enumerate(ids) if token not in special]
    copies = [
        [
            tokenizer.mask_token_id if p == place or (p > place and words[p] == words[place]) else token
            for p, token in enumerate(ids)
        ]
        for place in places
    ]
    return copies, places, [ids[place] for place in places]


@torch.no_grad()
def write(model, ids, steps, ends=()) -> tuple[list[int], torch.Tensor]:
    """Return the most probable tokens after a prompt, each from a pass over all before it, and the logits of each."""
    written, logits = [], []
    while len(written) < steps and not (written and written[-1] in ends):
        if model.config.is_encoder_decoder:
            start = [model.config.decoder_start_token_id, *written]
            given = {"input_ids": [ids], "decoder_input_ids": [start]}
        else:
            given = {"input_ids": [[*ids, *written]]}
        output = model(**{name: torch.tensor(value, device=model.device) for name, value in given.items()})
        logits.append(output.logits[0, -1].cpu())
        written.append(int(logits[-1].argmax()))
    return written, torch.stack(logits)
