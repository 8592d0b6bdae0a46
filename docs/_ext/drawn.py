"""``drawn``: a picture of the gallery, with a link to the script that draws it.

Pages show no other pictures of the library's work, so every one is drawn again by the build.
"""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Drawn(SphinxDirective):
    """``{drawn} perceptrons/plot_space`` with the caption as its content; a number after it: which of its pictures."""

    required_arguments = 1
    optional_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        folder, name = self.arguments[0].split("/")
        number = int(self.arguments[1]) if len(self.arguments) > 1 else 1
        caption = " ".join(self.content)
        link, messages = self.parse_inline(f"{caption} {{doc}}`The script. </gallery/{folder}/{name}>`")
        image = nodes.image(uri=f"/gallery/{folder}/images/sphx_glr_{name}_{number:03}.png", alt=caption)
        return [nodes.figure("", image, nodes.caption("", "", *link), classes=["drawn"]), *messages]


def setup(app):
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True}
