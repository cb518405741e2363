"""Names of PyTensor's rewrites and tags, which programs include and exclude; and what is nearest
here. Data, and one function that reads it.
"""

from __future__ import annotations

from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet

#: names with a counterpart: {PyTensor's name: the phase, pack or rule}
NEAREST = {
    "InplaceBlasOpt": "inplace",
    "MergeOptimizer": "merge",
    "ShapeOpt": "shape",
    "ShapeOptimizer": "shape",
    "blas_opt_inplace": "inplace",
    "blockwise_inplace": "inplace",
    "canonicalize_db": "canonicalize",
    "inplace_elemwise": "inplace",
    "local_eager_useless_unbatched_blockwise": "unbatched",
    "inplace_elemwise_opt": "inplace",
    "inplace_elemwise_optimizer": "inplace",
    "merge1": "merge",
    "merge1.1": "merge",
    "merge1.2": "merge",
    "merge2": "merge",
    "merge3": "merge",
    "scan_save_mem": "last_of_trace",
    "scan_save_mem_prealloc": "last_of_trace",
    "scan_save_mem_no_prealloc": "last_of_trace",
}
_WITHOUT = """
AbstractConvCheck BlasOpt CheckStackTrace Print1.21 Print1.51 UnShapeOpt add_destroy_handler
add_mul_fusion all_pushout_opt blockwise c_blas c_blas_destructive composite_elemwise_fusion
cond_lift_single_if cond_make_inplace constant_folding_for_scan2
crossentropy_to_crossentropy_with_softmax cxx_only elemwise_fusion fusion gemm_optimizer
ifelse_merge ifelse_remove_identical_inside ifelse_simplify inline_ofg_expansion
introduce_explicit_core_shape_blockwise jax lazy_ifelse make_scipy_blas_destructive
minimum_compile more_mem numba ofg_inner_graph optimize_inner_graph py_only pytorch
random_make_inplace random_make_inplace_mrg save_mem_new_scan scan scipy_blas specialize_device
symbolic_op_recognition topo_constant_folding typed_list_inplace_rewrite uncanonicalize use_c_blas
useless
"""
#: names of what is done by other means here, or not at all: they change nothing; nor do those of
#: rewrites of single nodes, `local_...`, and of loops, `scan_...`
WITHOUT = frozenset(_WITHOUT.split())
FAMILIES = ("local_", "pre_local_", "scan_")
#: the one of the latter that only those get who ask for it
ON_REQUEST = "local_remove_all_assert"


def in_our_names(query: Query, rules: RuleSet) -> Query:
    """The query with what is nearest for PyTensor's names, and without those that change nothing:
    but names of the rules are what they are. What is required has to be here.
    """
    include, exclude = [_ours(names, rules) for names in (query.include, query.exclude)]
    if ON_REQUEST in query.include:
        include |= {ON_REQUEST}
    if (include, exclude) == (query.include, query.exclude):
        return query
    return Query(include, exclude, query.require)


def _ours(names: frozenset[str], rules: RuleSet) -> frozenset[str]:
    foreign = {n for n in names if n in NEAREST or n in WITHOUT or n.startswith(FAMILIES)}
    foreign -= rules.names if foreign else set()
    nearest = [NEAREST[n] for n in foreign if n in NEAREST]
    return frozenset([*(names - foreign), *nearest])
