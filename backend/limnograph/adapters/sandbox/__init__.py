"""Child processes that parse untrusted bytes: they may crash, hang or grow without affecting the parent."""
