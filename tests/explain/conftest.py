"""Programs are run by tests, not collected."""

collect_ignore_glob = ["programs/*.py"]
