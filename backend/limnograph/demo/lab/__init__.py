"""The demo's laboratory: small real tables, in namespace `lab`, that real jobs read, write and fight over."""
