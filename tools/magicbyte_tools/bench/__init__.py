"""How fast the engines are beside others, as ratios measured in one run; not in the wheel.

Contenders are processes that answer one line with one pass over a file. They take turns, and
ratios are formed inside a turn, so that whatever else the machine does meets all of them.
"""
