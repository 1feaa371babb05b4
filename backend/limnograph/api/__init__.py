"""HTTP: parse, ask a service, print. Routes, wire structs, problems; no logic of its own."""
