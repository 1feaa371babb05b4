"""Foreign bytes are parsed in child processes that may crash, hang or grow without harm to anybody else."""
