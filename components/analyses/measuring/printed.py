"""Numbers of vectors as they were printed or stored: how far rounding may have moved each of them."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
BITS = {"float16": 11, "bfloat16": 8}  # that a float of this kind keeps
SINGLE = 24
SUBNORMAL = 2.0**-25  # half of what float16 tells apart nearest to zero
BYTE = 128
DIGITS = 7  # as many and more are those of single precision
NOISE, MOST = 1.2e-7, 0.02  # of a digit's place: single precision, and where more is another number


@dataclass(frozen=True, eq=False)
class Printed:
    """Numbers (n, N) of n vectors, with how far rounding may have moved each: ``half``, (n, N).

    ``stored``: "int8", "binary" where the numbers are signs, -1 or 1, or "".
    """

    numbers: Doubles
    half: Doubles
    stored: str = ""

    @property
    def lengths(self) -> Doubles:
        """Lengths of the vectors: (n,). Numbers may be so large that their squares are not finite."""
        return np.array([math.hypot(*vector) for vector in self.numbers])

    @property
    def rounding(self) -> float:
        """Tell how far rounding may have moved a vector, over its length; of several, the most."""
        return float(np.linalg.norm(self.half / self.lengths[:, None], axis=1).max())

    def beyond(self, vectors: Doubles, loose: float = 0.0) -> tuple[Doubles, Doubles]:
        """Measure what rounding does not explain of the distance to ``vectors`` (M, n, N) of any length.

        Gives the distance over the length, of n texts the farthest (M,), and by what each is multiplied to
        come nearest (M, n). ``loose``: part of each number by which it may have been moved besides.
        """
        half = self.half + loose * np.abs(self.numbers)
        safe = np.where(vectors == 0, np.finfo(np.float64).tiny, vectors)
        with np.errstate(over="ignore"):
            ends = np.stack([(self.numbers - half) / safe, (self.numbers + half) / safe])
        low, high = ends.min(axis=0).max(axis=2), ends.max(axis=0).min(axis=2)  # (M, n): all numbers agree
        nearest = (self.numbers * vectors).sum(axis=2) / np.square(vectors).sum(axis=2)
        scale = np.where(low <= high, np.clip(nearest, low, np.maximum(low, high)), nearest)
        left = np.maximum(np.abs(self.numbers - scale[:, :, None] * vectors) - half, 0)
        return np.linalg.norm(left / self.lengths[:, None], axis=2).max(axis=1), scale


def read_printed(vectors: Sequence[Sequence[float]], widths: Collection[int]) -> tuple[Printed, ...]:
    """Tell how n vectors (n, N) may be rounded: by decimals, digits, kind of float, or what is stored.

    ``widths``: numbers that vectors may have; eight signs in each byte of vectors that are so much shorter.
    """
    numbers = np.array(vectors, dtype=np.float64)
    least, most, width = numbers.min(), numbers.max(), numbers.shape[1]
    if (numbers != np.rint(numbers)).any() or least < -BYTE or most >= 2 * BYTE:
        return (Printed(numbers, max(roundings(numbers), key=lambda half: float(half.mean()))),)
    stored = Printed(numbers, np.ones_like(numbers), stored="int8")  # rounded, or cut towards zero
    if width not in widths and 8 * width in widths and most < (BYTE if least < 0 else 2 * BYTE):
        bytes_ = (numbers + (BYTE if least < 0 else 0)).astype(np.uint8)
        return stored, _signs(np.unpackbits(bytes_, axis=1))
    are_signs = set(np.unique(numbers)) <= {0.0, 1.0} or set(np.unique(numbers)) <= {-1.0, 1.0}
    return (_signs(numbers) if are_signs else stored,)


def _signs(bits: Doubles | NDArray[np.uint8]) -> Printed:
    signs = np.where(bits > 0, 1.0, -1.0)
    return Printed(signs, np.zeros_like(signs), stored="binary")


def roundings(numbers: Doubles) -> Iterator[Doubles]:
    """Ways to round that leave ``numbers`` (n, N) as they are: how far each of them moves every number."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that these kinds do not have
        single = numbers.astype(np.float32).astype(np.float64)
        shortest = numbers.astype(np.float16).astype(str).astype(np.float64)
    yield np.ldexp(np.abs(numbers), -SINGLE)
    mantissa, power = np.frexp(single)
    held = (np.abs(single - numbers) <= NOISE * np.abs(numbers)).all()
    for kind, bits in BITS.items():
        scaled = np.ldexp(mantissa, bits)
        exact = held and (scaled == np.rint(scaled)).all()
        if exact or (kind == "float16" and (shortest == numbers).all()):
            yield np.maximum(np.ldexp(0.5, power - bits), SUBNORMAL)
    size = np.abs(numbers)
    exponent = np.floor(np.log10(np.where(size > 0, size, size[size > 0].min()))).clip(-200, 200)
    for digits in range(DIGITS):
        for place in (np.full_like(numbers, digits), digits - exponent):  # decimals, then significant digits
            scaled = numbers * 10.0**place
            if (np.abs(scaled - np.rint(scaled)) <= np.minimum(NOISE * np.abs(scaled), MOST)).all():
                yield 0.5 / 10.0**place
