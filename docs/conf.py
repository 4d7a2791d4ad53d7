"""How the documentation is built: ``make docs``. Nothing is fetched, neither here nor by whoever reads the pages."""

from importlib.metadata import version as installed

project = "tacit"
author = copyright = "The tacit developers"
version = release = installed("tacit")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "tacit"
html_show_sphinx = False
html_copy_source = False
exclude_patterns = ["_build"]


def setup(app):
    """Add the directive that prints a command's own help, so that the reference cannot fall behind it."""
    import argparse
    import os

    from docutils import nodes
    from docutils.parsers.rst import Directive

    from tacit.cli import _parser

    os.environ["COLUMNS"] = "100"

    class Help(Directive):
        required_arguments = 1
        final_argument_whitespace = True

        def run(self):
            parser = _parser()
            for word in self.arguments[0].split():
                choices = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
                parser = choices[0][word]
            text = parser.format_help()
            return [nodes.literal_block(text, text, language="text")]

    app.add_directive("help", Help)
    return {"parallel_read_safe": True}
