"""Table of where the names of PyTensor, Aesara and Theano are looked up. Data only."""

from __future__ import annotations

from typing import TypeAlias

from rewrite_engine.compat.converters import Converter, called, given, listed, one_or_several

#: {the library: the version whose names these are}
VERSIONS = {"pytensor": "3.3.7", "aesara": "2.9.4", "theano": "1.0.5"}

TENSOR = "rewrite_engine.tensor"
GRAPH = "rewrite_engine.graph"
XTENSOR = "rewrite_engine.xtensor"

#: {module of the library, without its first name: our modules, asked in this order}. A module that
#: is not here has the homes of the one above it.
HOMES: dict[str, tuple[str, ...]] = {
    "": (
        "rewrite_engine",
        "rewrite_engine.gradient",
        "rewrite_engine.compile",
        "rewrite_engine.printing",
        "rewrite_engine.loops",
    ),
    "basic": ("rewrite_engine.tensor.constant",),
    "assumptions": (),
    "compile": (
        "rewrite_engine.compile",
        "rewrite_engine.compile.ops",
        "rewrite_engine.compile.shared",
        "rewrite_engine.compat.rewriting",
        "rewrite_engine",
        "rewrite_engine.errors",
    ),
    "compile.rewriting": ("rewrite_engine.compat.extras",),
    "compile.mode": (
        "rewrite_engine.compile",
        "rewrite_engine.link",
        "rewrite_engine.compat.rewriting",
        "rewrite_engine.compat.databases",
    ),
    "gradient": (
        "rewrite_engine.gradient",
        "rewrite_engine.gradient.stops",
        "rewrite_engine.errors",
    ),
    "graph": (
        "rewrite_engine.compat.graphs",
        "rewrite_engine",
        f"{GRAPH}.fgraph",
        "rewrite_engine.compat.walks",
        f"{GRAPH}.traverse",
        f"{GRAPH}.replace",
        f"{GRAPH}.inner",
        f"{TENSOR}.blockwise",
        "rewrite_engine.match.decorate",
        "rewrite_engine.compat.rewriting",
        "rewrite_engine.errors",
    ),
    "graph.basic": (
        "rewrite_engine.compat.graphs",
        "rewrite_engine.compat.texts",
        f"{GRAPH}.node",
        "rewrite_engine.compat.walks",
        f"{GRAPH}.traverse",
        f"{GRAPH}.replace",
        f"{GRAPH}.type",
        f"{GRAPH}.fgraph",
    ),
    "graph.fg": (f"{GRAPH}.fgraph", "rewrite_engine.errors"),
    "graph.features": (f"{GRAPH}.feature", f"{GRAPH}.history", "rewrite_engine.errors"),
    "graph.destroyhandler": (f"{GRAPH}.destroyhandler",),
    "graph.null_type": (f"{GRAPH}.null", "rewrite_engine.gradient"),
    "graph.op": (f"{GRAPH}.op", f"{GRAPH}.inner"),
    "graph.replace": (f"{GRAPH}.replace", f"{TENSOR}.blockwise"),
    "graph.rewriting": (
        "rewrite_engine.compat.rewriters",
        "rewrite_engine.compat.databases",
        "rewrite_engine.compat.rewriting",
        "rewrite_engine.compat.unify",
        "rewrite_engine.match.decorate",
        "rewrite_engine.match.rule",
        "rewrite_engine.match.query",
        "rewrite_engine.match.relation",
        "rewrite_engine.rewrite.driver",
        "rewrite_engine.rewrite.equilibrium",
        "rewrite_engine.rewrite.strategies",
        "rewrite_engine.rewrite.strategies.node",
    ),
    "graph.rewriting.kanren": ("rewrite_engine.terms.dispatch", "rewrite_engine.match.relation"),
    "graph.rewriting.unify": ("rewrite_engine.terms.dispatch", "rewrite_engine.compat.unify"),
    "graph.traversal": (
        "rewrite_engine.compat.graphs",
        "rewrite_engine.compat.walks",
        f"{GRAPH}.traverse",
    ),
    "graph.type": (f"{GRAPH}.type",),
    "graph.utils": ("rewrite_engine.errors",),
    "conditional": (f"{TENSOR}.flow.branches",),
    "ifelse": (f"{TENSOR}.flow.branches",),
    "link": ("rewrite_engine.link",),
    "breakpoint": (f"{TENSOR}.flow.watch",),
    "compile.debug": ("rewrite_engine.compile.watching", "rewrite_engine.compile"),
    "compile.debug.debugmode": ("rewrite_engine.compile.debug", "rewrite_engine.compile"),
    "compile.debugmode": ("rewrite_engine.compile.debug", "rewrite_engine.compile"),
    "compile.monitormode": ("rewrite_engine.compile.watching",),
    "compile.profiling": ("rewrite_engine.compile.profiling",),
    "compile.nanguardmode": ("rewrite_engine.compile.watching",),
    "printing": ("rewrite_engine.printing", f"{TENSOR}.flow.watch"),
    "d3viz": ("rewrite_engine.printing",),
    "misc": (),
    "npy_2_compat": (),
    "link.c": ("rewrite_engine.compat.c_code", "rewrite_engine.link.c"),
    "link.jax": ("rewrite_engine.compat.jax",),
    "link.mlx": (),
    "link.numba": (),
    "link.pytorch": (),
    "raise_op": ("rewrite_engine.compat.extras", f"{TENSOR}.flow.raise_op"),
    "scan": ("rewrite_engine.loops", "rewrite_engine.loops.op"),
    "scan.rewriting": (),
    "sparse": ("rewrite_engine.sparse", "rewrite_engine.compat.sparse", "rewrite_engine.errors"),
    "sparse.linalg": ("rewrite_engine.sparse.linalg",),
    "sparse.sharedvar": ("rewrite_engine.compile.shared_sparse",),
    "sparse.utils": (),
    "sparse.rewriting": ("rewrite_engine.compat.databases",),
    "scalar": (
        "rewrite_engine.scalar",
        "rewrite_engine.scalar.ops",
        "rewrite_engine.scalar.op",
        "rewrite_engine.scalar.type",
        "rewrite_engine.scalar.constructors",
        "rewrite_engine.scalar.composite",
        "rewrite_engine.scalar.dtype",
        "rewrite_engine.compat.scalar_types",
        "rewrite_engine.compat.scalars",
        "rewrite_engine.compat.scalar_outputs",
    ),
    "tensor": (TENSOR, "rewrite_engine.errors"),
    "tensor.blockwise": (f"{TENSOR}.blockwise",),
    "tensor.blas": (f"{TENSOR}.product.dots", f"{TENSOR}.product.products", TENSOR),
    "tensor.elemwise": (f"{TENSOR}.elemwise", f"{TENSOR}.reduce", f"{TENSOR}.dimshuffle", TENSOR),
    "tensor.exceptions": ("rewrite_engine.errors",),
    "tensor.fft": (f"{TENSOR}.fft", TENSOR),
    "tensor.inplace": ("rewrite_engine.compat.inplace",),
    "tensor.linalg": (f"{TENSOR}.linalg", TENSOR),
    "tensor.nnet": ("rewrite_engine.compat.nnet", TENSOR),
    "tensor.optimize": ("rewrite_engine.optimize",),
    "tensor.random": (
        "rewrite_engine.random",
        "rewrite_engine.random.functions",
        "rewrite_engine.compile.shared",
    ),
    "tensor.random.rewriting": ("rewrite_engine.compat.draws",),
    "tensor.rewriting": ("rewrite_engine.compat.databases",),
    "tensor.sharedvar": ("rewrite_engine.compile.shared",),
    "tensor.signal": (f"{TENSOR}.signal", TENSOR),
    "tensor.signal.conv": (f"{TENSOR}.signal", "rewrite_engine.compat.images"),
    "tensor.signal.pool": ("rewrite_engine.compat.images",),
    "tensor.subtensor": ("rewrite_engine.compat.indices", TENSOR, "rewrite_engine.errors"),
    "tensor.type": (f"{TENSOR}.type", f"{TENSOR}.constructors", TENSOR),
    "tensor.variable": (f"{TENSOR}.variable", TENSOR),
    "updates": (),
    "utils": ("rewrite_engine.compat.extras",),
    "xtensor": (XTENSOR,),
    "xtensor.basic": (f"{XTENSOR}.type", f"{XTENSOR}.ops", f"{XTENSOR}.shape", XTENSOR),
    **{
        f"xtensor.{name}": (f"{XTENSOR}.{name}",)
        for name in ("indexing", "linalg", "math", "random", "reduction", "shape", "vectorization")
    },
    "xtensor.type": (f"{XTENSOR}.type", f"{XTENSOR}.variable", f"{XTENSOR}.shared", XTENSOR),
}

#: modules that have homes by the one above them
MODULES = """
compile.aliasing compile.builders compile.debug.debugmode compile.debug.monitormode
compile.debug.nanguardmode compile.debugmode
compile.executor compile.function
compile.pfunc
compile.function.pfunc compile.function.types compile.io compile.maker compile.ops compile.rebuild
compile.sharedvalue configdefaults configparser graph.kanren graph.opt graph.rewriting.basic
graph.rewriting.db graph.rewriting.unify graph.rewriting.utils
link.basic link.vm misc raise_op scalar.basic scalar.math scalar.sharedvar scan.basic
scan.checkpoints scan.op scan.utils scan.views tensor.basic tensor.einsum tensor.extra_ops
tensor.functional tensor.inplace tensor.interpolate tensor.math tensor.nlinalg tensor.nnet.basic
tensor.nnet.abstract_conv tensor.nnet.bn tensor.nnet.conv tensor.nnet.nnet tensor.nnet.sigm
tensor.opt tensor.pad tensor.random.basic
tensor.random.op tensor.random.type tensor.random.utils tensor.random.var tensor.random.variable
tensor.reshape tensor.rewriting tensor.shape tensor.sharedvar tensor.signal.conv tensor.slinalg
tensor.sort tensor.special tensor.type_other tensor.utils tensor.var tensor.xlogx
tensor.linalg.decomposition tensor.linalg.constructors tensor.linalg.inverse
tensor.linalg.products tensor.linalg.solvers tensor.linalg.summary
tensor.linalg.decomposition.cholesky tensor.linalg.decomposition.eigen
tensor.linalg.decomposition.lu tensor.linalg.decomposition.qr tensor.linalg.decomposition.schur
tensor.linalg.decomposition.svd tensor.linalg.solvers.core tensor.linalg.solvers.general
tensor.linalg.solvers.linear_control tensor.linalg.solvers.lstsq tensor.linalg.solvers.psd
tensor.linalg.solvers.triangular tensor.linalg.solvers.tridiagonal
assumptions.specify compile.debug.profiling compile.rewriting conditional conditional.op
link.c.basic link.c.cmodule link.c.cvm
link.c.exceptions link.c.interface link.c.op link.c.params_type link.c.type
link.jax.dispatch link.jax.linker
link.mlx.linker link.numba.linker link.pytorch.linker sandbox.sparse sparse.basic sparse.math
sparse.opt sparse.rewriting sparse.sharedvar sparse.type sparse.utils sparse.variable
misc.may_share_memory misc.safe_asarray scalar.basic_scipy tensor.nnet.batchnorm
tensor.rewriting.blas tensor.rewriting.blockwise tensor.rewriting.elemwise
tensor.rewriting.extra_ops tensor.rewriting.linalg tensor.rewriting.special
tensor.rewriting.subtensor tensor.rewriting.subtensor_lift tensor.rewriting.uncanonicalize
tensor.random.rewriting tensor.rewriting.basic tensor.rewriting.math tensor.rewriting.shape
xtensor.random.basic xtensor.random.type xtensor.random.variable xtensor.rewriting
""".split()  # noqa: SIM905

#: {module as older versions call it: as PyTensor does}
OLD_MODULES = {
    "compile.function_module": "compile.function.types",
    "gof": "graph",
    "gof.fg": "graph.fg",
    "gof.graph": "graph.basic",
    "gof.null_type": "graph.null_type",
    "gof.op": "graph.op",
    "gof.opt": "graph.rewriting",
    "gof.params_type": "link.c.params_type",
    "gof.toolbox": "graph.features",
    "gof.type": "graph.type",
    "gof.utils": "graph.utils",
    "graph.kanren": "graph.rewriting.kanren",
    "graph.opt_utils": "graph.rewriting.utils",
    "graph.optdb": "graph.rewriting.db",
    "graph.unify": "graph.rewriting.unify",
    "graph.opt": "graph.rewriting",
    "graph.params_type": "link.c.params_type",
    "sandbox.linalg": "tensor.linalg",
    "sandbox.rng_mrg": "tensor.random",
    "sandbox.sparse": "sparse",
    "scan_module": "scan",
    "sparse.opt": "sparse.rewriting",
    "scan_module.scan_op": "scan.op",
    "scan_module.scan_utils": "scan.utils",
    "scan_module.scan_views": "scan.views",
    "scalar.basic_scipy": "scalar.math",
    "tensor.basic_opt": "tensor.rewriting.basic",
    "tensor.math_opt": "tensor.rewriting.math",
    "tensor.nlinalg": "tensor.linalg",
    "tensor.opt_uncanonicalize": "tensor.rewriting.uncanonicalize",
    "tensor.opt": "tensor.rewriting",
    "tensor.raw_random": "tensor.random",
    "tensor.shared_randomstreams": "tensor.random",
    "tensor.signal.downsample": "tensor.signal.pool",
    "tensor.slinalg": "tensor.linalg",
    "tensor.subtensor_opt": "tensor.rewriting.subtensor",
}
MODULES += [*OLD_MODULES, "sandbox"]

#: modules that PyTensor keeps for their names alone: each use of one is a `DeprecationWarning`
MOVED = {
    "pytensor.tensor.nlinalg": "pytensor.tensor.linalg",
    "pytensor.tensor.slinalg": "pytensor.tensor.linalg",
}

#: modules that hide a name of ours in the module above them, as `.name` or `module.name`
HIDING = frozenset({".ifelse", "tensor.subtensor"})

#: our module and name, and what converts that to the other library's arguments or results
Row: TypeAlias = str | tuple[str, Converter]

#: {module and name: our module and name, with a converter if needed}
RENAMED: dict[str, Row] = {
    "OrderedUpdates": "builtins:dict",
    "updates.OrderedUpdates": "builtins:dict",
    "link.basic.PerformLinker": "rewrite_engine.compat.linkers:PerformLinker",
    "link.basic.Container": "rewrite_engine.compat.linkers:Container",
    "link.c.basic.DualLinker": "rewrite_engine.compat.linkers:DualLinker",
    "link.vm.VMLinker": "rewrite_engine.compat.linkers:VMLinkerOfOthers",
    **{
        f"{module}.pfunc": "rewrite_engine.compile:function"
        for module in ("compile", "compile.function", "compile.function.pfunc", "compile.pfunc")
    },
    "graph.rewriting.KanrenRelationSub": "rewrite_engine.compat.rewriters:RelationOfOthers",
    "graph.rewriting.NodeRewriter": "rewrite_engine.compat.rewriters:ClassRewriter",
    "assumptions.assume": "rewrite_engine.compat.extras:assume",
    **{
        f"{module}.{name}": f"rewrite_engine.compat.op_classes:{name}"
        for module, names in (
            ("tensor.subtensor", "AdvancedIncSubtensor1 AdvancedSubtensor1 advanced_inc_subtensor"),
            ("tensor.subtensor", "advanced_inc_subtensor1 advanced_set_subtensor"),
            ("tensor.subtensor", "advanced_set_subtensor1 advanced_subtensor advanced_subtensor1"),
        )
        for name in names.split()
    },
    **{
        f"tensor.subtensor.{name}": f"rewrite_engine.compat.indices:{name}"
        for name in ("_is_provably_non_negative", "_is_provably_positive")
    },
    "tensor.subtensor.unflatten_index_variables": (
        "rewrite_engine.compat.indices:indices_from_subtensor"
    ),
    **{
        f"{module}.{name}": home
        for module in ("graph", "graph.basic", "graph.traversal")
        for name, home in (
            ("variable_ancestors", f"{GRAPH}.traverse:ancestors"),
            ("variable_depends_on", "rewrite_engine.compat.walks:depends_on"),
        )
    },
    **{
        f"{module}.{name}": f"rewrite_engine.compat.op_classes:{name}"
        for module, name in (
            ("tensor.basic", "Eye"),
            ("tensor.basic", "PermuteRowElements"),
            ("tensor.basic", "Split"),
        )
    },
    "misc.may_share_memory.may_share_memory": "rewrite_engine.compat.extras:may_share_memory",
    "misc.safe_asarray._asarray": "rewrite_engine.compat.extras:_asarray",
    "_asarray": "rewrite_engine.compat.extras:_asarray",
    "tensor.math._allclose": "rewrite_engine.compat.extras:_allclose",
    "tensor.math._dot": "rewrite_engine.tensor.product.dots:_dot",
    "get_scalar_constant_value": "rewrite_engine.tensor:get_underlying_scalar_constant_value",
    **{
        f"{module}.RewriteDatabaseQuery": "rewrite_engine.compat.databases:RewriteDatabaseQuery"
        for module in ("graph", "graph.rewriting", "graph.rewriting.db")
    },
    "graph.rewriting.OptimizationQuery": "rewrite_engine.compat.databases:RewriteDatabaseQuery",
    "graph.rewriting.Query": "rewrite_engine.compat.databases:RewriteDatabaseQuery",
    "graph.rewriting.OptimizationDatabase": "rewrite_engine.compat.databases:RewriteDatabase",
    "graph.basic.general_toposort": "rewrite_engine.compat.extras:general_toposort",
    "graph.rewriting.optimize_graph": "rewrite_engine.pipeline.phases:rewrite_graph",
    "graph.op.get_test_value": "rewrite_engine.compat.extras:get_test_value",
    "scalar.Scalar": "rewrite_engine.scalar.type:ScalarType",
    "scalar.get_scalar_type": "rewrite_engine.scalar.type:ScalarType",
    "scalar.upcast": "rewrite_engine.scalar.dtype:promote",
    "scalar.ScalarOp": "rewrite_engine.compat.scalars:ScalarOpOfOthers",
    "scalar.floats": "rewrite_engine.compat.scalar_types:floats",
    "scalar.ints": "rewrite_engine.compat.scalar_types:ints",
    **{
        f"tensor.{module}{name}": f"rewrite_engine.compat.extras:{name}"
        for module in ("", "extra_ops.")
        for name in ("bincount", "unique")
    },
    **{
        f"scalar.{module}{name}": home
        for module in ("", "basic.")
        for name, home in (
            ("ComplexError", "rewrite_engine.errors:DTypeError"),
            (
                "round_half_away_from_zero_vec",
                "rewrite_engine.compat.extras:round_half_away_from_zero_vec",
            ),
        )
    },
    "tensor.elemwise.CAReduce": "rewrite_engine.compat.op_classes:CAReduce",
    "tensor.math.ProdWithoutZeros": "rewrite_engine.compat.op_classes:ProdWithoutZeros",
    "compile.aliasing.add_supervisor_to_fgraph": (
        "rewrite_engine.compat.features:add_supervisor_to_fgraph"
    ),
    "utils.to_return_values": "rewrite_engine.compat.extras:to_return_values",
    "tensor.type.DenseTensorType": "rewrite_engine.tensor.type:TensorType",
    **{
        f"tensor.{module}.{dense}": f"rewrite_engine.tensor.variable:{name}"
        for module in ("var", "variable")
        for dense, name in (
            ("DenseTensorVariable", "TensorVariable"),
            ("DenseTensorConstant", "TensorConstant"),
        )
    },
    "utils.PYTHON_INT_BITWIDTH": "rewrite_engine.compat.extras:PYTHON_INT_BITWIDTH",
    "utils.LOCAL_BITWIDTH": "rewrite_engine.compat.extras:PYTHON_INT_BITWIDTH",
    "sparse.shared": "rewrite_engine.compile.shared:shared",
    "sparse.all_dtypes": "rewrite_engine.sparse:all_dtypes",
    "sparse.sparse_formats": "rewrite_engine.sparse:sparse_formats",
    "sparse._mtypes": "rewrite_engine.compat.sparse:_mtypes",
    **{
        f"sparse.{name}": f"rewrite_engine.compat.sparse:{name}"
        for name in ("_is_dense", "_is_dense_variable", "_is_sparse", "_is_sparse_variable")
    },
    "sparse.AddSSData": "rewrite_engine.sparse:Add",
    "sparse.AddSS": "rewrite_engine.sparse:Add",
    "sparse.AddSparseSparse": "rewrite_engine.sparse:Add",
    "sparse.Diag": "rewrite_engine.sparse:SparseDiagonal",
    "sparse.Dot": "rewrite_engine.sparse:SparseDot",
    "sparse.GetItem2Lists": "rewrite_engine.sparse:Elements",
    "sparse.GetItem2d": "rewrite_engine.sparse:SparseSlices",
    "sparse.GetItemList": "rewrite_engine.sparse:SparseRows",
    "sparse.MulSS": "rewrite_engine.sparse:Multiply",
    "sparse.MultiplySparseSparse": "rewrite_engine.sparse:Multiply",
    "sparse.SparseBlockDiagonal": "rewrite_engine.sparse:BlockDiagonal",
    "sparse.SparseType": "rewrite_engine.sparse:SparseTensorType",
    "sparse.Transpose": "rewrite_engine.sparse:SparseTranspose",
    "sparse.linalg.SparseBlockDiagonal": "rewrite_engine.sparse:BlockDiagonal",
    "graph.rewriting.bfs_rewriter": "rewrite_engine.compat.rewriting:out2in",
    "graph.rewriting.is_same_graph": "rewrite_engine.graph.replace:is_same_graph",
    "clone": "rewrite_engine.graph.replace:clone_replace",
    "dot": "rewrite_engine.tensor:dot",
    **{
        f"tensor.linalg.{name}": (f"{TENSOR}.linalg:{name}", listed)
        for name in ("eig", "eigh", "lu", "lu_factor", "qr", "qz", "schur", "slogdet", "svd")
    },
    "scan": "rewrite_engine.compat.loops:scan",
    "scan.scan": "rewrite_engine.compat.loops:scan",
    "scan.basic.scan": "rewrite_engine.compat.loops:scan",
    "scan.op.Scan": "rewrite_engine.compat.loops:PeerScan",
    "scan.op.ScanInfo": "rewrite_engine.compat.loop_parts:ScanInfo",
    "scan.utils.ScanArgs": "rewrite_engine.compat.loop_parts:ScanArgs",
    "graph.FunctionGraph": "rewrite_engine.compat.graphs:UnmergedGraph",
    "graph.basic.FunctionGraph": "rewrite_engine.compat.graphs:UnmergedGraph",
    "graph.fg.FunctionGraph": "rewrite_engine.compat.graphs:UnmergedGraph",
    "graph.fg.FrozenFunctionGraph": "rewrite_engine.compat.graphs:FrozenFunctionGraph",
    "Param": "rewrite_engine.compat.older:Param",
    "compile.Param": "rewrite_engine.compat.older:Param",
    "compile.MonitorMode": "rewrite_engine.compat.older:MonitorMode",
    "compile.debug.monitormode.MonitorMode": "rewrite_engine.compat.older:MonitorMode",
    "compile.monitormode.MonitorMode": "rewrite_engine.compat.older:MonitorMode",
    "graph.local_optimizer": "rewrite_engine.compat.older:local_optimizer",
    "graph.LocalOptimizer": "rewrite_engine.compat.rewriters:ClassRewriter",
    "graph.GraphRewriter": "rewrite_engine.rewrite.driver:GraphRewriter",
    "graph.NodeRewriter": "rewrite_engine.compat.rewriters:ClassRewriter",
    "graph.OpSub": "rewrite_engine.compat.rewriters:SubstitutionNodeRewriter",
    "graph.Optimizer": "rewrite_engine.rewrite.driver:GraphRewriter",
    "graph.Generic": "rewrite_engine.graph.type:Generic",
    "graph.generic": "rewrite_engine.graph.type:generic",
    "graph.PureOp": "rewrite_engine.graph.op:Op",
    "graph.op.PureOp": "rewrite_engine.graph.op:Op",
    "graph.type.PureType": "rewrite_engine.graph.type:Type",
    "graph.PatternSub": "rewrite_engine.compat.rewriting:PatternNodeRewriter",
    "graph.rewriting.Optimizer": "rewrite_engine.rewrite.driver:GraphRewriter",
    "graph.rewriting.OpSub": "rewrite_engine.compat.rewriters:SubstitutionNodeRewriter",
    "graph.rewriting.PatternSub": "rewrite_engine.compat.rewriting:PatternNodeRewriter",
    "graph.rewriting.local_optimizer": "rewrite_engine.compat.older:local_optimizer",
    "graph.rewriting.LocalOptimizer": "rewrite_engine.compat.rewriters:ClassRewriter",
    "graph.rewriting.OpKeyOptimizer": "rewrite_engine.compat.rewriters:OpKeyGraphRewriter",
    "graph.rewriting.SeqOptimizer": "rewrite_engine.compat.rewriters:SequentialGraphRewriter",
    "graph.rewriting.TopoOptimizer": "rewrite_engine.compat.rewriters:WalkingGraphRewriter",
    "graph.rewriting.dfs_rewriter": "rewrite_engine.compat.rewriting:out2in",
    "graph.rewriting.GlobalOptimizer": "rewrite_engine.rewrite.driver:GraphRewriter",
    "compile.mode.JAX": "rewrite_engine.compat.jax:JAX",
    "compile.mode.FAST_COMPILE": "rewrite_engine.compat.extras:FAST_COMPILE",
    "compile.mode.FAST_RUN": "rewrite_engine.compat.extras:FAST_RUN",
    "graph.traversal.general_toposort": "rewrite_engine.compat.extras:general_toposort",
    "graph.traversal.toposort": "rewrite_engine.compat.walks:last_first",
    "graph.type.HasShape": "rewrite_engine.tensor.type:TensorType",
    "graph.utils.MetaType": "rewrite_engine.graph.intern:Interned",
    # (as Theano and the first Aesara had them)
    "graph.COp": "rewrite_engine.link.c:ExternalCOp",
    "graph.op.COp": "rewrite_engine.link.c:COp",
    "graph.op.ExternalCOp": "rewrite_engine.link.c:ExternalCOp",
    "graph.type.CType": "rewrite_engine.compat.c_code:CType",
    **{
        f"{module}.{name}": f"rewrite_engine.link.c:{name}"
        for module, names in (
            ("graph", "CLinkerOp CLinkerType OpenMPOp ParamsType Params EnumType EnumList"),
            ("graph.op", "CLinkerOp OpenMPOp COpenMPOp"),
            ("graph.type", "CLinkerType CDataType EnumType EnumList CEnumType"),
        )
        for name in names.split()
    },
    "tensor.Lop": "rewrite_engine.gradient:Lop",
    "tensor.Rop": "rewrite_engine.gradient:Rop",
    "tensor.TensorLike": "typing:Any",
    **{
        f"tensor.{name}_dtypes": f"rewrite_engine.scalar.dtype:{name}_dtypes"
        for name in ("all", "complex", "continuous", "discrete", "float", "int", "integer", "uint")
    },
    "tensor.shared": "rewrite_engine.compile.shared:shared",
    **{
        f"tensor.{module}.alloc_diag": "rewrite_engine.compat.extras:alloc_diag"
        for module in ("basic", "linalg")
    },
    "tensor.basic.ExtractDiag": "rewrite_engine.tensor.index.diagonals:Diagonal",
    "tensor.extra_ops.Repeat": "rewrite_engine.compat.op_classes:Repeat",
    "tensor.math.isnan_": "rewrite_engine.tensor:isnan",
    "tensor.math._conj": "rewrite_engine.tensor:conj",
    "tensor.type_other.none_type_t": "rewrite_engine.compat.extras:none_type_t",
    "npy_2_compat.old_np_unique": "rewrite_engine.compat.extras:old_np_unique",
    "printing.char_from_number": "rewrite_engine.compat.texts:char_from_number",
    "tensor.rewriting.basic.assert_op": "rewrite_engine.compat.extras:assert_op",
    **{
        f"tensor.linalg.{name}": f"rewrite_engine.compat.op_classes:{name}"
        for name in ("Cholesky", "CholeskySolve", "Solve", "SolveTriangular")
    },
    "ifelse.IfElse": "rewrite_engine.compat.op_classes:IfElse",
    **{
        f"tensor.linalg.solve_{name}": (f"{TENSOR}.linalg:solve", given(assume_a=kind))
        for name, kind in (
            ("lower_triangular", "lower triangular"),
            ("symmetric", "sym"),
            ("upper_triangular", "upper triangular"),
        )
    },
    **{
        f"{module}.{dtype}{plural}": (f"{TENSOR}.constructors:{dtype}{plural}", one_or_several)
        for module in ("tensor", "tensor.type")
        for dtype in ("", *"bwilfdcz")
        for plural in ("scalars", "vectors", "matrices", "rows", "cols")
        + tuple([f"tensor{n}s" for n in range(3, 8)])
    },
    **{
        f"sparse.{letter}cast": ("rewrite_engine.sparse:cast", given(dtype=dtype))
        for letter, dtype in zip(
            "bwilfdcz",
            ["int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"],
            strict=True,
        )
    },
    **{
        f"sparse.{name}_s_s": ("rewrite_engine.sparse.elementwise:Compare", called(comparison))
        for name, comparison in (
            ("equal", "eq"),
            ("not_equal", "neq"),
            ("less_than", "lt"),
            ("less_equal", "le"),
            ("greater_than", "gt"),
            ("greater_equal", "ge"),
        )
    },
    "sparse.complex_dtypes": "rewrite_engine.scalar.dtype:complex_dtypes",
    "tensor.to_one_hot": "rewrite_engine.compat.extras:to_one_hot",
    "tensor.broadcast_arrays": "rewrite_engine.compat.extras:broadcast_arrays",
    **{
        f"tensor.basic._convert_to_{name}": f"rewrite_engine.compat.extras:_convert_to_{name}"
        for name in (
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "float64",
            "complex64",
            "complex128",
        )
    },
    "tensor.basic._as_tensor_variable": "rewrite_engine.tensor.constant:of_value",
    "tensor.basic.infer_shape_db": "rewrite_engine.compat.databases:infer_shape_db",
    "tensor.NotScalarConstantError": "rewrite_engine.errors:NotConstantError",
    "tensor.exceptions.NotScalarConstantError": "rewrite_engine.errors:NotConstantError",
    "graph.features.ReplaceValidate": "rewrite_engine.compat.features:ReplaceValidate",
    "graph.destroyhandler.DestroyHandler": "rewrite_engine.compat.features:OpenDestroyHandler",
    **{
        f"{module}.Supervisor": "rewrite_engine.compat.features:Supervisor"
        for module in ("compile", "compile.aliasing", "compile.function.types")
    },
    "graph.features.ReplacementDidNotRemoveError": "rewrite_engine.errors:NotRemovedError",
    "raise_op.Assert": "rewrite_engine.compat.extras:AssertOnUse",
    "tensor.math._matmul": "rewrite_engine.compat.extras:_matmul",
    "tensor.math.variadic_add": "rewrite_engine.compat.extras:variadic_add",
    "tensor.math.variadic_mul": "rewrite_engine.compat.extras:variadic_mul",
    "tensor.random.basic.broadcast_shapes": "numpy:broadcast_shapes",
    "tensor.random.basic._gamma": "rewrite_engine.random.functions:_gamma",
    "tensor.random.MRG_RandomStreams": "rewrite_engine.compat.streams:RandomStreams",
    "tensor.random.RandomStreams": "rewrite_engine.compat.streams:RandomStreams",
    "tensor.random.type.RandomType": "rewrite_engine.random.type:RandomGeneratorType",
    "tensor.random.utils.broadcast_params": "rewrite_engine.compat.extras:broadcast_params",
    **{
        f"tensor.random.utils.{name}": f"rewrite_engine.compat.extras:{name}"
        for name in ("custom_rng_deepcopy", "supp_shape_from_ref_param_shape")
    },
    "tensor.random.utils.normalize_size_param": (
        "rewrite_engine.compat.extras:normalize_size_param"
    ),
    "tensor.rewriting.basic.broadcasted_by": "rewrite_engine.compat.extras:broadcasted_by",
    "tensor.rewriting.math.local_exp_over_1_plus_exp": (
        "rewrite_engine.rules.powers.products:combine_factors"
    ),
    "tensor.xlogx.xlogx": "rewrite_engine.compat.older:xlogx",
    "tensor.xlogx.xlogy0": "rewrite_engine.tensor.special:xlogy",
    "tensor.type_other.NoneConst": "rewrite_engine.graph.type:NoneConst",
    "tensor.NoneConst": "rewrite_engine.graph.type:NoneConst",
    "tensor.type_other.NoneTypeT": "rewrite_engine.graph.type:NoneType",
    "tensor.utils._parse_gufunc_signature": "rewrite_engine.tensor.blockwise:parse",
    "tensor.utils.safe_signature": "rewrite_engine.compat.extras:safe_signature",
}

#: names of this library that no other one has, and that import JAX
OURS_ALONE = frozenset({"jax_function"})

#: {a name, or a module, that is not here: what is said of it beside that}
REASONS: dict[str, str] = {}
