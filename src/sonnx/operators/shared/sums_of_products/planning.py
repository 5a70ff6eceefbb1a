"""Which compiled functions execute a sum of products over windows, and the memory they need in between."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, prod

from sonnx.model.dtype import DType
from sonnx.numeric.products import ACCUMULATOR
from sonnx.operators.shared.convolution import Axis
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels, Scratch, Variant

# A tile of sums: at most so many broadcast numbers times two vectors (TALL of sums.h), at least so many.
_TALL, _LEAST_TALL = 6, 4
# Terms that are done at a time: what they take of the input stays in the cache nearest to the processor.
_TERMS = 576
# Tiles that share a block of weights, and tasks that every thread should find.
_TILES, _TASKS = 4, 16
# The share of a vector below which the columns of Y are too few for it.
_NARROW = 2
# Lines of outputs that are done at a time where each channel has a kernel of its own.
_STRIP = 16
_LINE = 64  # bytes of a cache line
_C_TYPES = {DType.FLOAT16: "uint16_t", DType.FLOAT: "float", DType.DOUBLE: "double"}
_BYTES = {DType.FLOAT: 4, DType.DOUBLE: 8}


@dataclass(frozen=True)
class Sums:
    """What is summed, by the names of tensors: Y = B + Σ windows of X · W, where B may be absent.

    X has the axes batch, channel, line and column, W output, channel, line and column. Windows slide along
    lines and columns, and meet zeros around X; channels may be in groups. `fused` rounds once a term.
    """

    X: str
    W: str
    B: str | None
    Y: str
    down: Axis
    along: Axis
    group: int
    fused: bool


@dataclass(frozen=True)
class Parameters:
    """`struct parameters` of sums.h, field by field."""

    batch: int
    channels: int
    outputs: int
    height: int
    width: int
    out_height: int
    out_width: int
    kernel_height: int
    kernel_width: int
    stride_height: int
    stride_width: int
    dilation_height: int
    dilation_width: int
    pad_top: int
    pad_left: int
    padded_height: int
    row: int
    phase: int
    plane: int
    block: int
    rows: int
    tiles: int
    scratch: int
    biased: int
    followed: int
    beside: int

    @property
    def pixels(self) -> int:
        """The elements of one channel of Y."""
        return self.out_height * self.out_width

    @property
    def taps(self) -> int:
        """The elements of one channel of a kernel."""
        return self.kernel_height * self.kernel_width

    @property
    def terms(self) -> int:
        """The products of one sum."""
        return self.channels * self.taps


def kernels_of(request: KernelRequest, sums: Sums) -> NodeKernels | None:
    """The calls for a sum; None where there are no kernels for its groups, or nothing to sum."""
    X, W, Y = (request.types[name].sizes or () for name in (sums.X, sums.W, sums.Y))
    dtype = request.types[sums.X].dtype
    depthwise = sums.group > 1
    if 0 in (*X, *W, *Y) or (depthwise and not sums.group == X[1] == W[0]):
        return None
    assert dtype in _C_TYPES  # the graph conforms
    # Where there is one position only, nobody strides; a stride takes memory.
    down, along = (
        replace(axis, stride=1) if count == 1 else axis
        for count, axis in zip(Y[2:], (sums.down, sums.along), strict=True)
    )
    lanes = request.vector_bytes // _BYTES[ACCUMULATOR[dtype]]
    p = _parameters(request, sums.B is not None, (X, W, Y), (down, along), lanes)
    plan = _Plan(request, replace(sums, down=down, along=along), dtype, p)
    if depthwise:
        (_across if p.out_width <= lanes // _NARROW else _depthwise)(plan, lanes)
    else:
        pads = down.begin, down.end, along.begin, along.end
        direct = dtype is not DType.FLOAT16 and along.stride == 1 and not any(pads)
        if direct:
            plan.p = replace(p, row=p.width, phase=0, plane=p.height * p.width)
        (_swapped if _is_small(p, 2 * lanes) else _dense)(plan, 2 * lanes, direct)
    return NodeKernels(tuple(plan.calls), tuple(plan.memory))


def _parameters(
    request: KernelRequest,
    biased: bool,
    shapes: Sequence[tuple[int, ...]],
    axes: tuple[Axis, Axis],
    lanes: int,
) -> Parameters:
    """What all kernels need to know; `rows`, `tiles` and `scratch` are each one's own."""
    X, W, Y = shapes
    down, along = axes
    padded_height, padded_width = down.padded_size(X[2]), along.padded_size(X[3])
    row = ceil(padded_width / along.stride)
    phase = padded_height * row
    # An odd number of lines spreads channels over a cache.
    per_line = max(1, _LINE * lanes // request.vector_bytes)
    lines = ceil(along.stride * phase / per_line) | 1
    terms = prod(W[1:])
    # By what belongs together; a line for each would be thirty.
    return Parameters(
        batch=X[0], channels=X[1], outputs=W[0], height=X[2], width=X[3], out_height=Y[2], out_width=Y[3],
        kernel_height=down.kernel, kernel_width=along.kernel,
        stride_height=down.stride, stride_width=along.stride,
        dilation_height=down.dilation, dilation_width=along.dilation,
        pad_top=down.begin, pad_left=along.begin,
        padded_height=padded_height, row=row, phase=phase, plane=lines * per_line,
        block=ceil(terms / ceil(terms / _TERMS)), rows=0, tiles=1, scratch=0,
        biased=int(biased), followed=int(request.after is not None),
        beside=0 if request.after is None else len(request.after.reads),
    )  # fmt: skip


def _filled(count: int) -> int:
    """Things in tiles of at most _TALL, with idle ones where there are fewer than the smallest tile has.

    `columns` of swapped.c says the same of pixels.
    """
    parts = ceil(count / _TALL)
    return count if count // parts >= _LEAST_TALL else _LEAST_TALL * parts


def _is_small(p: Parameters, wide: int) -> bool:
    """Tell whether vectors of pixels would idle more than vectors of channels."""
    dense = p.pixels / (ceil(p.pixels / wide) * wide) * p.outputs / _filled(p.outputs)
    swapped = p.outputs / (ceil(p.outputs / wide) * wide) * p.pixels / _filled(p.pixels)
    return swapped > 1.1 * dense


@dataclass
class _Plan:
    """The calls and the memory of one node, as they are found out."""

    request: KernelRequest
    sums: Sums
    dtype: DType
    p: Parameters
    calls: list[KernelCall] = field(default_factory=list)
    memory: list[Scratch] = field(default_factory=list)

    @property
    def variant(self) -> Variant:
        """The element type, and how products are added; the product of two float16 is exact in float."""
        held = ACCUMULATOR[self.dtype]
        half = self.dtype is DType.FLOAT16
        fused = self.sums.fused and not half
        name = str(self.dtype) if half else f"{self.dtype}_{'fused' if fused else 'separate'}"
        macros = {
            "VARIANT": name,
            "VECTOR_BYTES": str(self.request.vector_bytes),
            "TYPE": _C_TYPES[self.dtype],
            "SUM": _C_TYPES[held],
            "SUM_BYTES": str(_BYTES[held]),
            "HALF": str(int(half)),
            "FUSED": str(int(fused)),
        }
        return Variant(name, tuple(macros.items()))

    @property
    def bias(self) -> tuple[str, ...]:
        """B, where there is one."""
        return () if self.sums.B is None else (self.sums.B,)

    def scratch(self, name: str, elements: int, dtype: DType | None = None) -> str:
        """Memory for sums and what they are made of; each thread has its own for those that it works at."""
        own = f"{self.request.prefix}{name}"
        self.memory.append(Scratch(own, dtype or ACCUMULATOR[self.dtype], elements, name == "sums"))
        return own

    def call(
        self,
        file: str,
        function: str,
        reads: Sequence[str],
        writes: Sequence[str],
        tasks: int,
        after: KernelCall | None = None,
    ) -> None:
        """One more call on these buffers."""
        path = f"shared/sums_of_products/{file}.c"
        made = (self.variant, tuple(asdict(self.p).items()), tuple(reads), tuple(writes), tasks)
        self.calls.append(KernelCall(path, f"sums_{function}", *made, after=after))

    def result(self, file: str, reads: Sequence[str], tasks: int) -> None:
        """The call that makes Y, with what is done with it at once and the memory that a thread works at."""
        writes, after = (self.sums.Y, self.scratch("sums", self.p.scratch)), self.request.after
        self.call(file, file, (*reads, *(after.reads if after else ())), writes, tasks, after)

    def offsets(self) -> str:
        """Where the taps of the kernel lie in the padded input, which depends on no tensor."""
        found = self.scratch("offsets", self.p.taps, DType.INT64)
        self.call("pad", "offsets", (), (found,), self.p.kernel_height)
        return found

    def padded(self, direct: bool) -> str:
        """The padded input; X itself where nothing is to be added."""
        if direct:
            return self.sums.X
        planes = self.p.batch * self.p.channels
        found = self.scratch("padded", planes * self.p.plane)
        self.call("pad", "pad", (self.sums.X,), (found,), planes)
        return found

    def packed(self, file: str, function: str, elements: int, tasks: int) -> str:
        """The weights and the bias in the order of use."""
        found = self.scratch("packed", elements)
        self.call(file, function, (self.sums.W, *self.bias), (found,), tasks)
        return found


def _dense(plan: _Plan, wide: int, direct: bool) -> None:
    """Vectors of pixels: input padded, weights packed, then tiles of Y."""
    p = plan.p
    tiles, rows = ceil(p.pixels / wide), _filled(p.outputs)
    group = max(1, min(_TILES, p.batch * tiles // (_TASKS * plan.request.threads)))
    plan.p = replace(p, rows=rows, tiles=group, scratch=(p.block + group * rows) * wide)
    offsets, source = plan.offsets(), plan.padded(direct)
    packed = plan.packed("dense", "pack", rows * (1 + p.terms), rows)
    plan.result("dense", (source, packed, offsets), p.batch * ceil(tiles / group))


def _swapped(plan: _Plan, wide: int, direct: bool) -> None:
    """Vectors of channels: the pixels are packed as well."""
    p = plan.p
    rows, columns = ceil(p.outputs / wide) * wide, _filled(p.pixels)
    group = max(1, min(_TILES, p.batch * rows // wide // (_TASKS // 4 * plan.request.threads)))
    plan.p = replace(p, rows=rows, tiles=group, scratch=group * columns * wide)
    offsets, source = plan.offsets(), plan.padded(direct)
    packed = plan.packed("swapped", "pack_swapped", rows * (1 + p.terms), rows)
    pixels = plan.scratch("pixels", p.batch * p.terms * columns)
    plan.call("swapped", "pixels", (source, offsets), (pixels,), p.batch * ceil(columns / _TALL))
    plan.result("swapped", (pixels, packed), p.batch * ceil(rows / (group * wide)))


def _depthwise(plan: _Plan, lanes: int) -> None:
    """A channel at a time, in strips of lines; vectors may read on behind the last line of a strip."""
    p = plan.p
    # The lines of a strip that no output needs more than once should be the fewer.
    extent = plan.sums.down.extent
    tall = min(p.out_height, max(_STRIP, _STRIP * (extent // (4 * p.stride_height))))
    phase = ((tall - 1) * p.stride_height + extent) * p.row
    plan.p = replace(p, phase=phase, tiles=tall, scratch=p.taps + p.stride_width * phase + lanes)
    reads = (plan.sums.X, plan.sums.W, plan.offsets(), *plan.bias)
    plan.result("depthwise", reads, p.batch * p.channels)


def _across(plan: _Plan, lanes: int) -> None:
    """Vectors of channels: the padded planes of so many channels, woven into one another."""
    p = plan.p
    row, groups = p.pad_left + p.width + plan.sums.along.end, ceil(p.channels / lanes)
    plan.p = replace(p, row=row, scratch=p.padded_height * row * lanes)
    packed = plan.packed("across", "pack_across", groups * (1 + p.taps) * lanes, groups)
    plan.result("across", (plan.sums.X, packed), p.batch * groups)
