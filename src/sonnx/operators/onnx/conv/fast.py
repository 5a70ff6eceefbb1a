"""Which compiled functions execute a Conv, and the memory they need in between."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, prod

from sonnx.model.dtype import DType
from sonnx.numeric.products import ACCUMULATOR
from sonnx.operators.onnx.conv.geometry import SPATIAL
from sonnx.operators.shared.convolution import Axis
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels, Scratch, Variant

# A tile of sums: at most so many broadcast numbers times two vectors (TALL of fast.h), at least so many.
_TALL, _LEAST_TALL = 6, 4
# Terms that are done at a time: what they take of the input stays in the cache nearest to the processor.
_TERMS = 576
# Tiles that share a block of weights, and tasks that every thread should find.
_TILES, _TASKS = 4, 16
# The share of a vector below which the columns of Y are too few for it.
_NARROW = 2
# Lines of outputs that a depthwise Conv does at a time.
_STRIP = 16
_LINE = 64  # bytes of a cache line
_C_TYPES = {DType.FLOAT16: "uint16_t", DType.FLOAT: "float", DType.DOUBLE: "double"}
_BYTES = {DType.FLOAT: 4, DType.DOUBLE: 8}


@dataclass(frozen=True)
class Parameters:
    """`struct parameters` of fast.h, field by field."""

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
    clipped: int

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

    @property
    def listed(self) -> tuple[tuple[str, int], ...]:
        """The fields in their order."""
        return tuple(asdict(self).items())


def kernels(request: KernelRequest) -> NodeKernels | None:
    """The calls for a Conv; None where there are no kernels for its groups, or nothing to sum."""
    X, W = (request.types[request.inputs[operand]] for operand in ("X", "W"))
    shapes = [kind.sizes or () for kind in (X, W, request.types[request.outputs["Y"]])]
    group, channels = int(request.attributes["group"]), shapes[0][1]
    depthwise = group > 1
    if any(0 in shape for shape in shapes) or (depthwise and not group == channels == shapes[1][0]):
        return None
    assert X.dtype in _C_TYPES  # the graph conforms
    strides, dilations, pads = (
        list(map(int, request.attributes[name])) for name in ("strides", "dilations", "pads")
    )
    # Where there is one position only, nobody strides; a stride takes memory.
    strides = [1 if count == 1 else stride for count, stride in zip(shapes[2][2:], strides, strict=True)]
    axes = list(map(Axis, shapes[1][2:], strides, dilations, pads[:SPATIAL], pads[SPATIAL:]))
    lanes = request.vector_bytes // _BYTES[ACCUMULATOR[X.dtype]]
    p = _parameters(request, shapes, axes, lanes)
    if depthwise:
        narrow = p.out_width <= lanes // _NARROW
        return (_across if narrow else _depthwise)(_Node(request, X.dtype, p), lanes)
    direct = X.dtype is not DType.FLOAT16 and strides[1] == 1 and not any(pads)
    if direct:
        p = replace(p, row=p.width, phase=0, plane=p.height * p.width)
    make = _swapped if _is_small(p, 2 * lanes) else _dense
    return make(_Node(request, X.dtype, p), 2 * lanes, direct)


def _parameters(
    request: KernelRequest, shapes: Sequence[tuple[int, ...]], axes: Sequence[Axis], lanes: int
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
    return Parameters(
        batch=X[0], channels=X[1], outputs=W[0], height=X[2], width=X[3], out_height=Y[2], out_width=Y[3],
        kernel_height=down.kernel, kernel_width=along.kernel,
        stride_height=down.stride, stride_width=along.stride,
        dilation_height=down.dilation, dilation_width=along.dilation,
        pad_top=down.begin, pad_left=along.begin,
        padded_height=padded_height, row=row, phase=phase, plane=lines * per_line,
        block=ceil(terms / ceil(terms / _TERMS)), rows=0, tiles=1, scratch=0,
        biased=int("B" in request.inputs), clipped=int(request.epilogue is not None),
    )  # fmt: skip


def _filled(count: int) -> int:
    """Things in tiles of at most _TALL, with idle ones where there are fewer than the smallest tile has.

    `columns` of fast_swapped.c says the same of pixels.
    """
    parts = ceil(count / _TALL)
    return count if count // parts >= _LEAST_TALL else _LEAST_TALL * parts


def _is_small(p: Parameters, wide: int) -> bool:
    """Tell whether vectors of pixels would idle more than vectors of channels."""
    dense = p.pixels / (ceil(p.pixels / wide) * wide) * p.outputs / _filled(p.outputs)
    swapped = p.outputs / (ceil(p.outputs / wide) * wide) * p.pixels / _filled(p.pixels)
    return swapped > 1.1 * dense


@dataclass(frozen=True)
class _Node:
    """One Conv on its way to kernels: what its calls share."""

    request: KernelRequest
    dtype: DType
    p: Parameters

    @property
    def variant(self) -> Variant:
        """The element type, and how products are added; the product of two float16 is exact in float."""
        held = ACCUMULATOR[self.dtype]
        half = self.dtype is DType.FLOAT16
        fused = self.request.attributes["accumulate"] == "fused" and not half
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
    def weights(self) -> tuple[str, ...]:
        """W, and B where there is one."""
        inputs = self.request.inputs
        return tuple(inputs[operand] for operand in ("W", "B") if operand in inputs)

    @property
    def bounds(self) -> tuple[str, ...]:
        """Those of the limits that are kept to at once."""
        return self.request.epilogue.operands if self.request.epilogue else ()

    def own(self, name: str) -> str:
        """The name of a buffer of the node's own."""
        return f"{self.request.prefix}{name}"

    def scratch(self, name: str, elements: int, *, per_thread: bool = False) -> Scratch:
        """Memory for sums and what they are made of."""
        return Scratch(self.own(name), ACCUMULATOR[self.dtype], elements, per_thread)

    def offsets(self) -> tuple[KernelCall, Scratch]:
        """Where the taps of the kernel lie in the padded input, which depends on no tensor."""
        found = Scratch(self.own("offsets"), DType.INT64, self.p.taps)
        return self.call("conv_offsets", (), (found.name,), self.p.kernel_height, "pad"), found

    def call(
        self, function: str, reads: tuple[str, ...], writes: tuple[str, ...], tasks: int, source: str
    ) -> KernelCall:
        """One call on these buffers."""
        path = f"onnx/conv/fast_{source}.c"
        return KernelCall(path, function, self.variant, self.p.listed, reads, writes, tasks)

    def padding(self, direct: bool) -> tuple[str, tuple[KernelCall, ...], tuple[Scratch, ...]]:
        """The buffer with the padded input, and what makes it; X itself where nothing is to be added."""
        X, p = self.request.inputs["X"], self.p
        if direct:
            return X, (), ()
        padded = self.scratch("padded", p.batch * p.channels * p.plane)
        return (
            padded.name,
            (self.call("conv_pad", (X,), (padded.name,), p.batch * p.channels, "pad"),),
            (padded,),
        )


def _dense(node: _Node, wide: int, direct: bool) -> NodeKernels:
    """Vectors of pixels: input padded, weights packed, then tiles of Y."""
    p = node.p
    tiles = ceil(p.pixels / wide)
    group = max(1, min(_TILES, p.batch * tiles // (_TASKS * node.request.threads)))
    rows = _filled(p.outputs)
    node = replace(node, p=replace(p, rows=rows, tiles=group, scratch=(p.block + group * rows) * wide))
    source, pad, scratch = node.padding(direct)
    packed, sums = (
        node.scratch("packed", rows * (1 + p.terms)),
        node.scratch("sums", node.p.scratch, per_thread=True),
    )
    find, offsets = node.offsets()
    calls = (
        find,
        *pad,
        node.call("conv_pack", node.weights, (packed.name,), rows, "dense"),
        node.call(
            "conv_dense",
            (source, packed.name, offsets.name, *node.bounds),
            (node.request.outputs["Y"], sums.name),
            p.batch * ceil(tiles / group),
            "dense",
        ),
    )
    return NodeKernels(calls, (*scratch, packed, sums, offsets))


def _swapped(node: _Node, wide: int, direct: bool) -> NodeKernels:
    """Vectors of channels: the pixels are packed as well."""
    p = node.p
    rows, columns = ceil(p.outputs / wide) * wide, _filled(p.pixels)
    group = max(1, min(_TILES, p.batch * rows // wide // (_TASKS // 4 * node.request.threads)))
    node = replace(node, p=replace(p, rows=rows, tiles=group, scratch=group * columns * wide))
    source, pad, scratch = node.padding(direct)
    packed, sums = (
        node.scratch("packed", rows * (1 + p.terms)),
        node.scratch("sums", node.p.scratch, per_thread=True),
    )
    pixels = node.scratch("pixels", p.batch * p.terms * columns)
    find, offsets = node.offsets()
    calls = (
        find,
        *pad,
        node.call("conv_pack_swapped", node.weights, (packed.name,), rows, "swapped"),
        node.call(
            "conv_pixels", (source, offsets.name), (pixels.name,), p.batch * ceil(columns / _TALL), "swapped"
        ),
        node.call(
            "conv_swapped",
            (pixels.name, packed.name, *node.bounds),
            (node.request.outputs["Y"], sums.name),
            p.batch * ceil(rows / (group * wide)),
            "swapped",
        ),
    )
    return NodeKernels(calls, (*scratch, packed, pixels, sums, offsets))


def _depthwise(node: _Node, lanes: int) -> NodeKernels:
    """A channel at a time, in strips of lines; vectors may read on behind the last line of a strip."""
    p = node.p
    # The lines of a strip that no output needs more than once should be the fewer.
    extent = p.dilation_height * (p.kernel_height - 1) + 1
    tall = min(p.out_height, max(_STRIP, _STRIP * (extent // (4 * p.stride_height))))
    phase = ((tall - 1) * p.stride_height + extent) * p.row
    size = p.taps + p.stride_width * phase + lanes
    node = replace(node, p=replace(p, phase=phase, tiles=tall, scratch=size))
    sums, (find, offsets) = node.scratch("sums", size, per_thread=True), node.offsets()
    W, *B = node.weights
    call = node.call(
        "conv_depthwise",
        (node.request.inputs["X"], W, offsets.name, *B, *node.bounds),
        (node.request.outputs["Y"], sums.name),
        p.batch * p.channels,
        "depthwise",
    )
    return NodeKernels((find, call), (sums, offsets))


def _across(node: _Node, lanes: int) -> NodeKernels:
    """Vectors of channels: the padded planes of so many channels, woven into one another."""
    p = node.p
    row = p.pad_left + p.width + int(node.request.attributes["pads"][-1])
    size = p.padded_height * row * lanes
    node = replace(node, p=replace(p, row=row, scratch=size))
    groups = ceil(p.channels / lanes)
    packed, sums = (
        node.scratch("packed", groups * (1 + p.taps) * lanes),
        node.scratch("sums", size, per_thread=True),
    )
    calls = (
        node.call("conv_pack_across", node.weights, (packed.name,), groups, "across"),
        node.call(
            "conv_across",
            (node.request.inputs["X"], packed.name, *node.bounds),
            (node.request.outputs["Y"], sums.name),
            p.batch * groups,
            "across",
        ),
    )
    return NodeKernels(calls, (packed, sums))
