"""What becomes of elements on their way through a careless program."""

import unicodedata
from collections.abc import Callable

import numpy as np
from tests.conformance.right.elements import Array, Form, by_parts

Damage = Callable[[Array], Array]


def _magnitude(raw: Array, form: Form) -> Array:
    return raw & form.raw.type(form.sign - 1)


def _nan(raw: Array, form: Form) -> Array:
    return _magnitude(raw, form) > form.infinity


def _subnormal(raw: Array, form: Form) -> Array:
    magnitude = _magnitude(raw, form)
    return (magnitude > 0) & (magnitude < 1 << form.fraction)


def _payload_lost(raw: Array, form: Form) -> Array:
    plain = (raw & form.raw.type(form.sign)) | form.raw.type(form.infinity | form.quiet)
    return np.where(_nan(raw, form), plain, raw)


def _nan_sign_lost(raw: Array, form: Form) -> Array:
    return np.where(_nan(raw, form), _magnitude(raw, form), raw)


def _quieted(raw: Array, form: Form) -> Array:
    return np.where(_nan(raw, form), raw | form.raw.type(form.quiet), raw)


def _zero_sign_lost(raw: Array, form: Form) -> Array:
    return np.where(raw == form.sign, form.raw.type(0), raw)


def _flushed(raw: Array, form: Form) -> Array:
    return np.where(_subnormal(raw, form), raw & form.raw.type(form.sign), raw)


def _saturated(raw: Array, form: Form) -> Array:
    return np.where(_magnitude(raw, form) == form.infinity, raw - form.raw.type(1), raw)


def _one_step_larger(raw: Array, form: Form) -> Array:
    """The magnitude of what is finite and not zero grows by the least that there is."""
    magnitude = _magnitude(raw, form)
    return np.where((magnitude > 0) & (magnitude < form.infinity - 1), raw + form.raw.type(1), raw)


payload_lost = by_parts(_payload_lost)
nan_sign_lost = by_parts(_nan_sign_lost)
quieted = by_parts(_quieted)
zero_sign_lost = by_parts(_zero_sign_lost)
flushed = by_parts(_flushed)
saturated = by_parts(_saturated)
one_step_larger = by_parts(_one_step_larger)


def through_double(array: Array) -> Array:
    """Whole numbers as doubles and back; what is too large then becomes the largest."""
    info = np.iinfo(array.dtype)
    held = [min(int(float(value)), int(info.max)) for value in array.reshape(-1).tolist()]
    return np.array(held, array.dtype).reshape(array.shape)


def imaginary_part_lost(array: Array) -> Array:
    return array.real.astype(array.dtype)


def conjugated(array: Array) -> Array:
    return np.conjugate(array)


def bytes_reversed(array: Array) -> Array:
    return array.byteswap()


def _texts(change: Callable[[str], str]) -> Damage:
    def changed(array: Array) -> Array:
        output = np.empty(array.shape, object)
        output.reshape(-1)[:] = [change(text) for text in array.reshape(-1).tolist()]
        return output

    return changed


cut_at_nul = _texts(lambda text: text.split("\0")[0])
nul_at_the_end_lost = _texts(lambda text: text.rstrip("\0"))
blanks_lost = _texts(str.strip)
in_latin_1 = _texts(lambda text: text.encode("latin-1", "replace").decode("latin-1"))
decomposed = _texts(lambda text: unicodedata.normalize("NFD", text))
other_line_ends = _texts(lambda text: text.replace("\n", "\r\n"))
cut_at_255 = _texts(lambda text: text[:255])


def one_element_wrong(place: int) -> Damage:
    """One bit of one element of a large array."""

    def changed(array: Array) -> Array:
        output = np.array(array)
        if output.size > abs(place):
            output.reshape(-1).view(f"u{output.itemsize}")[place] ^= 1
        return output

    return changed


def last_elements_lost(lanes: int) -> Damage:
    """What is left over by vectors of so many elements is not written."""

    def changed(array: Array) -> Array:
        output = np.array(array)
        output.reshape(-1)[output.size // lanes * lanes :] = 0
        return output

    return changed


NANS: dict[str, Damage] = {
    "the payload of NaN is lost": payload_lost,
    "the sign of NaN is lost": nan_sign_lost,
    "signalling NaN is quieted": quieted,
}
STRINGS: dict[str, Damage] = {
    "strings end at NUL": cut_at_nul,
    "NUL at the end of strings is lost": nul_at_the_end_lost,
    "blanks around strings are lost": blanks_lost,
    "strings are in Latin-1": in_latin_1,
    "strings are decomposed": decomposed,
    "line ends are changed": other_line_ends,
    "strings have 255 characters": cut_at_255,
}
