"""What the scores of a window come to: the loss in training, and clusters."""

import math

import torch

from scripts.core.coreference_systems.c2f.model import Scores
from scripts.core.coreference_systems.c2f.windows import Window


def compute_loss(scores: Scores, window: Window) -> torch.Tensor:
    """Return the loss of a window: the negative log-likelihood of all right antecedents of each span, summed, in nats.

    A gold mention's are the mentions of its cluster before it, every other span's is none (Lee et al. 2017, section 5).
    """
    spans = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    cluster = torch.tensor([window.clusters.get(span, 0) for span in spans], device=scores.starts.device)
    right = (cluster.unsqueeze(1) == cluster[scores.antecedents]) & (cluster.unsqueeze(1) > 0) & scores.valid
    right = torch.cat([~right.any(1, keepdim=True), right], 1)
    likelihood = torch.logsumexp(scores.scores.masked_fill(~right, -math.inf), 1)
    return (torch.logsumexp(scores.scores, 1) - likelihood).sum()


def link_mentions(scores: Scores, window: Window, singletons: bool) -> list[list[tuple[int, int]]]:
    """Return the clusters that the scores say, as mentions of words.

    Each span is joined with its best antecedent, if that has a positive score; of equal scores the first counts.

    Args:
        singletons: Whether a span with a positive mention score that is joined with none is a cluster of its own.

    Returns:
        First and last word of each mention, in the order of the text.
    """
    best = scores.scores.argmax(1).tolist()
    antecedents, is_mention = scores.antecedents.tolist(), (scores.mention_scores > 0).tolist()
    cluster_of, found = {}, []
    for span, choice in enumerate(best):
        if choice:
            antecedent = antecedents[span][choice - 1]
            if antecedent not in cluster_of:
                cluster_of[antecedent] = len(found)
                found.append([antecedent])
            cluster_of[span] = cluster_of[antecedent]
            found[cluster_of[span]].append(span)
    if singletons:
        found += [[span] for span in range(len(best)) if span not in cluster_of and is_mention[span]]
    starts, ends = scores.starts.tolist(), scores.ends.tolist()
    seen, made = set(), []
    for cluster in found:
        # Pieces of one word can give two spans of the same words; the first in the text is the mention.
        mentions = []
        for span in cluster:
            mention = (window.word[starts[span]], window.word[ends[span]])
            if mention not in seen:
                seen.add(mention)
                mentions.append(mention)
        if mentions and (len(mentions) > 1 or singletons):
            made.append(mentions)
    return sorted(made)
