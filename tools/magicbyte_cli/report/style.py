"""CSS of the pages."""

from magicbyte_cli.report.figures.partition_figures import BYTE_DISPOSITIONS

STYLE = """
:root { color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2329; --soft: #5c6670; --line: #e3e1db;
  --delivered: #2f8f83; --aborted: #d98a2b; --withheld: #c9b037; --control: #6d86b8;
  --below_log_start: #a9a59b; --outside_range: #b79bc4; --damaged: #c8402f; --over_limit: #8c2f5e;
  --superseded: #bcb6a8; --duplicate: #9aa5a0; --tail: #d5d1c6; --accent: #2f6f9f;
  --error: #b02f20; --warning: #95570b; }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #14181c; --card: #1b2026; --ink: #e4e7ea; --soft: #9aa7b3; --line: #2d343c;
  --delivered: #45b3a4; --aborted: #e3a04c; --withheld: #d7c257; --control: #8aa3d6;
  --below_log_start: #77736a; --outside_range: #a888b8; --damaged: #ea6a58; --over_limit: #c65d93;
  --superseded: #6d685e; --duplicate: #66706c; --tail: #4b4a45; --accent: #74b3e0;
  --error: #f07f6f; --warning: #e3a04c; } }
@media print { :root { color-scheme: light; --paper: #ffffff; --soft: #444444; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 92rem; padding: 2.5rem 2rem 4rem; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 1.7rem; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.8rem 0 .8rem; scroll-margin-top: 3rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p { margin: .3rem 0 .6rem; max-width: 62rem; }
.soft, small { color: var(--soft); font-size: .85em; }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
nav { position: sticky; top: 0; z-index: 2; display: flex; gap: 1.1rem; overflow-x: auto;
  margin: 1rem -2rem 0; padding: .55rem 2rem; background: var(--paper); font-size: .9em;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .8rem;
  margin-top: 1.2rem; }
.card, .scroll { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
.card { padding: .9rem 1.1rem; margin: 0 0 .8rem; }
.cards .card { margin: 0; }
.cards .card > b { display: block; font-size: 1.4rem; line-height: 1.25; font-weight: 650;
  white-space: nowrap; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr));
  gap: 0 .8rem; align-items: start; }
.scroll { overflow-x: auto; margin-bottom: .8rem; }
.card .scroll { border: 0; border-radius: 0; margin: 0 -1.1rem -.5rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: .6rem .7rem .2rem; font-size: .87rem; font-weight: 600; }
caption span { display: block; max-width: min(62rem, calc(100vw - 4rem)); }
.card caption { padding-left: 1.1rem; }
.card th:first-child { padding-left: 1.1rem; }
th, td { padding: .38rem .7rem; text-align: left; vertical-align: top; white-space: nowrap;
  font-weight: 400; }
thead th { vertical-align: bottom; color: var(--soft); font-weight: 600; font-size: .8rem;
  border-bottom: 1px solid var(--line); }
tr + tr > * { border-top: 1px solid var(--line); }
tfoot > tr > * { border-top: 2px solid var(--line); font-weight: 600; }
td small, th small { display: block; font-weight: 400; }
.n { text-align: right; }
.prose { white-space: normal; min-width: 18rem; }
.wide { white-space: normal; min-width: 16rem; overflow-wrap: anywhere; }
thead .n { white-space: normal; min-width: 5.2rem; }
.none { color: var(--soft); opacity: .6; }
svg { display: block; width: 100%; }
.bar { height: .7rem; border-radius: .2rem; background: var(--line); }
td .bar { min-width: 6rem; margin-top: .35rem; }
.kind { margin-right: 1.2rem; white-space: nowrap; }
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: .15rem;
  margin-right: .5rem; }
.severity { font-weight: 600; white-space: nowrap; }
.severity.error::before { content: "\\2716  "; } .severity.warning::before { content: "\\25B2  "; }
.severity.note::before { content: "\\25CB  "; }
.error { color: var(--error); } .warning { color: var(--warning); } .note { color: var(--soft); }
.finding { border-left-width: .3rem; }
.of-error { border-left-color: var(--error); } .of-warning { border-left-color: var(--warning); }
.finding .count { color: var(--soft); font-size: .85rem; font-weight: 400; margin-left: .8rem; }
figure { margin: 0; } figcaption { font-size: .87rem; font-weight: 600; margin-bottom: .4rem; }
.panels { display: grid; gap: 1.4rem; }
.of2 { grid-template-columns: repeat(2, 1fr); } .of3 { grid-template-columns: repeat(3, 1fr); }
.of4 { grid-template-columns: repeat(4, 1fr); }
.panel { min-width: 0; }
.plot { height: 4rem; border-bottom: 1px solid var(--soft); }
.lane { display: flex; flex-wrap: wrap; gap: 0 .8rem; justify-content: space-between;
  font-size: .85rem; margin-top: .6rem; }
.lane span { color: var(--soft); }
.axis { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between;
  font-size: .8rem; color: var(--soft); margin-top: .2rem; }
@media (max-width: 60rem) { .of2, .of3, .of4 { grid-template-columns: 1fr; } }
@media (max-width: 40rem) {
  body { padding: 1.2rem .8rem 2rem; font-size: 14px; }
  nav { margin: .8rem -.8rem 0; padding: .55rem .8rem; }
  .cards { grid-template-columns: 1fr 1fr; gap: .5rem; }
  .card { padding: .7rem .8rem; } .card .scroll { margin: 0 -.8rem -.3rem; }
  .card caption, .card th:first-child { padding-left: .8rem; }
  .cards .card > b { font-size: 1.2rem; }
  th, td { padding: .35rem .5rem; }
  tbody > tr > th:first-child, tfoot > tr > th:first-child { position: sticky; left: 0;
    background: var(--card); min-width: 6rem; max-width: 9rem; white-space: normal; overflow-wrap: break-word; }
  .prose { min-width: 0; }
}
@page { size: A4 landscape; margin: 12mm; }
@media print {
  html { font-size: 11px; }
  body { max-width: none; padding: 0; font-size: 8.5pt; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  nav { display: none; }
  h2 { margin-top: 1.6rem; }
  .scroll { overflow: visible; }
  table { font-size: 7pt; } thead { display: table-header-group; }
  tfoot { display: table-row-group; }
  th, td { padding: .15rem .3rem; }
  thead .n { min-width: 0; } td .bar { min-width: 3rem; }
  .wide { min-width: 8rem; } caption span { max-width: none; }
  .of2, .pair { grid-template-columns: 1fr 1fr; } .of3 { grid-template-columns: repeat(3, 1fr); }
  .of4 { grid-template-columns: repeat(4, 1fr); }
  .plot { height: 2.6rem; }
  tr, figure, .finding > h3 { break-inside: avoid; }
  h2, h3, caption, .soft { break-after: avoid; }
}
"""

CONTENT_COLORS = {
    "keys": "control",
    "values": "delivered",
    "headers": "outside_range",
    "format": "withheld",
}
"""Contents of batches, and the dispositions with the same color."""

OUTCOME_COLORS = {"committed": "delivered", "open": "withheld", "undecided": "over_limit"}
"""Outcomes, and the dispositions with the same color."""

FILLS = "".join(
    f".{name} {{ fill: var(--{color}); }} .key.{name} {{ background: var(--{color}); }}\n"
    for name, color in (
        *((name, name) for name in BYTE_DISPOSITIONS),
        *OUTCOME_COLORS.items(),
        *CONTENT_COLORS.items(),
    )
)
