"""tarn's method in plain NumPy, to be read from top to bottom in one evening.

Everything that moves a cluster stands here once, in the order in which a step needs it: units, water
models, forces, random numbers, bonds, steps, ring polymers. Numbers in parentheses are equations of
docs/equations.md. The engines compute the same in packs of replicas or molecules, in C++ and CUDA;
tests/python/test_reference.py compares 50 steps of three molecules with the engine.

    x = positions of the atoms O, H1, H2 of N molecules [A], shape (N, 3, 3)
    v = velocities [A/akma], a = accelerations [A/akma^2], f = forces [kcal/mol/A], the same shape

Run it to see one trajectory: python3 docs/reference/tarn_reference.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# --- units: angstrom, kcal/mol, dalton, elementary charge ------------------------------------------

FS_PER_AKMA = 48.88821  # sqrt(Da A^2 / (kcal/mol)) [fs]
BOLTZMANN = 0.0019872041  # [kcal/mol/K]
COULOMB = 332.0637  # [kcal A/mol/e^2]
HBAR = 6.62607015e-19 * 6.02214076e23 / 4184.0 / FS_PER_AKMA / (2.0 * np.pi)  # [kcal/mol akma]


# --- water models ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Charges on H, H and on O or M; Lennard-Jones A/r^12 - C/r^6 between oxygens."""

    r_oh: float  # [A]
    angle: float  # H-O-H [degrees]
    lj_a: float  # [kcal A^12/mol]
    lj_c: float  # [kcal A^6/mol]
    charge_h: float  # [e]
    w: float = 0.0  # r_M = r_O + w (r_H1 + r_H2 - 2 r_O), (2); 0: the charge is on O
    depth: float = 0.0  # D of flexible bonds [kcal/mol]; 0: rigid or penalised
    alpha: float = 0.0  # [1/A]
    bend: float = 0.0  # [kcal/mol/rad^2]
    masses: tuple[float, float, float] = (15.9994, 1.008, 1.008)  # [Da]

    @property
    def m(self):
        """Masses, to be multiplied with (N, 3, 3)."""
        return np.array(self.masses)[:, None]

    @property
    def bond_lengths(self):
        """Of O-H1, O-H2 and H1-H2, (1)."""
        return np.array([1.0, 1.0, 2.0 * np.sin(np.radians(self.angle) / 2.0)]) * self.r_oh


TIP3P = Model(0.9572, 104.52, 582.0e3, 595.0, 0.417)
TIP4P = Model(0.9572, 104.52, 600.0e3, 610.0, 0.52,
              w=0.15 / (2.0 * 0.9572 * np.cos(np.radians(52.26))))  # fmt: skip
QTIP4PF = Model(0.9419, 107.4, 4.0 * 0.1852 * 3.1589**12, 4.0 * 0.1852 * 3.1589**6, 0.5564,
                w=(1.0 - 0.73612) / 2.0, depth=116.09, alpha=2.287, bend=87.85)  # fmt: skip


# --- forces ------------------------------------------------------------------------------------------


def forces_between(model, x):
    """Energy of all pairs of molecules, without a cutoff, (3), and the forces, (4) and (5)."""
    o, h1, h2 = x[:, 0], x[:, 1], x[:, 2]
    sites = np.stack([o + model.w * (h1 + h2 - 2.0 * o), h1, h2], axis=1)
    charges = model.charge_h * np.array([-2.0, 1.0, 1.0])
    energy, on_sites, f = 0.0, np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = sites[i][:, None] - sites[j][None]  # (site of i, site of j, 3)
            r = np.linalg.norm(d, axis=2)
            e = COULOMB * np.outer(charges, charges) / r
            pairs = (e / r**2)[:, :, None] * d
            on_sites[i] += pairs.sum(axis=1)
            on_sites[j] -= pairs.sum(axis=0)
            d = o[i] - o[j]
            r2 = d @ d
            lj = (12.0 * model.lj_a / r2**6 - 6.0 * model.lj_c / r2**3) / r2 * d
            f[i, 0] += lj
            f[j, 0] -= lj
            energy += e.sum() + model.lj_a / r2**6 - model.lj_c / r2**3
    f[:, 1:] += on_sites[:, 1:] + model.w * on_sites[:, :1]  # (5): M passes its force on
    f[:, 0] += (1.0 - 2.0 * model.w) * on_sites[:, 0]
    return energy, f


def forces_within(model, x):
    """Energy and forces of flexible molecules: stretches (74) and bends (75)."""
    d = x[:, 1:] - x[:, :1]  # from O to H1 and H2
    r = np.linalg.norm(d, axis=2, keepdims=True)
    e, s = d / r, r - model.r_oh
    c2 = model.depth * model.alpha**2
    c3, c4 = -c2 * model.alpha, 7.0 / 12.0 * c2 * model.alpha**2
    energy = np.sum(s**2 * (c2 + s * (c3 + s * c4)))
    on_h = -s * (2.0 * c2 + s * (3.0 * c3 + 4.0 * s * c4)) * e
    cosine = np.sum(e[:, 0] * e[:, 1], axis=1)[:, None]
    bent = np.arccos(cosine) - np.radians(model.angle)
    energy += 0.5 * model.bend * np.sum(bent**2)
    pull = -model.bend * bent / np.sqrt(1.0 - cosine**2)
    on_h[:, 0] += pull / r[:, 0] * (cosine * e[:, 0] - e[:, 1])
    on_h[:, 1] += pull / r[:, 1] * (cosine * e[:, 1] - e[:, 0])
    return energy, np.concatenate([-on_h.sum(axis=1, keepdims=True), on_h], axis=1)


# --- random numbers ----------------------------------------------------------------------------------

WORD = 0xFFFFFFFF  # words have 32 bits
THERMOSTAT, START_VELOCITIES = 0, 1  # streams


def philox(counter, key):
    """Philox4x32-10 of four words with a key of two words (Salmon et al. 2011), (22)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def horner(x, coefficients):
    result = np.float32(coefficients[0])
    for c in coefficients[1:]:
        result = result * x + np.float32(c)
    return result


def box_muller(radius_word, angle_word):
    """Two normal numbers from 27 and 24 bits, in single precision, (23).

    tarn's polynomials, not np.log and np.cos: the noise has the same bits on every machine.
    """
    v = np.float32(radius_word >> 5) + np.float32(0.5)  # 2^27 u
    shifted = (int(v.view(np.uint32)) - 0x4CB504F3) & WORD
    exponent = (shifted >> 23) - (512 if shifted >> 31 else 0)
    f = np.uint32((shifted & 0x7FFFFF) + 0x3F3504F3).view(np.float32) - np.float32(1.0)
    p = horner(f, [0.202137858, -0.324451596, 0.345016599, -0.398003310, 0.499398172, -0.666701198,
                   1.00000727, -1.99999988])  # fmt: skip
    radius = np.sqrt(p * f + np.float32(exponent) * np.float32(-1.38629436))  # sqrt(-2 ln u)
    x = np.uint32(((angle_word >> 8) & 0x7FFFFF) | 0x3F800000).view(np.float32) - np.float32(
        1.5
    )  # half turns
    s = horner(x * x, [2.0**9 * 1.49283532e-4, -(2.0**7) * 4.66894731e-3, 2.0**5 * 7.96861798e-2,
                       -(2.0**3) * 6.45962775e-1, 2.0 * 1.57079625])  # fmt: skip
    c = horner(x * x, [2.0**8 * 8.59397172e-4, -(2.0**6) * 2.08134707e-2, 2.0**4 * 2.53652960e-1,
                       -(2.0**2) * 1.23369884, 1.0])  # fmt: skip
    r = -radius if angle_word >> 31 else radius
    return r * c, r * (s * x)


def molecule_normals(seed, replica, molecule, step, stream):
    """Nine normal numbers of one molecule at one step, shape (3, 3)."""
    w = []
    for call in (0, 1):
        high = (((step >> 32) << 8) | (stream << 2) | call) & WORD
        w += philox((step & WORD, high, molecule, replica), (seed & WORD, seed >> 32))
    # Four pairs take the high bits of two words each, the fifth takes the low bits that remain.
    radius = (w[0] << 5) ^ (w[2] & 31)
    radius = (((radius << 5) ^ (w[4] & 31)) << 5) ^ (w[6] & 31)
    radius = (((radius << 7) ^ (w[7] & 127)) << 5) & WORD
    angle = (((((w[1] << 8) ^ (w[3] & 255)) << 8) ^ (w[5] & 255)) << 8) & WORD
    pairs = [box_muller(w[2 * k], w[2 * k + 1]) for k in range(4)] + [box_muller(radius, angle)]
    return np.array(pairs, dtype=float).ravel()[:9].reshape(3, 3)


def normals(seed, replica, molecules, step, stream=THERMOSTAT):
    """Shape (molecules, 3, 3)."""
    return np.array([molecule_normals(seed, replica, m, step, stream) for m in molecules])


def start_velocities(model, x, temperature_K, seed=1, replica=0, rigid=False):
    """Maxwell's distribution; without a part along rigid bonds."""
    xi = normals(seed, replica, range(len(x)), 0, START_VELOCITIES)
    v = np.sqrt(BOLTZMANN * temperature_K / model.m) * xi
    return on_constraints(model, x, v) if rigid else v


# --- bonds -------------------------------------------------------------------------------------------


def constraints(model, x):
    """g = |d|^2 - length^2 of the three bonds of one molecule, (6), and its Jacobian (3, 9), (7)."""
    g, jacobian = np.zeros(3), np.zeros((3, 3, 3))
    for c, (start, end) in enumerate([(0, 1), (0, 2), (1, 2)]):
        d = x[end] - x[start]
        g[c] = d @ d - model.bond_lengths[c] ** 2
        jacobian[c, end], jacobian[c, start] = 2.0 * d, -2.0 * d
    return g, jacobian.reshape(3, 9)


def moved_onto_constraints(model, x_old, x_free):
    """x = x_free + M^-1 J(x_old)^T mu with g(x) = 0, (16): SHAKE, by Newton's method (18).

    SETTLE (19) is the closed form of the same x.
    """
    result = x_free.copy()
    for k in range(len(x_old)):
        along = constraints(model, x_old[k])[1].reshape(3, 3, 3) / model.m
        for _ in range(20):
            g, jacobian = constraints(model, result[k])
            mu = np.linalg.solve(jacobian @ along.reshape(3, 9).T, g)
            result[k] -= np.tensordot(mu, along, axes=1)
    return result


def on_constraints(model, x, v):
    """v - M^-1 J^T y with J v = 0, (20)."""
    result = v.copy()
    for k in range(len(x)):
        jacobian = constraints(model, x[k])[1]
        along = (jacobian.reshape(3, 3, 3) / model.m).reshape(3, 9)
        y = np.linalg.solve(jacobian @ along.T, jacobian @ v[k].ravel())
        result[k] -= (y @ along).reshape(3, 3)
    return result


# --- steps -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What a deck says of [integrator] and [thermostat]."""

    scheme: str = "settle"  # "settle", "zss-stiff" or "verlet" (of flexible molecules)
    timestep_fs: float = 2.0
    beta: float = 0.42  # of Z&Ss
    omega: float = 100.0  # stiffness of penalised bonds [sqrt(kcal/mol)/A^2]
    thermostat: str = "baoab"  # "baoab", "gla" or "none"
    temperature_K: float = 300.0
    friction_per_ps: float = 5.0
    seed: int = 1
    replica: int = 0

    @property
    def h(self):
        return self.timestep_fs / FS_PER_AKMA


def acceleration(model, settings, x):
    """M^-1 F of rigid and flexible molecules; Z&Ss solves one linear system per molecule.

    The matrix M + b h^2 omega^2 J^T J instead of M keeps stiff penalties (8) stable, (11).
    """
    _, f = forces_between(model, x)
    if settings.scheme == "verlet":
        f = f + forces_within(model, x)[1]
    if settings.scheme != "zss-stiff":
        return f / model.m
    a = np.zeros_like(x)
    mass, w2 = np.diag(np.repeat(model.masses, 3)), settings.omega**2
    bh2 = settings.beta * settings.h**2
    for k in range(len(x)):
        g, jacobian = constraints(model, x[k])
        matrix = mass + bh2 * w2 * jacobian.T @ jacobian
        a[k] = np.linalg.solve(matrix, f[k].ravel() - w2 * jacobian.T @ g).reshape(3, 3)
    return a


def reported(settings, x, a):
    """q = x + b h^2 a of Z&Ss, whose bonds are nearly rigid, (15); x of the other schemes."""
    return x + settings.beta * settings.h**2 * a if settings.scheme == "zss-stiff" else x


def drift(model, settings, x, v, h):
    """x + h v; rigid molecules are moved onto their constraints, which also changes v, (54)."""
    free = x + h * v
    if settings.scheme != "settle":
        return free, v
    x = moved_onto_constraints(model, x, free)
    return x, on_constraints(model, x, v + (x - free) / h)


def add_noise(model, settings, x, v, step, temperature_K, molecules, friction_per_ps=None):
    """The exact Ornstein-Uhlenbeck step of all velocities, O: (21)."""
    rate = settings.friction_per_ps if friction_per_ps is None else friction_per_ps
    decay = np.exp(-rate * settings.timestep_fs / 1000.0)
    spread = np.sqrt(BOLTZMANN * temperature_K / model.m * (1.0 - decay**2))
    v = decay * v + spread * normals(settings.seed, settings.replica, molecules, step)
    return on_constraints(model, x, v) if settings.scheme == "settle" else v


def take_step(model, settings, x, v, a, step):
    """One step: velocity Verlet (10) with the acceleration of the scheme, and Langevin noise (37).

    BAOAB has the noise in the middle of the drift, GLA after the step.
    """
    h = settings.h
    noise = settings.temperature_K, range(len(x))
    v = v + h / 2.0 * a
    if settings.thermostat == "baoab":
        x, v = drift(model, settings, x, v, h / 2.0)
        v = add_noise(model, settings, x, v, step, *noise)
        x, v = drift(model, settings, x, v, h / 2.0)
    else:
        x, v = drift(model, settings, x, v, h)
    a = acceleration(model, settings, x)
    v = v + h / 2.0 * a
    if settings.scheme == "settle":
        v = on_constraints(model, x, v)
    if settings.thermostat == "gla":
        v = add_noise(model, settings, x, v, step, *noise)
    return x, v, a


# --- ring polymers -----------------------------------------------------------------------------------


def wave_numbers(beads):
    """k of each normal mode: the centroid, cosines, sines, (80)."""
    cosines = (beads + 1) // 2
    return np.concatenate([np.arange(cosines), np.arange(1, beads - cosines + 1)])


def mode_matrix(beads):
    """The orthogonal matrix (mode, bead) from beads to normal modes, (80)."""
    k, j = wave_numbers(beads)[:, None], np.arange(beads)[None]
    angle = np.pi * k * (2 * j + 1) / beads
    is_sine = np.arange(beads)[:, None] >= (beads + 1) // 2
    alone = (k == 0) | (2 * k == beads)
    return np.sqrt(np.where(alone, 1.0, 2.0) / beads) * np.where(
        is_sine, np.sin(angle), np.cos(angle)
    )


def ring_acceleration(model, settings, q):
    """Accelerations of the modes: forces on each bead, transformed."""
    c = mode_matrix(len(q))
    beads = np.tensordot(c.T, q, axes=1)
    return np.tensordot(c, [acceleration(model, settings, x) for x in beads], axes=1)


def take_ring_step(model, settings, q, v, a, step):
    """One step BCOCB of the modes q, shape (P, N, 3, 3), at P times the temperature.

    C is half a step of the free ring polymer, by Cayley's map (81); O has the friction 2 omega_k of
    the internal modes, and that of the deck for the centroid (82).
    """
    (beads, molecules), h, kT = q.shape[:2], settings.h, BOLTZMANN * settings.temperature_K
    omega = 2.0 * beads * kT / HBAR * np.sin(np.pi * wave_numbers(beads) / beads)
    angle = np.arctan(omega * h / 2.0)
    v = v + h / 2.0 * a
    q, v = q.copy(), v.copy()
    for k in range(beads):
        cosine, sine = np.cos(angle[k]), np.sin(angle[k])
        over_omega = sine / omega[k] if k > 0 else h / 2.0
        friction_per_ps = 2.0 * omega[k] * 1000.0 / FS_PER_AKMA if k > 0 else None
        for half in (0, 1):
            q[k], v[k] = cosine * q[k] + over_omega * v[k], cosine * v[k] - omega[k] * sine * q[k]
            if half == 0:
                numbers = range(k * molecules, (k + 1) * molecules)
                v[k] = add_noise(model, settings, q[k], v[k], step,
                                 beads * settings.temperature_K, numbers, friction_per_ps)  # fmt: skip
    a = ring_acceleration(model, settings, q)
    return q, v + h / 2.0 * a, a


def start_ring(model, settings, x, beads):
    """All beads at x, with Maxwell's velocities of the centroid and of each internal mode."""
    q = np.zeros((beads, *x.shape))
    q[0] = np.sqrt(beads) * x
    t, seed, replica = settings.temperature_K, settings.seed, settings.replica
    v = [np.sqrt(beads) * start_velocities(model, x, t, seed, replica)]
    for k in range(1, beads):
        numbers = range(k * len(x), (k + 1) * len(x))
        xi = normals(seed, replica, numbers, 0, START_VELOCITIES)
        v.append(np.sqrt(BOLTZMANN * beads * t / model.m) * xi)
    return q, np.array(v)


# --- an example --------------------------------------------------------------------------------------


def molecule(model):
    """One molecule at the origin, in the plane z = 0."""
    half = np.radians(model.angle) / 2.0
    x, y = model.r_oh * np.cos(half), model.r_oh * np.sin(half)
    return np.array([[0.0, 0.0, 0.0], [x, y, 0.0], [x, -y, 0.0]])


def main():
    model, settings = TIP4P, Settings(temperature_K=100.0)
    x = molecule(model) + np.array([[0.0, 0.0, 0.0], [3.0, 0.2, 0.0], [1.5, 2.6, 0.3]])[:, None]
    v = start_velocities(model, x, settings.temperature_K, rigid=True)
    a = acceleration(model, settings, x)
    for step in range(101):
        if step % 20 == 0:
            potential, kinetic = forces_between(model, x)[0], 0.5 * np.sum(model.m * v * v)
            print(f"{step * settings.timestep_fs:6.1f} fs  potential {potential:8.4f} kcal/mol  "
                  f"kinetic {kinetic:8.4f} kcal/mol")  # fmt: skip
        x, v, a = take_step(model, settings, x, v, a, step)


if __name__ == "__main__":
    main()
