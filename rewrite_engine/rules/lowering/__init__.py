"""How elementwise ops become instructions of a processor: the phase "lower", which native code uses
for each op of a kernel. A query that includes "lower" applies it to a whole graph, for the VM.

functions.py    exp, log, sin, … as series
operations.py   ops as a few others: sign, clip, isfinite, log1mexp, quotients of integers
"""
