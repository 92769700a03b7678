"""The stand-ins and the logging hook are for the server's interpreter, not for ours."""

collect_ignore = ["shims", "pass_log"]
