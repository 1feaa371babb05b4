"""The file of `limnograph maintain`: policy and credentials that may write. The server never reads it."""

from limnograph.settings.maintenance.loading import MaintainSettings, load_maintenance

__all__ = ["MaintainSettings", "load_maintenance"]
