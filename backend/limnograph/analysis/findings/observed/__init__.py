"""Rules over measures that are observed now and then: engines, streams, catalogs."""
