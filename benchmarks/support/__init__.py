"""What several benchmarks share: no scripts."""
