"""The HTTP API: routes, wire structs and problems. Routes parse a request, call a service and return its result; the
logic is in services.
"""
