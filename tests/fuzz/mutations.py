"""Models made wrong: the same seed and number always give the same files."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto
from tests.fuzz.corpus import samples

Files = dict[str, bytes]
MODEL = "net.onnx"

HOSTILE_NUMBERS = (
    *(0, 1, 2, 3, 7, 64, 65, 255, 256, 65535, 65536),
    *(2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1),
    *(-1, -2, -(2**31), -(2**63)),
)
# This mark becomes three bytes that are no UTF-8 when the file is written; no string of protobuf's API could.
MARK = "\ue000"
HOSTILE_TEXTS = (
    "",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b31m",
    "a\nb\r\nc",
    "\x00",
    "\x7f",
    "\u202egnp.exe",
    "\u2028",
    MARK,
    f"w{MARK}",
    "n" * 10_000,
    "x",
    "y",
    "ai.onnx",
    "own",
    "Inner",
    "Clip",
    "Conv",
    "%s%n{0}",
    "[red]x[/red]",
    "../../secret",
    "\U0001f600",
)
HOSTILE_PLACES = (
    "",
    ".",
    "..",
    "/etc/passwd",
    "../w.bin",
    "/dev/zero",
    "pipe",
    "folder",
    "link",
    "up/w.bin",
    "circle",
    "none.bin",
    "w.bin\0",
    "\x1b[2J",
    "w" * 5000,
)
HOSTILE_ENTRIES = ("-1", "", "1e3", "9" * 30, "18446744073709551616", "4294967296", "0x10", "٣", "65", "0")


def mutated(seed: int, number: int) -> Files:
    """The files of one mutated model, the model itself under `MODEL`."""
    random = Random(f"{seed}:{number}")
    sample = random.choice(samples())
    model = ModelProto()
    model.CopyFrom(sample.model)
    beside = dict(sample.beside)
    kind = random.random()
    # A few files stay whole, so that the way of the sound model is walked too.
    if kind < 0.6:
        for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
            random.choice(MUTATIONS)(model, random)
    content = model.SerializeToString().replace(MARK.encode(), b"\xff\xfe\x80")
    if 0.5 < kind < 0.97:
        for _ in range(random.choice((1, 1, 1, 2, 3, 10))):
            content = random.choice(BYTE_MUTATIONS)(content, random)
        if beside and random.random() < 0.3:
            beside = {name: _removed(held, random) for name, held in beside.items()}
    return {MODEL: content, **beside}


# Bytes.


def _span(content: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(content) + 1)
    return start, min(len(content), start + random.choice((1, 1, 2, 4, 8, 30, 200)))


def _flipped(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    held = bytearray(content)
    held[random.randrange(len(held))] ^= 1 << random.randrange(8)
    return bytes(held)


def _overwritten(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:start] + random.randbytes(end - start) + content[end:]


def _inserted(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:start] + random.randbytes(end - start) + content[start:]


def _removed(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:start] + content[end:]


def _doubled(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:end] + content[start:end] * random.choice((1, 1, 2, 100)) + content[end:]


def _exchanged(content: bytes, random: Random) -> bytes:
    (a, b), (c, d) = sorted((_span(content, random), _span(content, random)))
    if b > c:
        return content
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _spliced(content: bytes, random: Random) -> bytes:
    other: bytes = random.choice(samples()).model.SerializeToString()
    return _cut(content, random) + other[random.randrange(len(other)) :]


BYTE_MUTATIONS: Sequence[Callable[[bytes, Random], bytes]] = (
    _flipped,
    _flipped,
    _flipped,
    _overwritten,
    _inserted,
    _removed,
    _doubled,
    _exchanged,
    _cut,
    _spliced,
)


# Messages.


def _messages(message: Any) -> Iterator[Any]:
    """A message and every message inside it."""
    yield message
    for field, held in message.ListFields():
        if field.message_type is not None:
            for inner in held if field.is_repeated else (held,):
                yield from _messages(inner)


def _pick(model: ModelProto, random: Random, *names: str) -> Any:
    """A random message of the model, of one of these types if any are named; None where there is none."""
    found = [message for message in _messages(model) if not names or message.DESCRIPTOR.name in names]
    return random.choice(found) if found else None


def _any_field(model: ModelProto, random: Random) -> None:
    """Change any field of any message."""
    message = _pick(model, random)
    filled = [field for field, _ in message.ListFields()]
    fields = filled if filled and random.random() < 0.7 else message.DESCRIPTOR.fields
    field = random.choice(list(fields))
    if field.is_repeated:
        _change_list(getattr(message, field.name), field, random)
    elif random.random() < 0.2:
        message.ClearField(field.name)
    elif field.message_type is not None:
        _change_message(model, getattr(message, field.name), random)
    else:
        setattr(message, field.name, _hostile(field, random))


def _change_message(model: ModelProto, held: Any, random: Random) -> None:
    """Put another message of the same type in a message's place, or an empty one."""
    others = [other for other in _messages(model) if other.DESCRIPTOR is held.DESCRIPTOR]
    chosen = type(held)()
    if others and random.random() < 0.8:
        chosen.CopyFrom(random.choice(others))
    held.CopyFrom(chosen)


def _change_list(held: Any, field: Any, random: Random) -> None:
    scalar = field.message_type is None
    what = random.randrange(5)
    if what == 0 and len(held):
        del held[random.randrange(len(held))]
    elif what == 1 and len(held):
        chosen = held[random.randrange(len(held))]
        for _ in range(random.choice((1, 1, 3, 300))):
            held.append(chosen)
    elif what == 2 and scalar and len(held):
        held[random.randrange(len(held))] = _hostile(field, random)
    elif what == 3:
        del held[:]
    elif scalar:
        held.append(_hostile(field, random))
    else:
        held.add()


def _hostile(field: Any, random: Random) -> Any:
    """A value of a scalar field that asks for trouble."""
    kind = field.cpp_type
    if kind == field.CPPTYPE_STRING:
        text = random.choice(HOSTILE_TEXTS)
        return text.encode() if field.type == field.TYPE_BYTES else text
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return random.choice((0.0, -0.0, 1e30, float("inf"), float("nan")))
    if kind == field.CPPTYPE_ENUM:
        return random.choice([value.number for value in field.enum_type.values])
    if kind == field.CPPTYPE_BOOL:
        return random.random() < 0.5
    low, high = {
        field.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
        field.CPPTYPE_UINT32: (0, 2**32 - 1),
        field.CPPTYPE_UINT64: (0, 2**64 - 1),
    }.get(kind, (-(2**63), 2**63 - 1))
    return random.choice([number for number in HOSTILE_NUMBERS if low <= number <= high])


def _swap_fields(model: ModelProto, random: Random) -> None:
    """Exchange two fields of one type in one message."""
    message = _pick(model, random)
    fields = [field for field in message.DESCRIPTOR.fields if field.message_type is None]
    pairs = [
        (a, b)
        for a in fields
        for b in fields
        if a.number < b.number and (a.type, a.is_repeated) == (b.type, b.is_repeated)
    ]
    pairs = [(a, b) for a, b in pairs if a.enum_type is b.enum_type]
    if pairs:
        a, b = random.choice(pairs)
        if a.is_repeated:
            held = list(getattr(message, a.name))
            del getattr(message, a.name)[:]
            getattr(message, a.name).extend(getattr(message, b.name))
            del getattr(message, b.name)[:]
            getattr(message, b.name).extend(held)
        else:
            held = getattr(message, a.name)
            setattr(message, a.name, getattr(message, b.name))
            setattr(message, b.name, held)


def _sizes(model: ModelProto, random: Random) -> None:
    """Hostile sizes of tensors, of declared shapes and in lists of attributes."""
    message = _pick(model, random, "TensorProto", "Dimension", "AttributeProto")
    if message is None:
        return
    number = random.choice(HOSTILE_NUMBERS)
    if message.DESCRIPTOR.name == "Dimension":
        message.dim_value = number
        return
    held = message.dims if message.DESCRIPTOR.name == "TensorProto" else message.ints
    if len(held) and random.random() < 0.7:
        held[random.randrange(len(held))] = number
    else:
        held.extend([number] * random.choice((1, 1, 2, 70)))


def _types(model: ModelProto, random: Random) -> None:
    message = _pick(model, random, "TensorProto", "Tensor", "SparseTensor", "AttributeProto")
    if message is None:
        return
    field = {"TensorProto": "data_type", "AttributeProto": "type"}.get(message.DESCRIPTOR.name, "elem_type")
    number = random.choice((*range(0, 20 if field != "type" else 15), 99, -1, 2**31 - 1))
    try:
        setattr(message, field, number)
    except ValueError:  # an enumeration takes its own numbers alone
        message.ClearField(field)


def _names(model: ModelProto) -> list[str]:
    graph = model.graph
    names = [value.name for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info)]
    return names + [name for node in graph.node for name in (*node.input, *node.output)]


def _collide(model: ModelProto, random: Random) -> None:
    """Give something the name of something else."""
    names = _names(model)
    message = _pick(
        model, random, "ValueInfoProto", "TensorProto", "NodeProto", "FunctionProto", "AttributeProto"
    )
    if not names or message is None:
        return
    message.name = random.choice(names)
    if message.DESCRIPTOR.name == "NodeProto" and len(message.output):
        message.output[random.randrange(len(message.output))] = random.choice(names)


def _wild_name(model: ModelProto, random: Random) -> None:
    """Put a hostile text in the place of a name, at one place or wherever the name stands."""
    text, names = random.choice(HOSTILE_TEXTS), _names(model)
    if not names:
        return
    old, everywhere = random.choice(names), random.random() < 0.6
    for message in _messages(model):
        for field, held in message.ListFields():
            if field.type != field.TYPE_STRING:
                continue
            if field.is_repeated:
                for index in [index for index, name in enumerate(held) if name == old]:
                    held[index] = text
            elif held == old:
                setattr(message, field.name, text)
            else:
                continue
            if not everywhere:
                return


def _node(model: ModelProto, random: Random) -> NodeProto | None:
    chosen: NodeProto | None = _pick(model, random, "NodeProto")
    return chosen


def _cycle(model: ModelProto, random: Random) -> None:
    """Let a node take its own output, or a later one's."""
    node, names = _node(model, random), _names(model)
    if node is not None and names:
        name = random.choice([*node.output, *names])
        if len(node.input):
            node.input[random.randrange(len(node.input))] = name
        else:
            node.input.append(name)


def _recursion(model: ModelProto, random: Random) -> None:
    """Let a function call itself or another one, once or often."""
    if not len(model.functions):
        return
    caller, called = random.choice(model.functions), random.choice(model.functions)
    for _ in range(random.choice((1, 1, 2, 50))):
        node = caller.node.add(op_type=called.name, domain=called.domain, overload=called.overload)
        node.input.extend(caller.input)
        node.output.extend(caller.output)


def _tower(model: ModelProto, random: Random) -> None:
    """Functions each of which calls the next one several times."""
    width, height = random.choice((1, 1, 2, 3)), random.choice((3, 3, 10, 30, 100))
    for level in range(height):
        function = model.functions.add(name=f"F{level}", domain="own", input=["a"], output=["b"])
        function.opset_import.add(domain="", version=22)
        for index in range(width):
            last = "b" if index == width - 1 else f"t{index}"
            function.node.add(
                op_type=f"F{level + 1}", domain="own", input=["a"], output=[last], name="n" * 50
            )
    model.graph.node.add(op_type="F0", domain="own", input=["x"], output=["tower"])


def _duplicate(model: ModelProto, random: Random) -> None:
    if len(model.graph.node):
        chosen = NodeProto()
        chosen.CopyFrom(random.choice(model.graph.node))
        model.graph.node.extend([chosen] * random.choice((*[1] * 10, 2, 5, 20, 1000)))


def _shuffle(model: ModelProto, random: Random) -> None:
    nodes = list(model.graph.node)
    random.shuffle(nodes)
    shuffled = [node.SerializeToString() for node in nodes]
    del model.graph.node[:]
    for content in shuffled:
        model.graph.node.add().ParseFromString(content)


def _operands(model: ModelProto, random: Random) -> None:
    """Drop, empty or add an input or output of a node."""
    node = _node(model, random)
    if node is None:
        return
    held = random.choice((node.input, node.output))
    what = random.randrange(3)
    if what == 0 and len(held):
        del held[random.randrange(len(held))]
    elif what == 1 and len(held):
        held[random.randrange(len(held))] = ""
    else:
        held.extend([random.choice(_names(model) or [""])] * random.choice((1, 1, 3, 1000)))


def _operator(model: ModelProto, random: Random) -> None:
    node = _node(model, random)
    if node is not None:
        node.op_type = random.choice(
            ("Clip", "Conv", "Where", "Expand", "Constant", "Inner", "Outer", "Dropout", "\x1b")
        )
        node.domain = random.choice(("", "", "own", "ai.onnx", "ai.onnx.ml", MARK))


def _attribute(model: ModelProto, random: Random) -> None:
    """Drop, repeat or confuse attributes of a node."""
    node = _node(model, random)
    if node is None or not len(node.attribute):
        return
    index = random.randrange(len(node.attribute))
    what = random.randrange(4)
    if what == 0:
        del node.attribute[index]
    elif what == 1:
        node.attribute.append(node.attribute[index])
    elif what == 2:
        node.attribute[index].ref_attr_name = random.choice(("steps", "scale", MARK, "x"))
    else:
        node.attribute[index].name = random.choice(("pads", "strides", "group", "auto_pad", "value", ""))


def _opsets(model: ModelProto, random: Random) -> None:
    what = random.randrange(4)
    if what == 0 or not len(model.opset_import):
        model.opset_import.add(domain=random.choice(("", "ai.onnx", "own", MARK)), version=13)
    elif what == 1:
        del model.opset_import[:]
    elif what == 2:
        random.choice(model.opset_import).version = random.choice((*HOSTILE_NUMBERS, 12, 13, 21, 99))
    else:
        model.ir_version = random.choice(HOSTILE_NUMBERS)


def _data(model: ModelProto, random: Random) -> None:
    """Move, cut or double the elements of a tensor."""
    tensor: TensorProto | None = _pick(model, random, "TensorProto")
    if tensor is None:
        return
    what = random.randrange(4)
    if what == 0:
        tensor.raw_data = tensor.raw_data[: random.randrange(len(tensor.raw_data) + 1)]
    elif what == 1:
        tensor.raw_data += random.randbytes(random.choice((1, 4, 24)))
    elif what == 2:
        random.choice((tensor.int32_data, tensor.int64_data)).append(random.choice((-1, 0, 70000)))
    else:
        tensor.string_data.append(b"\xff\x1b[2J")


def _outside(model: ModelProto, random: Random) -> None:
    """Send a tensor for its elements to places where they must not come from."""
    tensor: TensorProto | None = _pick(model, random, "TensorProto")
    if tensor is None:
        return
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")
    if not len(tensor.external_data):
        tensor.external_data.add(key="location", value="w.bin")
    entry = random.choice(tensor.external_data)
    if entry.key == "location":
        entry.value = random.choice(HOSTILE_PLACES)
    else:
        entry.value = random.choice(HOSTILE_ENTRIES)
    if random.random() < 0.3:
        tensor.external_data.add(key=random.choice(("offset", "length", "checksum", MARK)), value="8")


MUTATIONS: Sequence[Callable[[ModelProto, Random], None]] = (
    _any_field,
    _any_field,
    _any_field,
    _swap_fields,
    _sizes,
    _sizes,
    _types,
    _collide,
    _wild_name,
    _wild_name,
    _cycle,
    _recursion,
    _tower,
    _duplicate,
    _shuffle,
    _operands,
    _operator,
    _attribute,
    _opsets,
    _data,
    _outside,
)
