"""The data sets of the papers, in the form that makes their tables reproducible."""

from separatrix.reproductions.datasets.papers import Labelled, load_sonar, load_wbc

__all__ = ["Labelled", "load_sonar", "load_wbc"]
