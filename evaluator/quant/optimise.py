"""Small convex programs: quadratic with a budget and boxes, and equal risk contributions."""

import numpy as np

from evaluator.quant.arrays import BoolArray, FloatArray

_TOLERANCE = 1e-12
_MAX_STEPS = 2000
_NEWTON_STEPS = 100


def box_quadratic(matrix: FloatArray, linear: FloatArray, *, cap: float) -> FloatArray:
    """Return argmin w'Mw/2 - l'w with sum w = 1 and 0 <= w <= cap, by a primal active set.

    `matrix` is symmetric positive semidefinite; a ridge of 1e-10 of its mean diagonal makes the answer unique.
    """
    n = len(linear)
    scale = float(np.trace(matrix)) / n or 1.0
    m = matrix / scale + 1e-10 * np.eye(n)
    goal = linear / scale
    w = np.full(n, 1.0 / n)
    at_zero = np.zeros(n, dtype=bool)
    at_cap = np.full(n, cap <= 1.0 / n)
    for _ in range(_MAX_STEPS):
        free = ~(at_zero | at_cap)
        target = _equality_step(m, goal, w, free)
        step = target - w
        length, hit = _longest_step(w, step, free, cap)
        w = w + length * step
        if hit >= 0:
            at_zero[hit], at_cap[hit] = step[hit] < 0, step[hit] > 0
            w[hit] = 0.0 if step[hit] < 0 else cap
            continue
        released = _release(m @ w - goal, free, at_zero, at_cap)
        if released < 0:
            break
        at_zero[released] = at_cap[released] = False
    w = np.clip(w, 0.0, cap)
    return np.asarray(w / w.sum())


def _equality_step(m: FloatArray, goal: FloatArray, w: FloatArray, free: BoolArray) -> FloatArray:
    """Solve for the free weights with the fixed ones held, the sum kept at one."""
    count = int(free.sum())
    if count == 0:
        return w
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = m[np.ix_(free, free)]
    system[:count, count] = system[count, :count] = 1.0
    right = np.append(goal[free] - m[np.ix_(free, ~free)] @ w[~free], 1.0 - w[~free].sum())
    out = w.copy()
    out[free] = np.linalg.solve(system, right)[:count]
    return out


def _longest_step(w: FloatArray, step: FloatArray, free: BoolArray, cap: float) -> tuple[float, int]:
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step < 0, -w / step, np.where(step > 0, (cap - w) / step, np.inf))
    room = np.where(free & (np.abs(step) > _TOLERANCE), np.maximum(room, 0.0), np.inf)
    hit = int(np.argmin(room))
    return (1.0, -1) if room[hit] >= 1.0 else (float(room[hit]), hit)


def _release(gradient: FloatArray, free: BoolArray, at_zero: BoolArray, at_cap: BoolArray) -> int:
    """Return the bound whose release lowers the objective most; -1 at the optimum."""
    if free.any():
        level = float(gradient[free].mean())
    else:
        level = float((gradient[at_zero].min(initial=np.inf) + gradient[at_cap].max(initial=-np.inf)) / 2)
    if not np.isfinite(level):
        return -1
    gain = np.where(at_zero, level - gradient, np.where(at_cap, gradient - level, -np.inf))
    best = int(np.argmax(gain))
    return best if gain[best] > _TOLERANCE * max(1.0, abs(level)) else -1


def equal_risk(matrix: FloatArray) -> FloatArray:
    """Return w >= 0, sum 1, with w_i (Mw)_i equal for all i: Newton on y'My/2 - mean(log y)."""
    n = len(matrix)
    scale = float(np.trace(matrix)) / n or 1.0
    m = matrix / scale + 1e-14 * np.eye(n)
    y: FloatArray = np.asarray(1.0 / np.sqrt(n * np.diag(m)))
    for _ in range(_NEWTON_STEPS):
        gradient = m @ y - 1.0 / (n * y)
        if np.abs(gradient * y).max() < 1e-13:
            break
        move: FloatArray = np.asarray(np.linalg.solve(m + np.diag(1.0 / (n * y * y)), -gradient), dtype=float)
        shrinking = move < 0
        limit = float((0.9 * (y[shrinking] / -move[shrinking])).min(initial=1.0))
        y = np.asarray(y + _descend(m, np.asarray(y), move, limit) * move)
    return np.asarray(y / y.sum())


def _descend(m: FloatArray, y: FloatArray, move: FloatArray, limit: float) -> float:
    n = len(y)
    before = y @ m @ y / 2 - np.log(y).sum() / n
    length = limit
    while length > 1e-10:
        after = y + length * move
        if after @ m @ after / 2 - np.log(after).sum() / n <= before + 1e-15:
            return length
        length /= 2
    return length
