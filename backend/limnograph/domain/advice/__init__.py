"""Recommendations: the document of `limnograph advise`, exact plans, prices."""
