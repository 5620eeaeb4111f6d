"""Products of several pairs of vectors at once, the additions of each in their order.

Each addition to a sum waits for the one before; sums of different pairs do not wait for each other.
So they lie side by side, and one instruction adds to several of them. Meanwhile the memory brings
the vectors that come next: few at a time, as a core waits when it has asked for too many.
"""

from __future__ import annotations

from typing import Any

from harness._util.kernels import LINE, Instruction, generate_prefetch
from harness.algorithms.trainset import Codes, Floats

WIDTH = 4
"""Doubles that most processors add at once."""
PAIRS = 8
"""Pairs of vectors, at most: the additions of one half fill the waits of the other."""
DOUBLE_BYTES = 8


def _dot_products(
    pu: Floats,
    qi: Floats,
    users: Codes,
    items: Codes,
    first: int,
    stop: int,
    n_factors: int,
    sums: Floats,
) -> None:
    for row in range(first, stop):
        sums[row - first] = 0.0
        for f in range(n_factors):
            sums[row - first] += qi[items[row], f] * pu[users[row], f]


class _Code:
    """Writes the code of one call."""

    def __init__(self, context: Any, builder: Any, signature: Any, values: Any) -> None:
        from llvmlite import ir

        self.builder, self.number, self.index = builder, ir.DoubleType(), ir.IntType(64)
        self.vector, self.place = ir.VectorType(self.number, WIDTH), ir.IntType(32)
        arrays = [
            context.make_array(kind)(context, builder, value) if hasattr(kind, "dtype") else value
            for kind, value in zip(signature.args, values, strict=True)
        ]
        self.sides, self.codes = arrays[:2], arrays[2:4]
        self.first, self.stop, self.n_factors, self.sums = arrays[4:]

    def address(self, side: int, row: Any, n_rows: Any) -> Any:
        """Return where the vector of a row lies; for a row behind the last, the last row's."""
        from numba.core import cgutils

        builder, codes, vectors = self.builder, self.codes[side], self.sides[side]
        last = builder.sub(n_rows, self.index(1))
        row = builder.select(builder.icmp_signed("<", row, last), row, last)
        code = builder.sext(builder.load(builder.gep(codes.data, [row])), self.index)
        stride = cgutils.unpack_tuple(builder, vectors.strides)[0]
        return builder.add(builder.ptrtoint(vectors.data, self.index), builder.mul(code, stride))

    def numbers(self, address: Any, at: Any, kind: Any) -> Any:
        """Read one number or several of a vector."""
        place = self.builder.add(address, self.builder.mul(at, self.index(DOUBLE_BYTES)))
        numbers = self.builder.load(self.builder.inttoptr(place, kind.as_pointer()))
        numbers.align = DOUBLE_BYTES
        return numbers

    def shuffled(self, pair: list[Any], places: list[int]) -> Any:
        """Return numbers of two vectors of an instruction."""
        from llvmlite import ir

        mask = ir.Constant(ir.VectorType(self.place, WIDTH), places)
        return self.builder.shuffle_vector(*pair, mask)

    def columns(self, rows: list[Any]) -> list[Any]:
        """Turn four vectors of an instruction, so that the first numbers of all come first."""
        even, odd = (
            [
                self.shuffled(pair, [start, start + 4, start + 2, start + 6])
                for pair in (rows[:2], rows[2:])
            ]
            for start in (0, 1)
        )
        return [
            self.shuffled(pair, [start, start + 1, start + 4, start + 5])
            for start in (0, 2)
            for pair in (even, odd)
        ]

    def gathered(self, addresses: list[Any], at: Any) -> Any:
        """Return one number of each of four vectors."""
        from llvmlite import ir

        lanes = self.vector(ir.Undefined)
        for lane, address in enumerate(addresses):
            number = self.numbers(address, at, self.number)
            lanes = self.builder.insert_element(lanes, number, self.place(lane))
        return lanes


def _generate(context: Any, builder: Any, signature: Any, values: Any) -> None:
    from numba.core import cgutils

    code = _Code(context, builder, signature, values)
    index = code.index
    rows = [builder.add(code.first, index(pair)) for pair in range(PAIRS)]
    users, items = ([code.address(side, row, code.stop) for row in rows] for side in (0, 1))
    n_rows = cgutils.unpack_tuple(builder, code.codes[1].shape)[0]
    following = [builder.add(code.stop, index(pair)) for pair in range(PAIRS)]
    next_items = [code.address(1, row, n_rows) for row in following]
    halves = [slice(start, start + WIDTH) for start in range(0, PAIRS, WIDTH)]
    totals = [cgutils.alloca_once_value(builder, code.vector([0.0] * WIDTH)) for _ in halves]

    def add(total: Any, products: Any) -> None:
        builder.store(builder.fadd(builder.load(total), products), total)

    n_blocks = builder.udiv(code.n_factors, index(WIDTH))
    with cgutils.for_range(builder, n_blocks) as loop:
        at = builder.mul(loop.index, index(WIDTH))
        offset = builder.mul(at, index(DOUBLE_BYTES))
        begins_line = builder.icmp_signed("==", builder.urem(offset, index(LINE)), index(0))
        with builder.if_then(begins_line):
            for address in next_items:
                generate_prefetch(context, builder, None, [builder.add(address, offset)])
        for half, total in zip(halves, totals, strict=True):
            products = [
                builder.fmul(*(code.numbers(side, at, code.vector) for side in pair))
                for pair in zip(items[half], users[half], strict=True)
            ]
            for column in code.columns(products):
                add(total, column)
    rest = builder.mul(n_blocks, index(WIDTH))
    with cgutils.for_range_slice(builder, rest, code.n_factors, index(1)) as (at, _):
        for half, total in zip(halves, totals, strict=True):
            add(total, builder.fmul(code.gathered(items[half], at), code.gathered(users[half], at)))
    for half, total in zip(halves, totals, strict=True):
        start = builder.gep(code.sums.data, [index(half.start)])
        start = builder.bitcast(start, code.vector.as_pointer())
        builder.store(builder.load(total), start).align = DOUBLE_BYTES


dot_products = Instruction(_dot_products, _generate)
"""``dot_products(pu, qi, users, items, first, stop, n_factors, sums)``: write the products of the
vectors of some rows' users and items, at most `PAIRS`, into `sums`, which has as many places. The
places behind the rows' places are not sums of theirs."""
