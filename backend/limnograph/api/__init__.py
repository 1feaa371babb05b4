"""HTTP: parse a request, call a service, return the result. Routes, wire structs, problems; no logic of its own."""
