"""Benchmark of magicbyte's engines beside other readers of Kafka logs; not part of the wheel.

A contender is a process that reads a file once for each line of its standard input. Contenders take
turns, and ratios are formed within one turn, so that other load on the machine affects all alike.
"""
