"""`kernwright runs`."""

import time

from . import options, screen


def runs(home: options.Home = None, as_json: options.AsJson = False) -> None:
    """List the runs in this home."""
    from kernwright.engine.intake import home_of
    from kernwright.engine.reading import reading_all

    from . import figures
    from .run_view import summary_json

    folder = home_of(home)
    with reading_all(folder) as views:
        if as_json:
            screen.emit({"home": str(folder), "runs": [summary_json(view) for view in views]})
            return
        if not views:
            print(f"There are no runs in {folder}; begin one with `kernwright evolve PROBLEM`.")
            return
        widest = max(len(view.id) for view in views)
        print(f"{'run':<{widest}}  {'started':<11}  {'best [95 %]':<22}  state")
        for view in views:
            graph = view.graph
            top = graph.champion() or graph.best()
            state = "ended" if graph.finished else ("not begun" if graph.seq <= 1 else "not ended")
            verified = ", verified" if top is not None and top.verified else ""
            started = time.strftime("%m-%d %H:%M", time.localtime(view.started_at))
            best = figures.result(top.evaluation) if top else "-"
            print(f"{view.id:<{widest}}  {started}  {best:<22}  {state}{verified}")
