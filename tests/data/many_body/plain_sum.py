#!/usr/bin/env python3
"""MB-pol of one cluster as plain loops over lists of numbers, from the published formulas.

usage: plain_sum.py STRUCTURE.xyz ... > sums.txt
Prints the terms and the positions of each structure. Nothing here is shared with the program except
the coefficients; polynomials are summed over their permutations as they stand in the files.
"""

import itertools
import math
import pathlib
import sys

DATA = pathlib.Path(__file__).resolve().parents[3] / "data/many_body"


def rows(name):
    lines = (DATA / name).read_text().splitlines()
    return [[float(word) for word in line.split(",")] for line in lines if line[0] != "#"]


MONOMER, CHARGES = rows("monomer.csv"), rows("charges.csv")
R_E, C_E = 0.958649, -0.24780227221366464506


def bonds(m):
    r1, r2 = math.dist(m[0], m[1]), math.dist(m[0], m[2])
    c = sum((m[1][k] - m[0][k]) * (m[2][k] - m[0][k]) for k in range(3)) / (r1 * r2)
    return r1, r2, c


def one_body(m):
    r1, r2, c = bonds(m)
    x1, x2, x3 = (r1 - R_E) / R_E, (r2 - R_E) / R_E, c - C_E
    terms = []
    for a, b, d, e, i, j, k in MONOMER:
        value = 0.999677885 * a + 0.15860145369897 * b - 1.6351695982132 * d + e
        i, j, k = i - 1, j - 1, k - 1
        terms.append(value * (x1**i * x2**j + x1**j * x2**i) * x3**k)
    depth, kappa = 0.999677885 * 42290.92019288289, 12.66426998162947
    repulsion = 0.999677885 * 16.94879431193463 * math.exp(kappa)
    total = repulsion * math.exp(-kappa * math.dist(m[1], m[2])) + terms[0] + 0.44739574026257
    total += math.exp(-2 * ((r1 - R_E) ** 2 + (r2 - R_E) ** 2)) * sum(terms[1:])
    for r in (r1, r2):
        e = math.exp(-2.587949757553683 * (r - 0.9519607159623009))
        total += depth * (e * e - 2 * e)
    return total * 100 * 6.02214129e23 * 6.62606957e-34 * 299792458 / 4184


def charges(m):
    r1, r2, c = bonds(m)
    q = []
    for ra, rb in ((r1, r2), (r2, r1)):
        xa, xb, x3 = (ra - R_E) / R_E, (rb - R_E) / R_E, c - C_E
        p = sum(t[0] * xa ** (t[1] - 1) * xb ** (t[2] - 1) * x3 ** (t[3] - 1) for t in CHARGES[1:])
        legendre = 1.0099 - 0.1801 * c + 0.0892 * (3 * c * c - 1) / 2
        w = 0.2999 * (r1**-0.6932 + r2**-0.6932) * legendre * 0.52917721092
        q.append(CHARGES[0][0] + p * math.exp(-((r1 - R_E) ** 2) - (r2 - R_E) ** 2) + w)
    gamma = 1 - 0.426706882
    beta = 0.426706882 / (2 * gamma)
    return [0.0, q[0] + beta * sum(q), q[1] + beta * sum(q), -sum(q) / gamma]


def switch(r, a, b):
    return 1.0 if r <= a else 0.0 if r >= b else (1 + math.cos(math.pi * (r - a) / (b - a))) / 2


def orbit_sum(name, variables, permutations):
    """The polynomial; permutations are maps of the variables."""
    total = 0.0
    for coefficient, *monomial in rows(name):
        images = {tuple(sorted(p[int(v)] for v in monomial)) for p in permutations}
        total += coefficient * sum(math.prod(variables[v] for v in image) for image in images)
    return total


def variable_maps(pairs, site_maps):
    number = {frozenset(pair): k for k, pair in enumerate(pairs)}
    return [[number[frozenset(sites[s] for s in pair)] for pair in pairs] for sites in site_maps]


def site_maps(molecules, swaps):
    """All permutations of molecules, times the swaps of sites within each."""
    maps = []
    for order in itertools.permutations(molecules):
        for chosen in itertools.product(*[list(itertools.product((0, 1), repeat=len(swaps)))] * len(order)):
            sites = {}
            for old, new, bits in zip(molecules, order, chosen):
                names = dict(zip("OHhXx", "OHhXx"))
                for (s, t), bit in zip(swaps, bits):
                    if bit:
                        names[s], names[t] = t, s
                for s in "OHhXx":
                    sites[old + s] = new + names[s]
            maps.append(sites)
    return maps


def two_body(a, b):
    r = math.dist(a[0], b[0])
    if r < 2 or r >= 6.5:
        return 0.0
    sites = {}
    for name, (o, h1, h2) in (("a", a), ("b", b)):
        d1, d2 = [h1[k] - o[k] for k in range(3)], [h2[k] - o[k] for k in range(3)]
        normal = [d1[k - 2] * d2[k - 1] - d1[k - 1] * d2[k - 2] for k in range(3)]
        sites.update(zip((name + "O", name + "H", name + "h"), (o, h1, h2)))
        for lone, sign in (("X", 1), ("x", -1)):
            sites[name + lone] = [
                o[k] - 0.09721486914088159 / 2 * (d1[k] + d2[k]) + sign * 0.0985927207840615 * normal[k]
                for k in range(3)
            ]
    pairs = """aHah bHbh aOaH aOah bObH bObh aHbH aHbh ahbH ahbh aObH aObh bOaH bOah aObO aXbH aXbh
        axbH axbh bXaH bXah bxaH bxah aObX aObx bOaX bOax aXbX aXbx axbX axbx""".split()
    pairs = [(pair[:2], pair[2:]) for pair in pairs]
    kinds = [(-0.6480884773303821, 1, 0)] * 2 + [(1.674518993682975, 1, 0)] * 4
    kinds += [(1.148231864355956, 4, 1)] * 4 + [(1.205989761123099, 4, 1)] * 4
    kinds += [(1.395357065790959, 4, 1)] + [(0.7347036852042255, 4, 0)] * 8
    kinds += [(0.7998249864422826, 4, 0)] * 4 + [(0.7960663960630585, 4, 0)] * 4
    variables = []
    for (s, t), (k, d, power) in zip(pairs, kinds):
        distance = math.dist(sites[s], sites[t])
        variables.append(math.exp(k * (d - distance)) / distance**power)
    maps = variable_maps(pairs, site_maps("ab", [("H", "h"), ("X", "x")]))
    return switch(r, 4.5, 6.5) * orbit_sum("two_body.csv", variables, maps)


def three_body(a, b, c):
    distances = [math.dist(p[0], q[0]) for p, q in ((a, b), (a, c), (b, c))]
    s = [switch(r, 0, 4.5) for r in distances]
    factor = s[0] * s[1] + s[0] * s[2] + s[1] * s[2]
    if factor == 0 or min(distances) < 2:
        return 0.0
    sites = {m + s: x for m, atoms in zip("abc", (a, b, c)) for s, x in zip("OHh", atoms)}
    hydrogens = lambda m: (m + "H", m + "h")
    pairs = [hydrogens(m) for m in "abc"]
    pairs += [(m + "O", h) for m in "abc" for h in hydrogens(m)]
    for m, others in (("a", "bc"), ("b", "c")):
        pairs += [(h, g) for h in hydrogens(m) for n in others for g in hydrogens(n)]
    pairs += [(m + "O", h) for m in "abc" for n in "abc" if n != m for h in hydrogens(n)]
    pairs += [("aO", "bO"), ("aO", "cO"), ("bO", "cO")]
    kinds = [(-2.254303257872797, 1.690594510379166)] * 3
    kinds += [(-0.2564771901404151, -2.999999868517452)] * 6
    kinds += [(0.4247920544074333, 3.499031358429095)] * 12
    kinds += [(0.8128985941165371, 4.854042963514281)] * 12
    kinds += [(0.0374945798461648, 4.816312044947604e-8)] * 3
    variables = [math.exp(k * (d - math.dist(sites[s], sites[t]))) for (s, t), (k, d) in zip(pairs, kinds)]
    maps = variable_maps(pairs, site_maps("abc", [("H", "h")]))
    return factor * orbit_sum("three_body.csv", variables, maps)


def dispersion(a, b):
    constants = [(237.32122131931163, 9.29548582), (83.49556668260037, 9.77520243)]
    constants.append((20.09358599426386, 9.40647517))
    total = 0.0
    for s, t in itertools.product(range(3), repeat=2):
        c6, delta = constants[(s > 0) + (t > 0)]
        r = math.dist(a[s], b[t])
        x = delta * r
        damping = 1 - math.exp(-x) * sum(x**n / math.factorial(n) for n in range(7))
        total -= c6 * damping / r**6
    return total


def upper_gamma(u):
    """Gamma(3/4, u), by the series of the lower function or the continued fraction."""
    a = 0.75
    if u < 2:
        total = term = 1 / a
        for n in range(1, 80):
            term *= u / (a + n)
            total += term
        return math.gamma(a) - u**a * math.exp(-u) * total
    fraction = 0.0
    for n in range(300, 0, -1):
        fraction = n * (a - n) / (u + 2 * n + 1 - a + fraction)
    return math.exp(-u) * u**a / (u + 1 - a + fraction)


def electrostatics(cluster):
    polarisability = [1.310, 0.294, 0.294, 1.310]
    positions, q, molecule = [], [], []
    for number, m in enumerate(cluster):
        middle = [0.573293118 * m[0][k] + 0.213353441 * (m[1][k] + m[2][k]) for k in range(3)]
        positions += [*m, middle]
        q += charges(m)
        molecule += [number] * 4
    n = len(positions)

    def damping(i, j, tau):
        r = math.dist(positions[i], positions[j])
        scale = (polarisability[i % 4] * polarisability[j % 4]) ** (1 / 6)
        u = tau * (r / scale) ** 4
        return r, scale, u, math.exp(-u)

    energy, field = 0.0, [[0.0] * 3 for _ in range(n)]
    for i, j in itertools.permutations(range(n), 2):
        if molecule[i] == molecule[j]:
            continue
        r, scale, u, e = damping(i, j, 0.4)
        energy += q[i] * q[j] * (1 - e + 0.4**0.25 * r / scale * upper_gamma(u)) / r / 2
        for k in range(3):
            field[i][k] -= (positions[j][k] - positions[i][k]) * (1 - e) / r**3 * q[j]
    atoms = [i for i in range(n) if i % 4 < 3]
    size = 3 * len(atoms)
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    for row, i in enumerate(atoms):
        for k in range(3):
            matrix[3 * row + k][size] = field[i][k]
            matrix[3 * row + k][3 * row + k] = 1 / polarisability[i % 4]
        for column, j in enumerate(atoms):
            if i == j:
                continue
            is_bond = molecule[i] == molecule[j] and (i % 4 == 0 or j % 4 == 0)
            r, _, u, e = damping(i, j, 0.626 if is_bond else 0.055)
            t3, t5 = (1 - e) / r**3, (1 - e - 4 / 3 * u * e) / r**5
            d = [positions[j][k] - positions[i][k] for k in range(3)]
            for k, l in itertools.product(range(3), repeat=2):
                matrix[3 * row + k][3 * column + l] = t3 * (k == l) - 3 * t5 * d[k] * d[l]
    for pivot in range(size):  # Gauss-Jordan; the matrix is positive definite
        top = matrix[pivot]
        for row in matrix:
            if row is top or row[pivot] == 0:
                continue
            factor = row[pivot] / top[pivot]
            for k in range(pivot, size + 1):
                row[k] -= factor * top[k]
    induction = 0.0
    for row, i in enumerate(atoms):
        for k in range(3):
            equation = matrix[3 * row + k]
            induction -= field[i][k] * equation[size] / equation[3 * row + k] / 2
    coulomb = 138.9354558456 * 10 / 4.184
    return coulomb * energy, coulomb * induction


def main():
    print("# made by plain_sum.py; the format is that of reference.txt")
    for path in sys.argv[1:]:
        lines = pathlib.Path(path).read_text().splitlines()
        atoms = [[float(w) for w in line.split()[1:4]] for line in lines[2 : 2 + int(lines[0])]]
        cluster = [atoms[k : k + 3] for k in range(0, len(atoms), 3)]
        terms = [
            math.fsum(map(one_body, cluster)),
            math.fsum(two_body(*pair) for pair in itertools.combinations(cluster, 2)),
            math.fsum(three_body(*triple) for triple in itertools.combinations(cluster, 3)),
            math.fsum(dispersion(*pair) for pair in itertools.combinations(cluster, 2)),
            *electrostatics(cluster),
        ]
        print(pathlib.Path(path).stem, len(cluster), 0)
        print(*map(repr, [*terms, math.fsum(terms)]))
        for atom in atoms:
            print(*map(repr, atom))


if __name__ == "__main__":
    main()
