#!/usr/bin/env python3
"""The numbers of mechanics_pendula_test.cpp, from the equations and nothing of tarn's.

usage: python3 tests/regression/pendulum_numbers.py

Needs the standard library only, and takes a minute or two. Numbers in brackets are those of
docs/equations.md. The double pendulum of TO 4.1: masses 1, rods of lengths 1 and sqrt(2), gravity 1,
from (0, -1), (1, -2) at rest; beta = 0.4.
"""

import math

BETA = 0.4
START = [0.0, -1.0, 1.0, -2.0]


def solve(a, b):
    """Gauss's elimination with pivots; a and b are spoilt."""
    n = len(b)
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            for c in range(i, n):
                a[r][c] -= f * a[i][c]
            b[r] -= f * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][c] * b[c] for c in range(i + 1, n))) / a[i][i]
    return b


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def along(x, c, y):
    """x + c y"""
    return [p + c * q for p, q in zip(x, y)]


# --- the system, (42) and (44) ---


def constraints(x):
    dx, dy = x[2] - x[0], x[3] - x[1]
    return x[0] * x[0] + x[1] * x[1] - 1.0, dx * dx + dy * dy - 2.0


def gradients(x):
    dx, dy = 2.0 * (x[2] - x[0]), 2.0 * (x[3] - x[1])
    return [2.0 * x[0], 2.0 * x[1], 0.0, 0.0], [-dx, -dy, dx, dy]


# Of the constraints.
HESSIANS = (
    [[2.0 * (i == j and i < 2) for j in range(4)] for i in range(4)],
    [[2.0 * (i == j) - 2.0 * (abs(i - j) == 2) for j in range(4)] for i in range(4)],
)


def force(x, omega):
    """-grad V of penalty and gravity."""
    (g1, g2), (a, b), w = constraints(x), gradients(x), omega * omega
    f = [-w * (g1 * p + g2 * q) for p, q in zip(a, b)]
    f[1] -= 1.0
    f[3] -= 1.0
    return f


def shifted_mass(x, omega, weight):
    """M + weight * Hessian of V"""
    g, d = constraints(x), gradients(x)
    w = weight * omega * omega
    return [[float(i == j) + w * sum(d[k][i] * d[k][j] + g[k] * HESSIANS[k][i][j] for k in (0, 1))
             for j in range(4)] for i in range(4)]


def third_derivative(x, a, omega):
    total = [0.0] * 4
    for gradient, hessian in zip(gradients(x), HESSIANS):
        ha = [dot(row, a) for row in hessian]
        slope, bend = dot(gradient, a), dot(a, ha)
        total = [t + 2.0 * slope * p + bend * q for t, p, q in zip(total, ha, gradient)]
    return [omega * omega * t for t in total]


# --- methods, as generators of positions ---


def kick_drift_kick(h, acceleration):
    """(40)"""
    x, v = START[:], [0.0] * 4
    a = acceleration(x)
    while True:
        yield x
        x = [p + h * q + 0.5 * h * h * r for p, q, r in zip(x, v, a)]
        b = acceleration(x)
        v = [q + 0.5 * h * (r + s) for q, r, s in zip(v, a, b)]
        a = b


def verlet(h, omega):
    return kick_drift_kick(h, lambda x: force(x, omega))


def zss(h, omega):
    w = BETA * h * h
    return kick_drift_kick(h, lambda x: solve(shifted_mass(x, omega, w), force(x, omega)))


def zs(h, omega):
    w = BETA * h * h

    def acceleration(x):
        a = solve(shifted_mass(x, omega, w), force(x, omega))
        return along(a, -0.5 * w * w, third_derivative(x, a, omega))

    return kick_drift_kick(h, acceleration)


def variational_euler(h, omega):
    x, v = START[:], [0.0] * 4
    while True:
        yield x
        v = along(v, h, force(x, omega))
        x = along(x, h, v)


def implicit(c, w, a, omega):
    """a = -grad V(c + w a), by Newton's method."""
    for _ in range(50):
        q = along(c, w, a)
        step = solve(shifted_mass(q, omega, w), along(a, -1.0, force(q, omega)))
        a = along(a, -1.0, step)
        if max(map(abs, step)) < 1e-13 * max(map(abs, a)):
            break
    return a


def newmark(h, omega):
    """(41)"""
    x, v = START[:], [0.0] * 4
    a, w = force(x, omega), BETA * h * h
    while True:
        yield x
        c = [p + h * q + (0.5 - BETA) * h * h * r for p, q, r in zip(x, v, a)]
        b = implicit(c, w, a, omega)
        x = along(c, w, b)
        v = [q + 0.5 * h * (r + s) for q, r, s in zip(v, a, b)]
        a = b


def newmark_one_step(h, omega):
    """(41) with one step of Newton's from x; the next step begins with the force."""
    x, v, w = START[:], [0.0] * 4, BETA * h * h
    while True:
        yield x
        a = force(x, omega)
        c = [p + h * q + (0.5 - BETA) * h * h * r for p, q, r in zip(x, v, a)]
        step = solve(shifted_mass(x, omega, w), [p - q + w * r for p, q, r in zip(c, x, a)])
        x = [p + q for p, q in zip(x, step)]
        v = [q + 0.5 * h * (r + (s - t) / w) for q, r, s, t in zip(v, a, x, c)]


def midpoint(h, omega):
    x, v = START[:], [0.0] * 4
    while True:
        yield x
        a = implicit(along(x, 0.5 * h, v), 0.25 * h * h, force(x, omega), omega)
        x = [p + h * q + 0.5 * h * h * r for p, q, r in zip(x, v, a)]
        v = along(v, h, a)


def onto_constraints(y, x, lam, weight):
    """(43): y - weight * G(x)^T lambda on the constraints, by Newton's method; lambda with it."""
    d = gradients(x)
    for _ in range(50):
        q = [p - weight * (lam[0] * r + lam[1] * s) for p, r, s in zip(y, *d)]
        g, e = constraints(q), gradients(q)
        step = solve([[weight * dot(e[i], d[j]) for j in (0, 1)] for i in (0, 1)], list(g))
        lam = [p + r for p, r in zip(lam, step)]
        if max(map(abs, step)) * weight < 1e-15:
            break
    return [p - weight * (lam[0] * r + lam[1] * s) for p, r, s in zip(y, *d)], lam


GRAVITY = [0.0, -1.0, 0.0, -1.0]


def shake(h):
    """Two positions in a row; yields x and the multipliers at its time."""
    before = START
    x, lam = onto_constraints(along(before, 0.5 * h * h, GRAVITY), before, [0.0, 0.0], 0.5 * h * h)
    yield before, lam
    while True:
        y = [2.0 * p - q + h * h * r for p, q, r in zip(x, before, GRAVITY)]
        after, lam = onto_constraints(y, x, lam, h * h)
        yield x, lam
        before, x = x, after


def rattle(h):
    x, v, lam = START[:], [0.0] * 4, [0.0, 0.0]
    while True:
        yield x
        y = [p + h * q + 0.5 * h * h * r for p, q, r in zip(x, v, GRAVITY)]
        after, lam = onto_constraints(y, x, lam, 0.5 * h * h)
        v = [(p - q) / h for p, q in zip(after, x)]
        x = after
        v = along(v, 0.5 * h, GRAVITY)
        d = gradients(x)
        mu = solve([[dot(p, q) for q in d] for p in d], [dot(p, v) for p in d])
        v = [p - mu[0] * q - mu[1] * r for p, q, r in zip(v, *d)]


# --- the reference: Lagrange's equations in the angles ---


def rate(y):
    """Kinetic energy th1'^2 + th2'^2 + l th1' th2' cos(th1 - th2), l = sqrt(2)."""
    l, s, c = math.sqrt(2.0), math.sin(y[0] - y[1]), math.cos(y[0] - y[1])
    p = -l * s * y[3] * y[3] - 2.0 * math.sin(y[0])
    q = l * s * y[2] * y[2] - l * math.sin(y[1])
    det = 4.0 - 2.0 * c * c
    return [y[2], y[3], (2.0 * p - l * c * q) / det, (2.0 * q - l * c * p) / det]


def reference(end, every, h=1e-3):
    """(x2, y2) at 0, every, ..., end, by the classical Runge-Kutta method."""
    y, l, points = [0.0, math.pi / 4.0, 0.0, 0.0], math.sqrt(2.0), []
    for _ in range(round(end / every) + 1):
        points.append((math.sin(y[0]) + l * math.sin(y[1]), -math.cos(y[0]) - l * math.cos(y[1])))
        for _ in range(round(every / h)):
            a = rate(y)
            b = rate(along(y, 0.5 * h, a))
            c = rate(along(y, 0.5 * h, b))
            d = rate(along(y, h, c))
            y = [p + h / 6.0 * (q + 2.0 * r + 2.0 * s + t) for p, q, r, s, t in zip(y, a, b, c, d)]
    return points


def at_step(positions, n):
    for _ in range(n):
        next(positions)
    return next(positions)


def errors_to_fifty():
    points = reference(50.0, 0.1)
    print("Largest errors of x2 and y2 to t = 50, omega = 20")
    of = {
        "shake": ((x for x, _ in shake(0.1)), 1),
        "rattle": (rattle(0.1), 1),
        "exact": (verlet(0.1 / 200, 20.0), 200),
        "variational-euler": (variational_euler(0.1 / 20, 20.0), 20),
        "newmark": (newmark(0.1, 20.0), 1),
        "zs": (zs(0.1, 20.0), 1),
        "zss": (zss(0.1, 20.0), 1),
        "newmark-one-step": (newmark_one_step(0.1, 20.0), 1),
        "midpoint": (midpoint(0.1, 20.0), 1),
    }
    for name, (positions, inner) in of.items():
        worst = [0.0, 0.0]
        for point in points:
            x = next(positions)
            worst = [max(w, abs(p - q)) for w, p, q in zip(worst, x[2:], point)]
            for _ in range(inner - 1):
                next(positions)
        print(f"  {name:18} {worst[0]:.4f} {worst[1]:.4f}")


def rattle_at_ten():
    exact = at_step(rattle(1e-3), 10000)
    print("Error of RATTLE at t = 10")
    for h in (0.1, 0.05, 0.025):
        x = at_step(rattle(h), round(10.0 / h))
        print(f"  {h:<5} {math.dist(x, exact):.3g}")


def constraints_of_penalties():
    print("omega^2 times the largest |g| to t = 50: exact, zs with steps of 0.01")
    for omega in (20.0, 40.0, 80.0):
        worst = []
        for positions, steps in ((verlet(0.02 / omega, omega), round(2500 * omega)),
                                 (zs(0.01, omega), 5000)):
            worst.append(max(math.hypot(*constraints(next(positions))) for _ in range(steps + 1)))
        print(f"  {omega:<4g} {omega**2 * worst[0]:.3g} {omega**2 * worst[1]:.3g}")


def means_of_multipliers():
    h, half = 1e-4, 1000
    count = 100000
    run = shake(1e-3)
    lam = [next(run)[1] for _ in range(count // 10 + 1)]
    print("omega^2 g against lambda to t = 10: largest difference, of means over 0.2 about each time")
    for omega in (20.0, 40.0, 80.0, 160.0):
        positions, w = verlet(h, omega), omega * omega
        g = [[w * c for c in constraints(next(positions))] for _ in range(count + 1)]
        instant = max(abs(g[k][i] - lam[k // 10][i]) for k in range(0, count + 1, 10) for i in (0, 1))
        sums = [[0.0, 0.0]]  # of the trapezoidal rule
        for a, b in zip(g, g[1:]):
            sums.append([s + 0.5 * (p + q) for s, p, q in zip(sums[-1], a, b)])
        mean = max(abs((sums[k + half][i] - sums[k - half][i]) / (2 * half) - lam[k // 10][i])
                   for k in range(half, count - half + 1, 10) for i in (0, 1))
        print(f"  {omega:<4g} {instant:.3g} {mean:.3g}")


if __name__ == "__main__":
    errors_to_fifty()
    rattle_at_ten()
    constraints_of_penalties()
    means_of_multipliers()
