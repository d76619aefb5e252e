"""Coarse-to-fine coreference resolution as the papers describe it, in loops, for tests: no batches and no padding.

Lee et al. (2017, 2018); Joshi et al. (2019), the ``independent`` variant. Everything is NumPy in double precision, the
encoder too; weights come from a view that names them by what they are for, whatever the format of a checkpoint.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, expit, logsumexp, softmax

from scripts.core.coreference_systems.c2f.features import EMPTY, PRONOUNS, plain_punctuation


@dataclass
class Options:
    """What no weight says. ``features``: those of pairs, in the order of the input of their network."""

    segment_pieces: int
    span_width: int
    ratio: float
    most_spans: int
    antecedents: int
    depth: int
    heads: int
    features: tuple
    genre: int = 0
    segment_distances: int = 0
    by_word: bool = False
    cases: bool = False
    strings: bool = False
    plain_marks: bool = False
    log_sigmoid: bool = False
    singletons: bool = False
    projected: bool = False
    multiple: int = 1


@dataclass
class Result:
    """Mention scores of all spans, those that are kept, scores of pairs by numbers of spans, and clusters of words."""

    candidates: dict
    spans: list
    pairs: dict
    clusters: list


def pieces_of(word, tokenizer, options):
    ids = tokenizer(plain_punctuation(word) if options.plain_marks else word, add_special_tokens=False)["input_ids"]
    return ids or [tokenizer.unk_token_id]


def divide(words, sentence_ends, options):
    """Return segments as lists of numbers of words: whole sentences while they fit, else whole words."""
    flat = [(number, sentence_ends[number], last) for number, p in words for last in [False] * (len(p) - 1) + [True]]
    room, segments, begin = options.segment_pieces - 2, [], 0
    while begin < len(flat):
        end = min(begin + room, len(flat)) - 1
        stop = end
        while stop >= begin and not (flat[stop][1] and flat[stop][2]):
            stop -= 1
        if stop < begin:
            stop = end
            while not flat[stop][2]:
                stop -= 1
        segments.append(list(dict.fromkeys(number for number, _, _ in flat[begin : stop + 1])))
        begin = stop + 1
    return segments


def bert(ids, get, heads):
    """Return BERT's output for one segment: layers after another, Devlin et al. (2019)."""

    def linear(x, name):
        return x @ get(f"{name}.kernel") + get(f"{name}.bias")

    def norm(x, name):
        centred = x - x.mean(1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)
        return centred / deviation * get(f"{name}.gamma") + get(f"{name}.beta")

    x = np.stack([get("embeddings.word_embeddings")[i] for i in ids])
    x = x + get("embeddings.position_embeddings")[: len(ids)] + get("embeddings.token_type_embeddings")[0]
    x = norm(x, "embeddings.LayerNorm")
    for number in range(get.layers):
        name = f"encoder.layer.{number}"
        query, key, value = (linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        size = query.shape[1] // heads
        seen = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights = softmax(query[:, part] @ key[:, part].T / math.sqrt(size), 1)
            seen.append(weights @ value[:, part])
        attended = linear(np.concatenate(seen, 1), f"{name}.attention.output.dense")
        x = norm(x + attended, f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return x


def network(x, layers):
    """Return the number that a feed-forward network gives for one vector."""
    for kernel, bias in layers[:-1]:
        x = np.maximum(x @ kernel + bias, 0)
    kernel, bias = layers[-1]
    return (x @ kernel + bias).item()


def distance_class(distance):
    for number, least in reversed(list(enumerate((0, 1, 2, 3, 4, 5, 8, 16, 32, 64)))):
        if distance >= least:
            return number
    raise AssertionError(distance)


def case_class(word, begins_sentence):
    if not word[0].isalpha():
        return 0
    if word == word.lower():
        return 1
    if len(word) > 1 and word == word.upper():
        return 3
    return 4 if begins_sentence else 2


def string_class(one, two):
    """Return the class of two mentions, each ``(words, cases)``."""

    def content(words):
        lower = [plain_punctuation(word).lower() for word in words]
        return [word for word in lower if word not in EMPTY] or lower

    def is_pronoun(words):
        return len(words) == 1 and plain_punctuation(words[0]).lower() in PRONOUNS

    def is_name(words, cases):
        return any(case in (2, 3) or (case == 4 and len(words) == 1) for case in cases)

    a, b = content(one[0]), content(two[0])
    pronouns = is_pronoun(one[0]) + is_pronoun(two[0])
    if pronouns == 2:
        return 6 if a == b else 7
    if pronouns == 1:
        return 0
    if a == b:
        return 1
    if a[-1] == b[-1]:
        return 2
    if set(a) & set(b):
        return 3
    return 4 if is_name(*one) and is_name(*two) else 5


def resolve(document, tokenizer, weights, options):
    """Return the :class:`Result` for a document.

    ``weights`` has ``bert`` (a function of names, with ``layers``), ``table(name)`` and ``layers(name)``.
    """
    sentence_of = {}
    for number, (first, last) in enumerate(document.sentences):
        sentence_of |= dict.fromkeys(range(first, last), number)
    ends = {last - 1 for _, last in document.sentences}
    beginnings = {first for first, _ in document.sentences}
    cases = [case_class(word, number in beginnings) for number, word in enumerate(document.words)]
    words = [(n, pieces_of(word, tokenizer, options)) for n, word in enumerate(document.words)]
    pieces = dict(words)
    segments = divide(words, {n: n in ends for n in pieces}, options)

    # Units: each has vectors (for a span's beginning, its end, and within), a word, a sentence, a segment, a speaker.
    units = []
    for number, segment in enumerate(segments):
        ids = [tokenizer.cls_token_id, *(piece for word in segment for piece in pieces[word]), tokenizer.sep_token_id]
        output = bert(ids, weights.bert, options.heads)
        place = 1
        closing = sentence_of[segment[-1]] + (segment[-1] in ends)
        if not options.by_word:
            units.append(((output[0],) * 3, segment[0], sentence_of[segment[0]], number, "[SPL]"))
        for word in segment:
            speaker = document.speakers[word] if document.speakers else "-"
            rows = output[place : place + len(pieces[word])]
            place += len(rows)
            if options.by_word:
                vectors = (rows[0], rows[-1], rows.mean(0))
                if options.cases:
                    case = weights.table("case")[cases[word]]
                    vectors = tuple(np.concatenate([vector, case]) for vector in vectors)
                units.append((vectors, word, (sentence_of[word], number), number, speaker))
            else:
                units += [((row,) * 3, word, sentence_of[word], number, speaker) for row in rows]
        if not options.by_word:
            units.append(((output[-1],) * 3, segment[-1], closing, number, "[SPL]"))

    vectors, scores = {}, {}
    (head,) = weights.layers("head")
    for first in range(len(units)):
        for last in range(first, min(len(units), first + options.span_width)):
            if units[first][2] != units[last][2]:
                continue
            inner = np.stack([units[unit][0][2] for unit in range(first, last + 1)])
            attention = softmax(inner @ head[0][:, 0] + head[1])
            width = weights.table("width")[last - first]
            vectors[first, last] = np.concatenate([units[first][0][0], units[last][0][1], width, attention @ inner])
            scores[first, last] = network(vectors[first, last], weights.layers("mention"))
            if weights.table("width_prior") is not None:
                prior = weights.table("width_prior")[last - first]
                scores[first, last] += network(prior, weights.layers("width_prior"))

    limit = int(min(options.most_spans, options.ratio * len(units)))
    limit = math.ceil(limit / options.multiple) * options.multiple
    kept = []
    for first, last in sorted(scores, key=lambda span: (-scores[span], span)):
        if len(kept) == limit:
            break
        if not any(a < first <= b < last or first < a <= last < b for a, b in kept):
            kept.append((first, last))
    kept.sort()

    mentions = [scores[span] for span in kept]
    if options.log_sigmoid:
        mentions = [math.log(expit(score)) for score in mentions]
    represented = [vectors[span] for span in kept]
    if options.projected:
        ((kernel, bias),) = weights.layers("projection")
        represented = [vector @ kernel + bias for vector in represented]
    texts = []
    for first, last in kept:
        covered = range(units[first][1], units[last][1] + 1)
        texts.append(([document.words[n] for n in covered], [cases[n] for n in covered]))
    coarse, near = {}, []
    ((kernel, bias),) = weights.layers("coarse")
    for i in range(len(kept)):
        for j in range(i):
            score = (represented[i] @ kernel + bias) @ represented[j]
            if options.projected:
                score /= math.sqrt(len(represented[i]))
            score += mentions[i] + mentions[j]
            if weights.table("distance_prior") is not None:
                row = weights.table("distance_prior")[distance_class(i - j)]
                score += network(row, weights.layers("distance_prior"))
            if options.strings:
                score += weights.table("string_prior")[string_class(texts[i], texts[j])].item()
            coarse[i, j] = score
        near.append(sorted(range(i), key=lambda j: -coarse[i, j])[: options.antecedents])

    def feature(name, i, j):
        one, two = units[kept[i][0]], units[kept[j][0]]
        if name == "speaker":
            return int(one[4] == two[4])
        if name == "genre":
            return options.genre
        if name == "segment":
            return min(one[3] - two[3], options.segment_distances - 1)
        if name == "distance":
            return distance_class(i - j)
        return string_class(texts[i], texts[j])

    for depth in range(options.depth):
        total = {}
        for i in range(len(kept)):
            for j in near[i]:
                known = [weights.table(name)[feature(name, i, j)] for name in options.features]
                one, two = represented[i], represented[j]
                pair = np.concatenate([one, two, one * two, *known])
                total[i, j] = coarse[i, j] + network(pair, weights.layers("antecedent"))
        if depth < options.depth - 1:
            ((kernel, bias),) = weights.layers("gate")
            refined = []
            for i, vector in enumerate(represented):
                logits = np.array([0.0] + [total[i, j] for j in near[i]])
                shares = np.exp(logits - logsumexp(logits))
                expected = shares @ np.stack([vector] + [represented[j] for j in near[i]])
                gate = expit(np.concatenate([vector, expected]) @ kernel + bias)
                refined.append(gate * expected + (1 - gate) * vector)
            represented = refined

    groups = {}
    for i in range(len(kept)):
        best = max(near[i], key=lambda j, i=i: total[i, j], default=None)
        if best is not None and total[i, best] > 0:
            group = groups.setdefault(best, [best])
            group.append(i)
            groups[i] = group
    found = list({id(group): group for group in groups.values()}.values())
    if options.singletons:
        found += [[i] for i, span in enumerate(kept) if i not in groups and scores[span] > 0]
    clusters, seen = [], set()
    for group in found:
        cluster = []
        for i in sorted(group):
            mention = (units[kept[i][0]][1], units[kept[i][1]][1])
            if mention not in seen:
                cluster.append(mention)
                seen.add(mention)
        if len(cluster) > 1 or (cluster and options.singletons):
            clusters.append(cluster)
    return Result(scores, kept, total, sorted(clusters))
