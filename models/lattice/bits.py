"""The lattice of the database model in Python: a vector of bits of which a larger one has fewer, and when to join.

    trellis check --python models/lattice/bits.py --assume monotone models/lattice/database-full.xml
"""

import trellis_mc as tr


class IntersectionBitVector:
    """Bits that are surely set: a larger element has fewer."""

    def __init__(self, dimensions):
        self.bits = [False] * dimensions

    def __le__(self, other):
        return all(mine or not theirs for mine, theirs in zip(self.bits, other.bits))

    def join(self, other):
        self.bits = [mine and theirs for mine, theirs in zip(self.bits, other.bits)]

    @tr.query("up")
    def num0s(self):
        return self.bits.count(False)

    @tr.query("down")
    def num1s(self):
        return self.bits.count(True)

    @tr.query("down")
    def __getitem__(self, i):
        return self.bits[i]

    @tr.update("up")
    def __setitem__(self, i, bit):
        self.bits[i] = bit != 0

    def __len__(self):
        return len(self.bits)

    @staticmethod
    def sample(random, dimensions):
        made = IntersectionBitVector(dimensions)
        made.bits = [random.random() < 0.5 for _ in made.bits]
        return made

    def __str__(self):
        return "".join("01"[bit] for bit in self.bits)


def join(x, y):
    """Two states may be joined unless what comes out could look full."""
    return x.aLogin.num0s() + y.aLogin.num0s() < len_of(x)


def len_of(state):
    """How many users there are."""
    return state.aLogin.num0s() + state.aLogin.num1s()
