"""Plots with matplotlib.  Each draws into 'ax', or a new figure, and returns
the axes.  Times are microseconds; those of the cpu device say "emulated"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from . import tables
from .database import Database

if TYPE_CHECKING:
    from matplotlib.axes import Axes

US = 1e6  # microseconds a second


def intervals(db: Database, shape: Optional[str] = None, top: int = 20, ax: Optional[Axes] = None) -> Axes:
    """The baseline and the finalists with the intervals of their times, once
    they are confirmed; before, the 'top' fastest with median and spread.
    'shape' is the headline's by default."""
    report = db.report()
    shape = _shape(report, shape)
    kind, rows = tables.intervals(report, shape, top)
    if not rows:
        raise ValueError(f"nothing has a time at shape '{shape}'")
    ax = ax or _axes((9, 1 + 0.3 * len(rows)))
    middle = [row["mid_s"] * US for row in rows]
    ends = [[(row["mid_s"] - row["low_s"]) * US for row in rows], [(row["high_s"] - row["mid_s"]) * US for row in rows]]
    ax.errorbar(middle, range(len(rows)), xerr=ends, fmt="o", capsize=3)
    ax.set_yticks(range(len(rows)), [row["label"] for row in rows])
    ax.invert_yaxis()
    confidence = 100 * (1 - (report["verdict"].get("alpha") or 0.05))
    what = f"{confidence:g} % interval" if kind == "confidence" else "median and spread, not confirmed"
    ax.set_xlabel(_time(report))
    ax.set_title(f"{report['name']} at {shape}: {what}")
    return ax


def convergence(db: Database, shape: Optional[str] = None, x: str = "evaluation", ax: Optional[Axes] = None) -> Axes:
    """Each configuration in the order of the search, and the best until then.
    'x' is 'evaluation' (their number) or 'seconds' (since the first run began)."""
    if x not in ("evaluation", "seconds"):
        raise ValueError(f"x is '{x}'; it can be 'evaluation' or 'seconds'")
    report = db.report()
    shape = _shape(report, shape)
    rows = [row for row in tables.convergence(report, db.trace(), shape) if row["best_s"] is not None]
    if not rows:
        raise ValueError(f"nothing has a time at shape '{shape}'")
    ax = ax or _axes((7, 4))
    timed = [row for row in rows if row["median_s"] is not None]
    ax.plot([row[x] for row in timed], [row["median_s"] * US for row in timed], ".", alpha=0.5, label="configuration")
    ax.step([row[x] for row in rows], [row["best_s"] * US for row in rows], where="post", label="best so far")
    ax.set_xlabel("configurations tried" if x == "evaluation" else "seconds since the start")
    ax.set_ylabel(_time(report))
    ax.set_title(f"{report['name']} at {shape}")
    ax.legend()
    return ax


def heat_map(db: Database, x: str, y: str, shape: Optional[str] = None, ax: Optional[Axes] = None) -> Axes:
    """The best median of each pair of values of two tunables, the others free.
    A pair without a correct configuration stays empty."""
    report = db.report()
    shape = _shape(report, shape)
    rows = [row for row in tables.results(report) if row["shape"] == shape]
    xs, ys, best = tables.cells(rows, x, y)
    ax = ax or _axes((max(6, 1.5 + 0.9 * len(xs)), max(4, 1.5 + 0.6 * len(ys))))
    nan = float("nan")
    image = ax.imshow([[nan if s is None else s * US for s in line] for line in best], aspect="auto", origin="lower",
                      cmap="viridis_r")
    ax.set_xticks(range(len(xs)), [str(value) for value in xs])
    ax.set_yticks(range(len(ys)), [str(value) for value in ys])
    for j, line in enumerate(best):
        for i, seconds in enumerate(line):
            if seconds is not None:
                ax.text(i, j, f"{seconds * US:.4g}", ha="center", va="center",
                        bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1})
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(f"{report['name']} at {shape}: best of each pair")
    ax.figure.colorbar(image, ax=ax, label=_time(report))
    return ax


def _axes(size: Any) -> Axes:
    from matplotlib import pyplot
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _shape(report: Dict[str, Any], shape: Optional[str]) -> str:
    names = [of["name"] for of in report["shapes"]]
    if shape is None:
        return names[0]
    if shape not in names:
        raise ValueError(f"there is no shape '{shape}'; there are {', '.join(names)}")
    return shape


def _time(report: Dict[str, Any]) -> str:
    return "time, us, emulated" if report["emulated"] else "time, us"
