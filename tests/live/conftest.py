"""The stand-ins, the logging hook and the scheduler without a model are for the server's interpreter, not for ours."""

collect_ignore = ["shims", "pass_log", "own_scheduler"]
