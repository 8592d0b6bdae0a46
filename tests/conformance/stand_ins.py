"""Data made up here for examples that would fetch theirs from the network: the same names, columns and sizes.

Whatever is drawn is drawn from seeds, so a run with the drop-in classes and one without see the same.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.datasets import make_classification
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.utils import Bunch

STRIP = {
    "headers": strip_newsgroup_header,
    "footers": strip_newsgroup_footer,
    "quotes": strip_newsgroup_quoting,
}
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
COMMON, TOPICAL = 4000, 600  # words that every topic uses, and those of one topic


def word(number: int) -> str:
    """The same number, the same word; no two share one."""
    parts = []
    while number or len(parts) < 3:
        number, last = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[last])
    return "".join(parts)


def sentence(rng: np.random.Generator, topic: int, length: int, share: float) -> str:
    """Frequent words and rare ones, as in a language; a share of them belongs to the topic."""
    common = np.minimum(rng.zipf(1.3, length), COMMON) - 1
    own = COMMON + TOPICAL * topic + np.minimum(rng.zipf(1.3, length), TOPICAL) - 1
    return " ".join(word(int(k)) for k in np.where(rng.random(length) < share, own, common))


def post(rng: np.random.Generator, topic: int) -> str:
    writer = f"{word(int(rng.integers(2000)))}@{rng.choice(['caltech', 'school', 'company'])}.edu"
    subject = sentence(rng, topic, int(rng.integers(3, 8)), 0.3)
    body = ".\n".join(sentence(rng, topic, int(rng.integers(5, 15)), 0.1) for _ in range(int(rng.integers(3, 20))))
    quote = f"> {sentence(rng, topic, 10, 0.1)}\n" if rng.random() < 0.3 else ""
    return f"From: {writer}\nSubject: {subject}\n\n{quote}{body}.\n\n--\n{writer}"


def fetch_20newsgroups(
    subset="train", categories=("sci.med", "sci.space"), random_state=42, remove=(), return_X_y=False, **_
):  # fmt: skip
    names = sorted(categories)
    rng = np.random.default_rng([random_state, subset == "test"])
    target = rng.integers(len(names), size=500 * len(names) if subset == "train" else 340 * len(names))
    texts = [post(rng, int(topic)) for topic in target]
    for part in remove:
        texts = [STRIP[part](text) for text in texts]
    return (texts, target) if return_X_y else Bunch(data=texts, target=target, target_names=names)


def fetch_covtype(return_X_y=True, **_):
    X, y = make_classification(
        60_000, 54, n_informative=20, n_redundant=10, n_classes=7, n_clusters_per_class=3, random_state=0
    )  # fmt: skip
    return X, (y + 1).astype(np.int32)


def fetch_openml(name, **_):
    if name != "titanic":
        raise OSError(f"no stand-in for {name}")
    rng = np.random.default_rng(0)
    return Bunch(data=pd.DataFrame({"pclass": rng.integers(1, 4, 1309), "embarked": rng.choice(list("CQS"), 1309)}))


def write_reuters(folder: Path) -> None:
    """News as the Reuters collection has them: a third about "acq"."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    with open(folder / "reut2-000.sgm", "w") as file:
        for _ in range(12_000):
            topic = int(rng.integers(3))
            name = ["acq", "earn", "grain"][topic]
            title, body = sentence(rng, topic, 6, 0.2), sentence(rng, topic, 60, 0.1)
            file.write(
                f"<REUTERS><TOPICS><D>{name}</D></TOPICS><TITLE>{title}</TITLE>\n<BODY>{body}</BODY></REUTERS>\n"
            )


def install(example: str) -> None:
    for fetcher in (fetch_20newsgroups, fetch_covtype, fetch_openml):
        setattr(sklearn.datasets, fetcher.__name__, fetcher)
    if "reuters" in Path(example).read_text():
        home = Path(tempfile.mkdtemp())
        os.environ["SCIKIT_LEARN_DATA"] = str(home)
        write_reuters(home / "reuters")
