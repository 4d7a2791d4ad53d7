"""The audit: attacks every mechanism of this library, and anybody else's, and reports the largest ε it can prove.

A guest: nothing in the house imports it but the command ``tacit audit``.
"""

from tacit.audit.statistical import Finding, audit

__all__ = ["Finding", "audit"]
