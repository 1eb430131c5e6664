"""Measures our engines and other readers side by side, as ratios in one run; not in the wheel.

A contender is a process that answers each line with one pass over a file. Contenders take turns, and
a ratio is formed within one turn, so that other load on the machine affects all of them alike.
"""
