"""Multinomial logistic regression on Fisher's iris data, with the loss written the naive way.

The textbook loss is log(exp(z) / sum(exp(z))). Written like that it breaks down in floating point:
exp overflows for large z, and the logarithm of an underflowed quotient is -inf. Here nobody writes
it in a safer way; the rules find one, and `python -m rewrite_engine.explain docs/examples/iris.py`
tells how.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

DATA = Path(__file__).with_name("iris.csv")
STEPS = 500
RATE = 0.5
PENALTY = 1e-3
EXTREME = np.array([[1000.0, -1000.0, 1000.0]])  # logits whose exponentials overflow


def read_iris() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return features (150, 4), standardised; species as numbers (150,); names of the species."""
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["species"] for row in rows})
    numbers = [[float(v) for k, v in row.items() if k != "species"] for row in rows]
    features = np.array(numbers)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    return features, np.array([names.index(row["species"]) for row in rows]), names


def log_softmax(z):
    """Logarithms of the classes' probabilities from logits (n, k), as a textbook writes it."""
    return pt.log(pt.exp(z) / pt.sum(pt.exp(z), axis=1, keepdims=True))


def cross_entropy(z, one_hot):
    """Mean surprise at the true classes; z: logits (n, k), one_hot: (n, k)."""
    return -pt.sum(one_hot * log_softmax(z), axis=1).mean()


def build(n_features: int, n_classes: int, mode=None):
    """Return the functions `train(x, y) -> loss` and `predict(x) -> class numbers`."""
    x, y = pt.matrix("x"), pt.matrix("y")
    w = rw.shared(np.zeros((n_features, n_classes)), name="w")
    b = rw.shared(np.zeros(n_classes), name="b")
    logits = x @ w + b
    loss = cross_entropy(logits, y) + PENALTY * (w**2).sum()
    d_w, d_b = rw.grad(loss, [w, b])
    updates = [(w, w - RATE * d_w), (b, b - RATE * d_b)]
    train = rw.function([x, y], loss, updates=updates, mode=mode, name="train")
    predict = rw.function([x], pt.argmax(logits, axis=1), mode=mode, name="predict")
    return train, predict


def check_extremes() -> tuple[float, float]:
    """Return the losses at extreme logits for the classes 0 and 1: ln 2 and 2000 + ln 2."""
    z, y = pt.matrix("z"), pt.matrix("y")
    loss = rw.function([z, y], cross_entropy(z, y), name="loss")
    return float(loss(EXTREME, np.eye(3)[[0]])), float(loss(EXTREME, np.eye(3)[[1]]))


def main() -> float:
    """Train, print what came out, and return the accuracy on the training data."""
    features, species, names = read_iris()
    train, predict = build(features.shape[1], len(names))
    one_hot = np.eye(len(names))[species]
    for step in range(STEPS):
        loss = float(train(features, one_hot))
        if step in (0, 9, 99, STEPS - 1):
            print(f"step {step + 1:4d}  loss {loss:.4f}")
    accuracy = float(np.mean(predict(features) == species))
    print(f"accuracy on the {len(species)} flowers: {accuracy:.3f}")
    likely, unlikely = check_extremes()
    print(f"loss at logits of ±1000: {likely:.6f} for a likely class, {unlikely:.6f} for another")
    return accuracy


if __name__ == "__main__":
    main()
