"""How the report looks."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2329; --soft: #66707a; --line: #e3e1db;
  --delivered: #2f8f83; --aborted: #d98a2b; --withheld: #c9b037; --control: #6d86b8;
  --below_log_start: #a9a59b; --outside_range: #b79bc4; --damaged: #c8402f; --over_limit: #8c2f5e;
  --superseded: #bcb6a8; --duplicate: #9aa5a0; --tail: #d5d1c6; --accent: #2f6f9f; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181c; --card: #1b2026; --ink: #e4e7ea; --soft: #93a0ac; --line: #2d343c;
  --delivered: #45b3a4; --aborted: #e3a04c; --withheld: #d7c257; --control: #8aa3d6;
  --below_log_start: #77736a; --outside_range: #a888b8; --damaged: #ea6a58; --over_limit: #c65d93;
  --superseded: #6d685e; --duplicate: #66706c; --tail: #4b4a45; --accent: #74b3e0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 88rem; padding: 2.5rem 2rem 4rem; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.7rem; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.1rem; margin: 2.6rem 0 .8rem; }
h3 { font-size: .8rem; margin: 0 0 .6rem; color: var(--soft); font-weight: 600; }
p { margin: .3rem 0; }
.soft, small { color: var(--soft); font-size: .85em; }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .8rem;
  margin-top: 1.6rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .9rem 1.1rem; }
.card > b { display: block; font-size: 1.55rem; line-height: 1.25; font-weight: 650; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: .8rem; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .38rem .7rem; text-align: left; vertical-align: top; white-space: nowrap; }
th { vertical-align: bottom; color: var(--soft); font-weight: 600; font-size: .8rem; border-bottom: 1px solid var(--line); }
tr + tr td { border-top: 1px solid var(--line); }
td small { display: block; }
.n { text-align: right; }
.wide { white-space: normal; min-width: 18rem; overflow-wrap: anywhere; }
.none { color: var(--soft); opacity: .5; }
.wide code { white-space: nowrap; }
th.n { white-space: normal; min-width: 5.2rem; }
.card table { margin: -.2rem -.7rem; width: calc(100% + 1.4rem); }
svg { display: block; width: 100%; height: .7rem; border-radius: .2rem; background: var(--line); }
td svg { min-width: 6rem; margin-top: .35rem; }
.big > svg { height: 1.5rem; border-radius: .35rem; margin-bottom: .9rem; }
.kind { margin-right: 1.2rem; white-space: nowrap; }
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: .15rem;
  margin-right: .5rem; }
.error { color: var(--damaged); } .warning { color: var(--aborted); } .note { color: var(--soft); }
.severity { font-weight: 600; }
details { overflow: hidden; background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin-bottom: .5rem; content-visibility: auto; contain-intrinsic-size: auto 3rem; }
details .scroll { border: 0; border-top: 1px solid var(--line); border-radius: 0; }
summary { cursor: pointer; padding: .6rem 1rem; display: grid; gap: 1rem; align-items: center;
  grid-template-columns: minmax(12rem, 2fr) 7rem minmax(8rem, 1fr) 11rem 8rem 9rem; }
summary svg { margin: 0; }
@media print { body { max-width: none; } }
"""

KEYS = (
    "delivered",
    "aborted",
    "withheld",
    "control",
    "below_log_start",
    "outside_range",
    "damaged",
    "over_limit",
    "superseded",
    "duplicate",
    "tail",
)
"""What bytes can be, in the order in which bars and columns show it."""

FILLS = "".join(f".{name} {{ fill: var(--{name}); background: var(--{name}); }}\n" for name in KEYS)
