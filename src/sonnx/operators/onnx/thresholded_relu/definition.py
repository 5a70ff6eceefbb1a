"""ThresholdedRelu: what is not above a threshold becomes zero."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, otherwise, when


def thresholded_relu(X: Term, alpha: float) -> Term:
    """An element above alpha stays; a NaN compares false, so it becomes +0."""
    return cases(
        when(X > alpha, X, "D-THRESHOLDEDRELU", "What is above alpha stays, bit for bit."),
        otherwise(0, "D-THRESHOLDEDRELU", "Everything else becomes +0, a NaN too."),
    )


DEFINITION = elementwise(thresholded_relu)
