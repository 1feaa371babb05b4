"""Which commit a job's slowdown coincides with, or that none explains it: numpy only, no I/O, no clock.

case -> normalise (controls, load, cycles, spikes) -> segment -> onset, shape -> candidates x structure x recurrence
against their rivals -> verdict with evidence. Decisions and figures: docs/adr/0027-explain.md.
"""

from limnograph.analysis.explain.engine import explain

__all__ = ["explain"]
