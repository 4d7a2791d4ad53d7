"""The version of this installation, as its package metadata state it."""

from importlib.metadata import version

__version__ = version("tacit")
