"""Functions as machine code that runs without this library, and without Python.

`standalone` writes one function of C for a graph that is one region, for given lengths: the kernels
of the region, the functions that they call, and an entry that does what `runtime.py` does for
arrays of NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.errors import UntraceableError, message, plural
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.inline import reason
from rewrite_engine.link.native.inner_loops import ufuncs
from rewrite_engine.link.native.library import module_text
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.link.native.partition import regions
from rewrite_engine.link.native.runtime import ARGUMENT_WORDS, HEADER_INDEX, INSTRUCTIONS
from rewrite_engine.link.native.target import Machine, host, llvm
from rewrite_engine.link.native.text import LLVM_TYPE
from rewrite_engine.link.native.units import (
    PRODUCT_PREFIX,
    ROUTINE_PREFIX,
    SPLIT_UNIT,
    Unit,
    unit,
)

#: of a dtype: the type of its numbers in C
C_TYPES = {
    "float64": "double", "float32": "float", "bool": "uint8_t",
    **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip

_DEFINED = re.compile(r"^define [^@]*@([\w.]+)\(", re.MULTILINE)
_GLOBALS = re.compile(r"^@([\w.]+) = internal", re.MULTILINE)
_OF_C = ("declare ptr @aligned_alloc(i64, i64)", "declare void @free(ptr)")

#: a kernel's part, of one thread
_SPLIT = """
define internal i64 @split(ptr %part, ptr %frame, ptr %places, i64 %units, i64 %size) {
  %status = call i64 %part(ptr %frame, ptr %places, i64 0, i64 %units)
  ret i64 %status
}
"""

#: the product of two matrices, as the inner loop of `np.matmul`: operands, lengths, steps in bytes
_PRODUCT = """
define internal void @{name}(ptr %args, ptr %dims, ptr %steps, ptr %none) {{
entry:
{reads}
  br label %rows
rows:
  %i = phi i64 [0, %entry], [%i1, %rows_end]
  %more_i = icmp slt i64 %i, %d1
  br i1 %more_i, label %columns, label %end
columns:
  %k = phi i64 [0, %rows], [%k1, %columns_end]
  %more_k = icmp slt i64 %k, %d3
  br i1 %more_k, label %inner, label %rows_end
inner:
  %j = phi i64 [0, %columns], [%j1, %body]
  %sum = phi {type} [{zero}, %columns], [%next, %body]
  %more_j = icmp slt i64 %j, %d2
  br i1 %more_j, label %body, label %columns_end
body:
  %a0 = mul i64 %i, %s3
  %a1 = mul i64 %j, %s4
  %a2 = add i64 %a0, %a1
  %pa = getelementptr i8, ptr %x0, i64 %a2
  %a = load {type}, ptr %pa
  %b0 = mul i64 %j, %s5
  %b1 = mul i64 %k, %s6
  %b2 = add i64 %b0, %b1
  %pb = getelementptr i8, ptr %x1, i64 %b2
  %b = load {type}, ptr %pb
  %ab = {mul} {type} %a, %b
  %next = {add} {type} %sum, %ab
  %j1 = add i64 %j, 1
  br label %inner
columns_end:
  %c0 = mul i64 %i, %s7
  %c1 = mul i64 %k, %s8
  %c2 = add i64 %c0, %c1
  %pc = getelementptr i8, ptr %x2, i64 %c2
  store {type} %sum, ptr %pc
  %k1 = add i64 %k, 1
  br label %columns
rows_end:
  %i1 = add i64 %i, 1
  br label %rows
end:
  ret void
}}
"""


#: {unit: function of C's library, with one or two arguments} in the place of loops of ufuncs
_SAME = ("sin", "cos", "tan", "sinh", "cosh", "cbrt", "exp2", "log2", "log10", "hypot")
_INVERSE = ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")
_OF_LIBM = {
    **{f"numpy_{name}": name for name in _SAME},
    **{f"numpy_arc{name}": f"a{name}" for name in _INVERSE},
    "numpy_power": "pow", "numpy_nextafter": "nextafter", "scipy_erf": "erf", "scipy_erfc": "erfc",
    "scipy_gammaln": "lgamma", "scipy_gamma": "tgamma", "scipy_cbrt": "cbrt",
}  # fmt: skip
_LOOP = """
@data_{name} = internal global i8 0
define internal void @loop_{name}(ptr %args, ptr %count, ptr %steps, ptr %none) {{
entry:
  %n = load i64, ptr %count
{reads}
  br label %test
test:
  %i = phi i64 [0, %entry], [%i1, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
{loads}
  %y = call double @{function}({values})
  %py = getelementptr double, ptr %x{nin}, i64 %i
  store double %y, ptr %py
  %i1 = add i64 %i, 1
  br label %test
end:
  ret void
}}
"""


def _of_libm(name: str, nin: int) -> Unit:
    """Return the loop of a function of C's library, over numbers without gaps."""
    reads = [f"  %p{i} = getelementptr ptr, ptr %args, i64 {i}\n  %x{i} = load ptr, ptr %p{i}"
             for i in range(nin + 1)]  # fmt: skip
    loads = [f"  %q{i} = getelementptr double, ptr %x{i}, i64 %i\n  %v{i} = load double, ptr %q{i}"
             for i in range(nin)]  # fmt: skip
    values = ", ".join([f"double %v{i}" for i in range(nin)])
    text = _LOOP.format(name=name, function=_OF_LIBM[name], reads="\n".join(reads),
                        loads="\n".join(loads), values=values, nin=nin)  # fmt: skip
    types = ", ".join(["double"] * nin)
    return Unit(text, (f"declare double @{_OF_LIBM[name]}({types})",), ())


def _product(name: str) -> Unit:
    """Return the product of a kind of numbers, by three loops."""
    kind = name.removeprefix(PRODUCT_PREFIX)
    type_ = LLVM_TYPE[kind]
    is_float = type_ in ("double", "float")
    reads = [f"  %px{i} = getelementptr ptr, ptr %args, i64 {i}\n  %x{i} = load ptr, ptr %px{i}"
             for i in range(3)]  # fmt: skip
    for base, short, numbers in (("dims", "d", range(1, 4)), ("steps", "s", range(3, 9))):
        reads += [f"  %p{short}{i} = getelementptr i64, ptr %{base}, i64 {i}\n"
                  f"  %{short}{i} = load i64, ptr %p{short}{i}" for i in numbers]  # fmt: skip
    words = {"mul": "fmul", "add": "fadd", "zero": "0.0"} if is_float else {
        "mul": "mul", "add": "add", "zero": "0"}  # fmt: skip
    text = _PRODUCT.format(name=name, type=type_, reads="\n".join(reads), **words)
    return Unit(text, (), ())


@dataclass(frozen=True)
class Standalone:
    """Function of C. text: in LLVM's language. code: an object file. header: its declaration.
    routines: the routines of LAPACK and BLAS that it calls, by their names in Fortran.
    """

    name: str
    text: str
    code: bytes
    header: str
    routines: tuple[str, ...]


def standalone(fgraph: FunctionGraph, name: str, machine: Machine | None = None) -> Standalone:
    """Return a graph as a function of C. All lengths must be known from the types of the inputs.

    name: of the function. machine: that it is for; by default that of this process. Raises
    `UntraceableError` for a graph with ops that have no native code, that call SciPy's functions,
    or with lengths that depend on values.
    """
    machine = machine or host()
    region, inputs = _region(fgraph, machine)
    entry = _EntryOfC(region, name, inputs)
    units = {one.text: one for one in (*_units(region), *_kernels(region))}
    defined = {f"@{name}(" for text in units for name in _DEFINED.findall(text)}
    declared = {line for one in units.values() for line in one.declared}
    defined |= {f"@{name} " for text in units for name in _GLOBALS.findall(text)}
    missing = [line for line in declared if not any([name in line for name in defined])]
    own = Unit("\n".join(entry.lines) + "\n", (*_OF_C, *missing), ())
    text = module_text([*[u._replace(declared=()) for u in units.values()], own], machine)
    routines = {u.removeprefix(ROUTINE_PREFIX) for k in region.plan.texts or () for u in k.units
                if u.startswith(ROUTINE_PREFIX)}  # fmt: skip
    for routine in routines:  # (as Fortran names them)
        text = text.replace(f"@{ROUTINE_PREFIX}{routine}(", f"@{routine}_(")
    return Standalone(name, text, _object(text, machine), entry.header(), tuple(sorted(routines)))


def _kernels(region: NativeRegion) -> list[Unit]:
    return [kernel.unit() for kernel in region.plan.texts or ()]


def _region(fgraph: FunctionGraph, machine: Machine) -> tuple[NativeRegion, list[Any]]:
    """Return the only region of a graph, with its kernels as texts; and the inputs of the graph, as
    the region knows them (None for one that it does not read).
    """
    cut = regions(fgraph, machine)
    nodes = list(cut.toposort())
    others = [node for node in nodes if not isinstance(node.op, NativeRegion)]
    if others:
        why = "; ".join([f"{node.op} ({reason(node) or 'it is alone'})" for node in others])
        raise _refusal(others[0], f"only native code can be exported, and not {why}")
    if len(nodes) != 1 or {*cut.outputs} != {*nodes[0].outputs}:
        what = f"the graph has {plural(len(nodes), 'region')} of native code, and needs one"
        raise UntraceableError(f"{what} that computes all results: lengths depend on values, or a "
                               "result is an argument or a constant")  # fmt: skip
    (node,) = nodes
    takes = dict(zip(node.inputs, node.op.takes, strict=True))
    gives = dict(zip(node.outputs, node.op.gives, strict=True))
    own = [gives[v] for v in cut.outputs]
    known = [takes.get(v) for v in cut.inputs]
    given = [v for v in known if v is not None]
    return NativeRegion(node.op.nodes, given, own, machine, exported=True), [
        (v, known[k]) for k, v in enumerate(fgraph.inputs)
    ]


def _refusal(node: Apply, what: str) -> UntraceableError:
    return UntraceableError(message(what, op=node.op, inputs=node.inputs, where=node.where()))


def _units(region: NativeRegion) -> Iterator[Unit]:
    """Yield the functions that kernels call, and those that these call."""
    todo = [name for kernel in region.plan.texts or () for name in kernel.units]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name == SPLIT_UNIT:
            yield Unit(_SPLIT, (), ())
        elif name.startswith(PRODUCT_PREFIX):
            yield _product(name)
        elif name.startswith(ROUTINE_PREFIX):
            continue
        else:
            one = unit(name, region.plan.machine)
            short = name.rpartition("_w")[0]
            if short in _OF_LIBM:
                yield _of_libm(short, ufuncs[short].nin)
            elif one.imports:
                what = short.replace("_", ".", 1)
                why = "it is a function of Python's libraries"
                raise UntraceableError(f"{what} cannot be exported: {why}")
            todo += one.units
            yield one


class _EntryOfC:
    """Writer of the entry: it fills the frame, and runs the kernels in turn."""

    def __init__(self, region: NativeRegion, name: str, inputs: Sequence[Any]) -> None:
        self.region, self.name, self.given = region, name, inputs
        self.table = [int(n) for n in region.table]
        self.lines: list[str] = []
        self.n = 0
        self.data: list[str] = []
        self._write()

    def head(self, name: str) -> int:
        return self.table[HEADER_INDEX[name]]

    def new(self, text: str) -> str:
        self.n += 1
        self.lines.append(f"  %v{self.n} = {text}")
        return f"%v{self.n}"

    def place(self, word: int) -> str:
        return self.new(f"getelementptr i64, ptr %frame, i64 {word}")

    def put(self, word: int, x: str, type_: str = "i64") -> None:
        self.lines.append(f"  store {type_} {x}, ptr {self.place(word)}")

    def get(self, word: int) -> str:
        return self.new(f"load i64, ptr {self.place(word)}")

    def need(self, test: str) -> None:
        self.n += 1
        self.lines += [f"  br i1 {test}, label %ok{self.n}, label %refused", f"ok{self.n}:"]

    def _write(self) -> None:
        plan, table = self.region.plan, self.table
        places = [f"%in{k}" for k in range(len(self.given))]
        self.inputs = {own: x for x, (_, own) in zip(places, self.given, strict=True)}
        self.outputs = [f"%out{k}" for k in range(len(self.region.gives))]
        given = ", ".join([f"ptr {x}" for x in (*places, *self.outputs)])
        start = len(self.lines)
        self.lines += [f"define i32 @{self.name}({given}) #0 {{", "entry:"]
        self.lines.append(f"  %frame = alloca i64, i64 {self.head('slots')}, align 64")
        self._constants(plan)
        self._arguments(table)
        self._instructions(table)
        total = self.get(self.head("total"))
        size = self.new(f"add i64 {total}, 64")
        self.lines.append(f"  %memory = call ptr @aligned_alloc(i64 64, i64 {self._rounded(size)})")
        self.need(self.new("icmp ne ptr %memory, null"))
        at = self.head("at_places")
        for word in table[at : at + self.head("n_places")]:
            self.put(word, self.new(f"getelementptr i8, ptr %memory, i64 {self.get(word)}"), "ptr")
        at = self.head("at_results")
        for k, out in enumerate(self.outputs):
            self.put(table[table[at + k]], out, "ptr")
        self._kernels(table)
        self.lines += ["  call void @free(ptr %memory)", "  ret i32 0"]
        self.lines += ["failed:", "  call void @free(ptr %memory)", "  br label %refused"]
        self.lines += ["refused:", "  ret i32 1", "}"]
        self.lines[start:start] = self.data

    def _rounded(self, size: str) -> str:
        return self.new(f"and i64 {self.new(f'add i64 {size}, 63')}, -64")

    def _constants(self, plan: Any) -> None:
        """Fill the frame with numbers, and the addresses of constant arrays."""
        arrays = {x.ctypes.data: x for x in plan.alive if hasattr(x, "ctypes")}
        start = self.head("at_template")
        for word, n in enumerate(self.table[start : start + self.head("slots")]):
            if n in arrays:
                self.put(word, self._array(arrays[n]), "ptr")
            else:
                self.put(word, str(n))

    def _array(self, x: Any) -> str:
        content = "".join([f"\\{byte:02x}" for byte in x.tobytes()])
        name = f"@{self.name}_data{len(self.data)}"
        size = x.nbytes
        self.data.append(f'{name} = internal constant [{size} x i8] c"{content}", align 64')
        return name

    def _arguments(self, table: Sequence[int]) -> None:
        start = self.head("at_arguments")
        for k, v in enumerate(self.region.takes):
            row = table[start + ARGUMENT_WORDS * k :]
            self.put(row[0], self.inputs[v], "ptr")
            for axis, n in enumerate(v.type.shape):
                self.put(row[4] + axis, str(n))

    def _instructions(self, table: Sequence[int]) -> None:
        start = self.head("at_instructions")
        for k in range(self.head("instructions")):
            code, target, a, b = table[start + 4 * k :][:4]
            self._one(INSTRUCTIONS[code], target, self.get(a), self.get(b))

    def _one(self, name: str, target: int, a: str, b: str) -> None:
        tests = {"equal": f"eq i64 {a}, {b}", "less": f"slt i64 {a}, {b}",
                 "positive": f"sgt i64 {a}, 0"}  # fmt: skip
        if name in tests:
            self.need(self.new(f"icmp {tests[name]}"))
            return
        if name in ("min", "max"):
            test = self.new(f"icmp {'slt' if name == 'min' else 'sgt'} i64 {a}, {b}")
            found = self.new(f"select i1 {test}, i64 {a}, i64 {b}")
        elif name == "round":
            found = self.new(f"and i64 {self.new(f'add i64 {a}, 191')}, -64")
        elif name == "wrap":
            below = self.new(f"icmp slt i64 {a}, 0")
            found = self.new(f"select i1 {below}, i64 {self.new(f'add i64 {a}, {b}')}, i64 {a}")
        elif name == "load":
            found = self.new(f"load i64, ptr {self.new(f'inttoptr i64 {a} to ptr')}")
        else:
            found = self.new(f"{'sdiv' if name == 'div' else name} i64 {a}, {b}")
        self.put(target, found)

    def _kernels(self, table: Sequence[int]) -> None:
        """Call the kernels. One that returns more than 1 goes back by so many words, less 2, to
        the kernel that begins there.
        """
        start, n = self.head("at_kernels"), self.head("n_kernels")
        rows, at = dict[int, int](), 0
        texts = self.region.plan.texts or []
        while at < n:
            rows[at] = len(rows)
            at += 2 + table[start + at + 1]
        words = [str(w) for w in table[start : start + n]]
        name = f"@{self.name}_words"
        numbers = ", ".join([f"i64 {w}" for w in words])
        self.data.append(f"{name} = internal constant [{n} x i64] [{numbers}], align 64")
        self.lines.append("  br label %kernel0")
        for far, k in rows.items():
            self.lines.append(f"kernel{k}:")
            places = self.new(f"getelementptr i64, ptr {name}, i64 {far + 2}")
            found = self.new(f"call i64 @{texts[k].name}(ptr %frame, ptr {places})")
            backs = " ".join([f"i64 {far - to + 2}, label %kernel{j}" for to, j in rows.items()
                              if to <= far])  # fmt: skip
            cases = f"i64 0, label %kernel{k + 1} {backs}"
            self.lines.append(f"  switch i64 {found}, label %failed [{cases}]")
        self.lines.append(f"kernel{len(rows)}:")

    def header(self) -> str:
        """Return the declaration in C."""

        def one(v: Any, name: str, const: str) -> tuple[str, str]:
            lengths = ", ".join(map(str, v.type.shape)) or "one number"
            return f"{const}{C_TYPES[v.type.dtype]} *{name}", f"{name}: {lengths}"

        names = [v.name if str(v.name).isidentifier() else f"input{k}"
                 for k, (v, _) in enumerate(self.given)]  # fmt: skip
        pairs = zip(self.given, names, strict=True)
        parts = [one(v, name, "const ") for (v, _), name in pairs]
        parts += [one(v, f"result{k}", "") for k, v in enumerate(self.region.gives)]
        arguments = ", ".join([part for part, _ in parts])
        about = "\n".join([f" *   {text}" for _, text in parts])
        guard = f"{self.name.upper()}_H"
        return (
            f"/* Lengths, in C order:\n{about}\n * Returns 0, or 1 if it cannot compute the results"
            f" (a matrix is singular, an index outside). */\n#ifndef {guard}\n#define {guard}\n"
            f'#include <stdint.h>\n#ifdef __cplusplus\nextern "C"\n#endif\n'
            f"int32_t {self.name}({arguments});\n#endif\n"
        )


def _object(text: str, machine: Machine) -> bytes:
    """Return the object file of a text, for programs that are linked as usual."""
    found = llvm()
    module = found.parse_assembly(text)
    target = found.Target.from_default_triple()
    maker = target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=2, reloc="pic", codemodel="default"
    )
    return bytes(maker.emit_object(module))
