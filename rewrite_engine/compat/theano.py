"""Importing this lets `import theano` find the names here."""

from rewrite_engine.compat import install

install(["theano"])
