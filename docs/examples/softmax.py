"""A softmax and its loss as a textbook writes them, called where exponentials overflow."""

import rewrite_engine as rw
import rewrite_engine.tensor as pt

z, y = pt.matrix("z"), pt.matrix("y")
softmax = pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True)
loss = -(y * pt.log(softmax)).sum()
f = rw.function([z, y], loss, name="loss")
value = f([[1000.0, -1000.0, 1000.0]], [[1.0, 0.0, 0.0]])
print(f"loss {value:.6f}")
