"""The documents say `aesara`, `pytensor` and `theano`: these names are here for one test each."""

from tests.compat.conftest import peers  # noqa: F401 (a fixture)
