"""What executing a definition holds beside operands and results: whoever limits memory asks for it."""

from collections.abc import Sequence

from sonnx.derive.evaluate_folds import sum_of_products
from sonnx.derive.tracing import element_type, traced
from sonnx.model.tensor_type import TensorType
from sonnx.terms.walking import parts
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator


def working_types(operator: Operator, call: Call) -> Sequence[TensorType]:
    """The padded copies that sums of products read, of a call that obeys every rule."""
    if operator.definition is None:
        return ()
    kind = element_type(operator, call.inputs)
    found = []
    for made in traced(operator, call.inputs, call.attributes, call.constants).made:
        sizes = {index.data: size for index, size in zip(made.indices, made.shape, strict=True)}
        folds = (each for each in parts(made.term) if each.word == "fold")
        sums = (sum_of_products(each, sizes, kind) for each in folds)
        found += [each.windows.sizes for each in sums if each is not None]
    return [TensorType(kind, shape, dialect=operator.dialect) for shape in found]
