"""Importing this lets `import aesara` find the names here."""

from rewrite_engine.compat import install

install(["aesara"])
