"""Draws behind a private ROC curve: counts and curves that fit a release. Public side: sees released numbers."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr

from tacit.evaluation.evidence import Evidence, Floats
from tacit.evaluation.model import Model
from tacit.evaluation.places import Paths, Places, fine_cells, inner_grid
from tacit.evaluation.posterior import (
    Inside,
    curves,
    draw,
    draw_counts,
    draw_direct,
    generator,
    plain_curve,
    rates_of,
    weighted_median,
)
from tacit.evaluation.ties import draw_ties, surely_tied, tied_bins

NUMBER = 400
MERGED_NUMBER = 300  # draws by the model where bins are merged: each costs more, and they differ less
MOSTLY_WRONG = 0.35  # area under a curve, with room for noise
MODEL_BINS = 32  # beyond, bins are so full that counts speak for themselves
COARSE = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), ndtr(np.linspace(-4.0, 4.0, 41))]))
KNEES = (0.02, 0.15, 0.5, 0.85, 0.98)  # quantiles of the places of knees, at which curves are worked out too
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), ndtr(np.linspace(-4.5, 4.5, 121))]))


class ModelDraws:
    """Draws by the model: smooth curves, and counts by class and bin of the sample and of the population behind it."""

    def __init__(self, evidence: Evidence, number: int) -> None:
        rng = generator(evidence)
        model = Model(evidence, surely_tied(evidence, rng))
        self._state = model.unfold(draw(model, rng, number=number))
        self.sample, self.population = draw_counts(model, self._state, rng)
        self.tied, untied = tied_bins(evidence, self.sample, rng)
        self._inside = Inside.draw(
            self.population, self._state.rough, untied, rng, sure=evidence.sure, apart=evidence.ends
        )
        self._sags = rng.random(number)
        self.ties = draw_ties(evidence, self.sample, self.tied, rng)

    def sample_curve(self, grid: Floats) -> Floats:
        """The middle of the curves of test sets that fit the release, as smooth as that leaves them."""
        drawn = curves(self._state, self.sample, grid, self.tied, sags=self._sags)
        return weighted_median(drawn, self._state.usual)

    def population_curves(self, grid: Floats) -> Floats:
        """Curves of populations that fit the release, with the bends that it cannot show."""
        return curves(self._state, self.population, grid, self.tied, sags=self._sags, inside=self._inside)

    @cached_property
    def paths(self) -> Paths:
        """The same curves with steps inside of bins, and how many rows they are of."""
        fpr = inner_grid(rates_of(self.population)[:, 0])
        rates = np.stack([fpr, np.maximum.accumulate(self.population_curves(fpr), axis=1)], axis=1)
        rates[:, :, -1] = 1.0
        return Paths(rates, self.population.sum(axis=2), self.ties)


class Draws:
    """Draws from the posterior: counts by class and bin (from the highest scores down) and curves on the grid.

    Beyond ``MODEL_BINS`` counts speak for themselves, and the model is asked for the population's curves alone, with
    bins merged: so a band costs the same at any size, and does not widen where the number of bins grows. A classifier
    that is mostly wrong, for which the model is not made, is a good one whose scores and curves are turned around.
    """

    def __init__(self, evidence: Evidence, number: int) -> None:
        self._given, self._number = evidence, number
        self._turned = evidence.area + evidence.doubt < MOSTLY_WRONG
        self._evidence = evidence.turned() if self._turned else evidence
        self._direct = evidence.bins > MODEL_BINS
        if self._direct:
            rng = generator(self._evidence)
            sample, population = draw_direct(self._evidence, rng, number=number)
            tied, _ = tied_bins(self._evidence, sample, rng)
            ties = draw_ties(self._evidence, sample, tied, rng)
        else:
            model = self._modelled
            sample, population, tied, ties = model.sample, model.population, model.tied, model.ties
        way = -1 if self._turned else 1
        self.sample, self.population = sample[..., ::way], population[..., ::way]
        self.tied, self.ties = tied[..., ::way], ties[..., ::way]

    @cached_property
    def _modelled(self) -> ModelDraws:
        merged = self._evidence.merged(MODEL_BINS)
        return ModelDraws(merged, self._number if merged is self._evidence else min(self._number, MERGED_NUMBER))

    def best_guess(self) -> Floats:
        """The test set's curve on the grid: the median of its draws, which is best under the area between curves."""
        if self._direct:
            return plain_curve(self.sample.mean(axis=0), self.grid, np.median(self.tied, axis=0) > 0.5)
        middle = self._modelled.sample_curve(self._turn(self.coarse))
        middle[0], middle[-1] = 0.0, 1.0
        there = PchipInterpolator(self._turn(self.coarse), np.maximum.accumulate(middle))
        return self._right_way(np.asarray(there(self._turn(self.grid))))

    @cached_property
    def population_curves(self) -> Floats:
        """Curves of populations that fit the release, on the coarse grid."""
        return self._right_way(self._modelled.population_curves(self._turn(self.coarse)))

    @cached_property
    def middle(self) -> Floats:
        """The median of these curves."""
        return np.asarray(np.median(self.population_curves, axis=0))

    @cached_property
    def paths(self) -> Paths:
        """The same curves with steps inside of bins: for what depends on ranks alone."""
        paths = self._modelled.paths
        return Paths(self._right_way(paths.rates), paths.sizes, paths.ties[:, ::-1]) if self._turned else paths

    @cached_property
    def coarse(self) -> Floats:
        """False-positive rates at which curves are drawn, with more where ties make knees."""
        return np.union1d(COARSE, self._knees)

    @cached_property
    def grid(self) -> Floats:
        """False-positive rates at which the curve and its band are shown."""
        return np.union1d(GRID, self._knees)

    @property
    def _knees(self) -> Floats:
        """Where straight pieces begin and end, and a little before and after that."""
        ends = rates_of(self.population)[:, 0]
        tied = np.pad(self.tied.mean(axis=0) > 0.5, 1)
        places = ends[:, (tied[1:] | tied[:-1])]
        return np.quantile(places, KNEES, axis=0).ravel()

    def _turn(self, grid: Floats) -> Floats:
        """The same places for scores that were turned around."""
        return 1 - grid[::-1] if self._turned else grid

    def _right_way(self, rates: Floats) -> Floats:
        """Rates along a curve, or along a grid that was turned, as they are if scores were turned."""
        return 1 - rates[..., ::-1] if self._turned else rates

    def places(self, cuts: Floats) -> Places:
        """Where scores stand on curves, given the ends of bins as cells from the highest scores down."""
        return self._placed(cuts, self._straight if self._direct else self.paths)

    def cells(self, cuts: Floats, rates: Floats) -> Floats:
        """The cells where the middle of both rates is as given: read off the places of all metrics."""
        fine = fine_cells(cuts)
        middle = np.median(self._placed(cuts, self._straight).pooled(fine), axis=0)
        return np.interp(rates, np.maximum.accumulate(middle), fine)

    @property
    def _straight(self) -> Paths:
        """Curves that are straight inside of bins: right at their ends, and near enough where bins are narrow."""
        return Paths(rates_of(self.population), self.population.sum(axis=2), self.ties)

    def _placed(self, cuts: Floats, paths: Paths) -> Places:
        rng = generator(self._evidence, b"places")
        ends = self._given.ends if self._given.apart else None
        return Places(cuts, paths, rng, ends, self._given.draw_hidden(paths.sizes, rng) if ends else None)
