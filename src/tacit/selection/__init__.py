"""Choosing features privately: scores computed from released counts, and selectors with scikit-learn's interface."""
