"""What values should be: `exact` computes graphs with many digits, `noise` runs each node by
`perform`, exactly or with noise; `judge` says by these, and by what claims of rules mean, whether
values of a rewritten graph are as good as those of the graph as it is written (`partly`: with some
of its steps mended). The fuzzer asks it. Both sides of one rule: `check/oracle.py`.
"""
