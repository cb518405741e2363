"""`rewrite_engine.random`, under the name that it has for users: `pt.random`. (It stands above this
layer, and is loaded when it is first used.)
"""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("rewrite_engine.random")
