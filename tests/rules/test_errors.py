"""Errors stay: what raises one as it was written raises one of the same kind after rewriting."""
