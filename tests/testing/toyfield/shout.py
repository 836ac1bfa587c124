"""A perturbation."""

from fieldcheck.tomography.perturbations.own import made_of


def shout(text, severity, rng):
    """So many words, louder."""
    words = text.split(" ")
    for at in rng.permutation(len(words))[:severity]:
        words[at] = words[at].upper()
    return " ".join(words)


Shout = made_of(shout, "shout", kind="text", levels=3)
