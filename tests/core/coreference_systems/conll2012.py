"""Documents in the CoNLL-2012 layout, as the official scorer of coreference reads it."""


def write(path, documents):
    """Write documents, of which no word has a blank."""
    lines = []
    for document in documents:
        identifier, _, part = document.name.partition("; part ")
        part = int(part) if part.isdecimal() else 0
        lines.append(f"#begin document ({identifier}); part {part:03d}")
        cells = _coreference_cells(document)
        for start, end in document.sentences:
            for index in range(start, end):
                tag = document.tags[index] if document.tags else "-"
                speaker = document.speakers[index] if document.speakers else "-"
                row = [identifier, part, index - start, document.words[index], tag, *"----", speaker, "*", cells[index]]
                lines.append("\t".join(map(str, row)))
            lines.append("")
        lines.append("#end document")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _coreference_cells(document):
    """Return the coreference column: of mentions that begin at one word, the longest is opened first."""
    opened, single, closed = ([[] for _ in document.words] for _ in range(3))
    mentions = ((first, last, number) for number, cluster in enumerate(document.clusters) for first, last in cluster)
    for first, last, number in sorted(mentions, key=lambda mention: (mention[0], -mention[1])):
        if first == last:
            single[first].append(f"({number})")
        else:
            opened[first].append(f"({number}")
            closed[last].insert(0, f"{number})")
    return ["|".join([*cells[0], *cells[1], *cells[2]]) or "-" for cells in zip(opened, single, closed, strict=True)]
