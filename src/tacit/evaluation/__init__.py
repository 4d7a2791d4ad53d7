"""Evaluation, on the public side: curves, metrics, bands and pictures, all from what the desk hands out."""
