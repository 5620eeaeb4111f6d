"""Which items are ranked for a test user: one kind a class."""

from harness.candidates.base import Candidates, CandidatesSection, Catalogue, Rated

__all__ = ["Candidates", "CandidatesSection", "Catalogue", "Rated"]
