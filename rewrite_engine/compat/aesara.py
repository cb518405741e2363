"""Let `import aesara` find the names of this library, once this module is imported."""

from rewrite_engine.compat import install

install(["aesara"])
