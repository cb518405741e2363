"""Ops and types with C code: `docs/c_interface.md`.

`Op` and `Type` know nothing of C. `COp` and `CType` add the methods in `interface.py`; `side.py`
defines the library's types in C. A node becomes a text (`source.py`), then a module (`compiler.py`,
`module.py`), then a function of values (`build.py`), which any linker calls; `linker.py` defines
the linker that requires C code.
"""

from __future__ import annotations

from rewrite_engine.link.c.build import c_form, c_function
from rewrite_engine.link.c.enum import CEnumType, EnumList, EnumType
from rewrite_engine.link.c.external import ExternalCOp
from rewrite_engine.link.c.interface import CLinkerObject, CLinkerOp, CLinkerType
from rewrite_engine.link.c.op import COp, COpenMPOp, OpenMPOp
from rewrite_engine.link.c.params_type import Params, ParamsType
from rewrite_engine.link.c.side import c_side
from rewrite_engine.link.c.type import CDataType, CType, Generic, generic

__all__ = [
    "CDataType",
    "CEnumType",
    "CLinkerObject",
    "CLinkerOp",
    "CLinkerType",
    "COp",
    "COpenMPOp",
    "CType",
    "EnumList",
    "EnumType",
    "ExternalCOp",
    "Generic",
    "OpenMPOp",
    "Params",
    "ParamsType",
    "c_form",
    "c_function",
    "c_side",
    "generic",
]
