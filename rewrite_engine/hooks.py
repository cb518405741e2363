"""Hooks: the only way for a layer to use an upper layer (decision 54).

A layer imports only those below it. A method that needs an upper layer, as `Variable.eval` needs a
compiler, calls a hook: `hooks.evaluate(…)`. The table below maps each hook to a module, and to a
name there if it differs. The module is loaded at the first use of the hook; then `hooks.evaluate`
is the function itself. `scripts/arrows` lists the users of hooks, and finds every other way
upwards. Name lookup itself is in `lazy.py`.
"""

from rewrite_engine.lazy import lookup

HOMES = {
    # asked for by methods
    "evaluate": ".compile.evaluate",  # the value of a variable: `Variable.eval`
    "shared": ".compile.shared",  # a shared variable: the states of random numbers
    "get_mode": ".compile.mode",  # a mode by its name: loops with one of their own
    "compiled_apart": ".compile.apart:apart",  # the function of a node whose op has a mode
    "get_linker": ".link.linker",  # what runs an inner graph outside of any function
    "dprint": ".printing",  # variables, graphs and functions as trees
    "as_latex": ".printing",  # the same in notebooks: as formulas,
    "latex_of_rule": ".printing:rule_as_latex",  # (and of rules)
    "as_svg": ".printing",  # as a picture,
    "as_html": ".printing",  # and both on a page,
    "html_of_rule": ".printing:rule_as_html",  # of rules as well,
    "html_of_rules": ".printing:rules_as_html",  # and of sets of them
    "short": ".printing",  # on one line: the `repr` of variables, graphs and functions
    "pp": ".printing",  # what IPython prints of a variable
    "optimizer": ".pipeline.phases",  # the driver of the phases: terms of examples in docstrings
    "mending": ".pipeline.phases",  # the rules that may mend the slopes of a node
    "stabiliser": ".pipeline.phases",  # the driver for what is going to be differentiated
    "with_c_code": ".link.c.op",  # the bases of an op that has C code and nothing else
    "batch_loop": ".loops.batch:one_by_one",  # `vectorize_graph` where not all is done at once
    "check_legal": ".check.legal",  # `config.check_phases`: what a phase may not leave
    "entry_of": ".pipeline.packs",  # the entry point of a distribution for a module: of packs
    "rule_body": ".match.lower:RuleBody",  # `left >> right`
    "install": ".compat",  # the names of other libraries, for a program that wants them
    "in_our_names": ".compat.peer_names",  # what a query means that has PyTensor's names
    "as_driver": ".compat.rewriting",  # a rule, or a driver, as a driver
    "phase_at": ".compat.rewriting",  # the phase that stands where PyTensor has a position
    "clients": ".compat.graphs:Clients",  # `fgraph.clients`, a view that PyTensor has
    "scan_info": ".compat.loop_parts:info_of",  # the parts of a loop by the kinds PyTensor has
    # names that users also find in a lower package: `rewrite_engine.graph`, `rewrite_engine.tensor`
    "RewriteDatabaseQuery": ".match.query",
    "vectorize_graph": ".tensor.blockwise",
    "graph_rewriter": ".rewrite.driver",
    "node_rewriter": ".language",
    "rewrite_graph": ".pipeline.phases",
    "random": ".random:",
    "consider_constant": ".gradient",
    "grad": ".gradient",
    "hessian": ".gradient",
    "jacobian": ".gradient",
    "verify_grad": ".gradient",
}

__getattr__ = lookup(__name__, HOMES)
