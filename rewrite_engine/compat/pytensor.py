"""Importing this lets `import pytensor` find the names here."""

from rewrite_engine.compat import install

install(["pytensor"])
