"""The likelihood of a linear state space model by a Kalman filter, with its gradient."""

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

rng = np.random.default_rng(0)
ys = pt.matrix("ys")
A, C = pt.matrix("A"), pt.matrix("C")
lq, lr = pt.scalar("lq"), pt.scalar("lr")
Q, R = pt.exp(lq) * pt.eye(2), pt.exp(lr) * pt.eye(1)


def step(y, m, P, A, C, Q, R):
    """One prediction and one correction."""
    mp = A @ m
    Pp = A @ P @ A.T + Q
    S = C @ Pp @ C.T + R
    K = Pp @ C.T @ pt.linalg.inv(S)
    r = y - C @ mp
    _sign, logdet = pt.linalg.slogdet(S)
    ll = -0.5 * (logdet + r @ pt.linalg.inv(S) @ r + np.log(2 * np.pi))
    return mp + K @ r, Pp - K @ S @ K.T, ll


(ms, Ps, lls), _ = rw.scan(
    step, sequences=[ys], outputs_info=[pt.zeros(2), pt.eye(2), None], non_sequences=[A, C, Q, R]
)
ll = lls.sum()
f = rw.function([ys, A, C, lq, lr], [ll, *rw.grad(ll, [A, lq, lr])], name="kalman")
f(rng.normal(size=(20, 1)), np.array([[1.0, 0.1], [0.0, 0.9]]), np.array([[1.0, 0.0]]), 0.0, 0.0)
