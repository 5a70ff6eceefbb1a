"""Text that XML can hold."""

import re
from xml.sax.saxutils import escape, quoteattr

from sonnx.report.text import cut

# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Text between tags; what XML cannot hold is left out."""
    return escape(_NOT_XML.sub("", text))


def xml_attribute(text: str) -> str:
    """The value of an attribute in its quotes, cut where it is long; what XML cannot hold is left out."""
    return quoteattr(_NOT_XML.sub("", cut(text)))
