"""Forms of arrays as programs write them, with the computation by hand in NumPy.

Run as a program, it prints the time of each form relative to the one by hand:

    python -m benchmarks.array_forms [--linker native] [--rows 300] [NAME ...]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt


class Form(NamedTuple):
    """An expression, and what a careful reader computes instead. kinds: a letter per argument:
    "v" a vector, "A" a square matrix, "T" 3-d, "p" a matrix of probabilities, "s" a number, "t"
    labels.
    """

    kinds: str
    written: Callable[..., Any]
    by_hand: Callable[..., Any]


def scores(x: Any) -> Any:
    """Return the softmax of a vector by hand."""
    e = np.exp(x - x.max())
    return e / e.sum()


FORMS: dict[str, Form] = {
    # --- through elementwise ops
    "exp_row": Form("A", lambda A: pt.exp(A)[0], lambda A: np.exp(A[0])),
    "tanh_element": Form("AA", lambda A, B: pt.tanh(A * B + 1)[2, 3],
                         lambda A, B: np.tanh(A[2, 3] * B[2, 3] + 1)),
    "broadcast_row": Form("Av", lambda A, v: (A * v + 1)[3], lambda A, v: A[3] * v + 1),
    "broadcast_column": Form("Av", lambda A, v: (A * v[:, None])[3],
                             lambda A, v: A[3] * v[3]),
    "few_of_exp": Form("v", lambda v: pt.exp(v)[:5], lambda v: np.exp(v[:5])),
    "computed_index": Form("At", lambda A, t: pt.exp(A)[t[0], t[1]],
                           lambda A, t: np.exp(A[t[0], t[1]])),
    "centred_row": Form("A", lambda A: (A - A.mean(axis=0))[0], lambda A: A[0] - A.mean(axis=0)),
    "standardised_row": Form("A", lambda A: ((A - A.mean(1, keepdims=True))
                                             / A.std(1, keepdims=True))[4],
                             lambda A: (A[4] - A[4].mean()) / A[4].std()),
    "gathered_rows": Form("At", lambda A, t: pt.exp(A)[t[:5]], lambda A, t: np.exp(A[t[:5]])),
    "outer_row": Form("vv", lambda u, v: pt.outer(u, v)[2], lambda u, v: u[2] * v),
    # --- joins, stacks, fills
    "exp_of_join": Form("vv", lambda u, v: pt.exp(pt.concatenate([u, v]))[-10:],
                        lambda u, v: np.exp(v[-10:])),
    "first_of_stack": Form("vv", lambda u, v: pt.stack([pt.exp(u), pt.sin(v)])[0],
                           lambda u, v: np.exp(u)),
    "column_of_stack": Form("vv", lambda u, v: pt.stack([pt.exp(u), v], axis=1)[:, 1],
                            lambda u, v: v),
    "rest_of_join": Form("vv", lambda u, v: pt.concatenate([u, pt.exp(v)])[u.shape[0]:],
                         lambda u, v: np.exp(v)),
    "start_of_join": Form("vv", lambda u, v: pt.concatenate([u, pt.exp(v)])[:u.shape[0]],
                          lambda u, v: u),
    "row_of_vstack": Form("AA", lambda A, B: pt.vstack([A, B])[0], lambda A, B: A[0]),
    "row_of_broadcast": Form("vA", lambda v, A: pt.broadcast_to(v, A.shape)[2], lambda v, A: v),
    "element_of_full": Form("v", lambda v: pt.full_like(v, 3.0)[4] * v, lambda v: 3.0 * v),
    "element_of_arange": Form("v", lambda v: pt.arange(v.shape[0])[7] * v, lambda v: 7 * v),
    "row_of_eye": Form("v", lambda v: pt.eye(v.shape[0])[3] * v,
                       lambda v: np.where(np.arange(len(v)) == 3, v, 0.0)),
    "item_of_repeat": Form("v", lambda v: pt.repeat(v, 50)[120], lambda v: v[120 // 50]),
    "item_of_tile": Form("v", lambda v: pt.tile(v, 50)[2], lambda v: v[2]),
    "rolled_item": Form("v", lambda v: pt.roll(pt.exp(v), 1)[0], lambda v: np.exp(v[-1])),
    # --- running sums, sorts
    "last_of_cumsum": Form("v", lambda v: pt.cumsum(v)[-1], lambda v: v.sum()),
    "last_of_cumprod": Form("v", lambda v: pt.cumprod(v)[-1], lambda v: v.prod()),
    "diff_of_cumsum": Form("v", lambda v: pt.diff(pt.cumsum(v)), lambda v: v[1:]),
    "start_of_cumsum": Form("v", lambda v: pt.cumsum(v)[:5], lambda v: np.cumsum(v[:5])),
    "row_of_cumsum": Form("A", lambda A: pt.cumsum(A, axis=1)[3], lambda A: np.cumsum(A[3])),
    "largest_by_sort": Form("v", lambda v: pt.sort(v)[-1], lambda v: v.max()),
    "smallest_by_sort": Form("v", lambda v: pt.sort(v)[0], lambda v: v.min()),
    "row_of_sort": Form("A", lambda A: pt.sort(A, axis=-1)[5], lambda A: np.sort(A[5])),
    # --- reductions, softmax
    "row_sum": Form("A", lambda A: A.sum(axis=1)[0], lambda A: A[0].sum()),
    "row_mean": Form("A", lambda A: A.mean(axis=1)[3], lambda A: A[3].mean()),
    "row_max": Form("A", lambda A: pt.exp(A).max(axis=-1)[:4], lambda A: np.exp(A[:4].max(-1))),
    "column_argmax": Form("A", lambda A: pt.argmax(A, axis=0)[2], lambda A: A[:, 2].argmax()),
    "row_of_softmax": Form("A", lambda A: pt.special.softmax(A, axis=1)[0],
                           lambda A: scores(A[0])),
    "row_of_log_softmax": Form("A", lambda A: pt.log(pt.special.softmax(A, axis=1))[0],
                               lambda A: np.log(scores(A[0]))),
    "row_logsumexp": Form("A", lambda A: pt.log(pt.exp(A).sum(axis=1))[0],
                          lambda A: np.log(np.exp(A[0] - A[0].max()).sum()) + A[0].max()),
    # --- products
    "element_of_product": Form("AA", lambda A, B: (A @ B)[2, 3], lambda A, B: A[2] @ B[:, 3]),
    "row_of_product": Form("AA", lambda A, B: (A @ B)[0], lambda A, B: A[0] @ B),
    "column_of_product": Form("AA", lambda A, B: (A @ B)[:, -1], lambda A, B: A @ B[:, -1]),
    "rows_of_product": Form("AA", lambda A, B: (A @ B)[:3], lambda A, B: A[:3] @ B),
    "item_of_matvec": Form("Av", lambda A, v: (A @ v)[3], lambda A, v: A[3] @ v),
    "row_of_chain": Form("AAA", lambda A, B, C: (A @ B @ C)[0], lambda A, B, C: A[0] @ B @ C),
    "row_of_transposed": Form("AA", lambda A, B: (A @ B).T[0], lambda A, B: A @ B[:, 0]),
    "exp_row_of_product": Form("AA", lambda A, B: pt.exp(A @ B + 1)[0],
                               lambda A, B: np.exp(A[0] @ B + 1)),
    "trace_of_product": Form("AA", lambda A, B: pt.trace(A @ B),
                             lambda A, B: np.vdot(A, B.T)),
    "diag_of_product": Form("AA", lambda A, B: pt.diag(A @ B),
                            lambda A, B: np.einsum("ij,ji->i", A, B)),
    "sum_of_product": Form("AA", lambda A, B: (A @ B).sum(),
                           lambda A, B: A.sum(0) @ B.sum(1)),
    "row_sums_of_product": Form("AA", lambda A, B: (A @ B).sum(axis=1),
                                lambda A, B: A @ B.sum(1)),
    "mean_of_product": Form("AA", lambda A, B: (A @ B).mean(axis=0),
                            lambda A, B: A.sum(0) @ B / len(A)),
    "chain_of_vector": Form("AAv", lambda A, B, v: A @ B @ v, lambda A, B, v: A @ (B @ v)),
    "common_factor": Form("Avv", lambda A, u, v: A @ u + A @ v, lambda A, u, v: A @ (u + v)),
    "spelled_matmul": Form("AA", lambda A, B: (A[:, :, None] * B[None, :, :]).sum(axis=1),
                           lambda A, B: A @ B),
    "spelled_matvec": Form("Av", lambda A, v: (A * v).sum(axis=1), lambda A, v: A @ v),
    "spelled_vecmat": Form("Av", lambda A, v: (A * v[:, None]).sum(axis=0), lambda A, v: v @ A),
    "spelled_dot": Form("vv", lambda u, v: (u * v).sum(), lambda u, v: u @ v),
    "spelled_frobenius": Form("AA", lambda A, B: (A * B).sum(), lambda A, B: np.vdot(A, B)),
    "item_of_batched": Form("TT", lambda S, T: (S @ T)[1], lambda S, T: S[1] @ T[1]),
    "quadratic_forms": Form("AA", lambda A, B: pt.diag(A @ B @ A.T),
                            lambda A, B: ((A @ B) * A).sum(1)),
    # --- sums
    "sum_of_ones": Form("v", lambda v: pt.ones_like(v).sum() * v, lambda v: len(v) * v),
    "sum_of_broadcast": Form("vA", lambda v, A: pt.broadcast_to(v, A.shape).sum(axis=0),
                             lambda v, A: len(A) * v),
    "sum_of_spread": Form("Av", lambda A, v: (A + v[:, None]).sum(axis=1),
                          lambda A, v: A.sum(1) + A.shape[1] * v),
    "scaled_rows": Form("Av", lambda A, v: (A * v[:, None]).sum(axis=1),
                        lambda A, v: A.sum(1) * v),
    "weighted_mean": Form("vvs", lambda u, v, s: (u * v / s).sum(), lambda u, v, s: u @ v / s),
    "sum_of_join": Form("vv", lambda u, v: pt.concatenate([u, v]).sum(),
                        lambda u, v: u.sum() + v.sum()),
    "max_of_exp": Form("v", lambda v: pt.exp(v).max(), lambda v: np.exp(v.max())),
    "max_of_join": Form("vv", lambda u, v: pt.concatenate([u, v]).max(),
                        lambda u, v: max(u.max(), v.max())),
    "prod_of_exp": Form("v", lambda v: pt.prod(pt.exp(v)), lambda v: np.exp(v.sum())),
    "loss_of_labels": Form("pt", lambda p, t: -pt.log(p[pt.arange(t.shape[0]), t]).mean(),
                           lambda p, t: -np.log(p[np.arange(len(t)), t]).mean()),
    "variance": Form("v", lambda v: (v ** 2).mean() - v.mean() ** 2, lambda v: v.var()),
    "distances": Form("AA", lambda A, B: ((A[:60, None, :] - B[None, :60, :]) ** 2).sum(-1),
                      lambda A, B: ((A[:60, None, :] - B[None, :60, :]) ** 2).sum(-1)),
    "all_in_range": Form("v", lambda v: pt.switch(pt.arange(v.shape[0]) >= 0, v, 0.0).sum(),
                         lambda v: v.sum()),
    # --- write, then read
    "read_what_was_set": Form("vs", lambda v, s: pt.set_subtensor(v[3], s)[3] * 2,
                              lambda v, s: s * 2),
    "read_beside": Form("vs", lambda v, s: pt.set_subtensor(v[3], s)[4] * 2,
                        lambda v, s: v[4] * 2),
    "read_other_rows": Form("Av", lambda A, v: pt.exp(pt.set_subtensor(A[0], v)[1:5]),
                            lambda A, v: np.exp(A[1:5])),
    "read_increased": Form("Av", lambda A, v: pt.inc_subtensor(A[2], v)[2], lambda A, v: A[2] + v),
    "slice_of_slice": Form("v", lambda v: pt.exp(v[2:][:10]), lambda v: np.exp(v[2:12])),
    "row_then_item": Form("A", lambda A: pt.exp(A[1:][2][3]), lambda A: np.exp(A[3, 3])),
    "item_of_gather": Form("vt", lambda v, t: pt.exp(v[t])[3], lambda v, t: np.exp(v[t[3]])),
}  # fmt: skip


TYPES = {"v": pt.dvector, "A": pt.dmatrix, "T": pt.dtensor3, "p": pt.dmatrix, "s": pt.dscalar,
         "t": pt.lvector}  # fmt: skip


def values(kinds: str, rows: int, seed: int = 0) -> list[Any]:
    """Return arguments for a form."""
    rng = np.random.default_rng(seed)
    make = {
        "v": lambda: rng.normal(size=rows),
        "A": lambda: rng.normal(size=(rows, rows)),
        "T": lambda: rng.normal(size=(3, rows, rows)),
        "p": lambda: rng.dirichlet(np.ones(10), size=rows),
        "s": lambda: np.float64(rng.normal()),
        "t": lambda: rng.integers(0, 10 if "p" in kinds else rows, size=rows),
    }
    return [make[k]() for k in kinds]


def compiled(form: Form, mode: Any = None) -> Any:
    """Return the compiled form."""
    inputs = [TYPES[k](f"{k}{i}") for i, k in enumerate(form.kinds)]
    return rw.function(inputs, form.written(*inputs), mode=mode)


def seconds(call: Callable[[], Any], most: float = 0.05) -> float:
    """Return the time of a call: the median of some."""
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    times, number = [], max(1, int(2e-4 / max(once, 1e-7)))
    stop = time.perf_counter() + most
    while len(times) < 7 and (time.perf_counter() < stop or len(times) < 3):
        start = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - start) / number)
    return statistics.median(times)


def measure(names: Sequence[str], rows: Sequence[int], linker: str) -> None:
    """Print the time of each form, relative to the one by hand."""
    within, whole = 0, 0
    for name in names or FORMS:
        form = FORMS[name]
        f = compiled(form, rw.Mode(linker=linker))
        for n in rows:
            arguments = values(form.kinds, min(n, 120) if name == "spelled_matmul" else n)
            same = np.allclose(f(*arguments), form.by_hand(*arguments))
            ours = seconds(lambda f=f, a=arguments: f(*a))  # type: ignore[misc]
            hand = seconds(lambda h=form.by_hand, a=arguments: h(*a))  # type: ignore[misc]
            ratio = ours / hand
            within, whole = within + (ratio <= 1.3), whole + 1
            mark = "" if ratio <= 1.3 else " *" if ratio <= 3 else " **"
            mark += "" if same else " WRONG"
            print(f"{name:22} {n:5} {ours * 1e6:10.1f} us {ratio:9.2f} x{mark}", flush=True)
    print(f"{within} of {whole} within 1.3 x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--linker", default="vm")
    parser.add_argument("--rows", type=int, action="append")
    given = parser.parse_args()
    measure(given.names, given.rows or [300, 1000], given.linker)
