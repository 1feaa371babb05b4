"""Rules about what tables hold and how small their commits are; and which readers an expiry hits."""
