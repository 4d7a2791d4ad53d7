"""Private classifiers with scikit-learn's interface. See releases only; the desk brings them."""
