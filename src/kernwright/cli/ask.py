"""`kernwright ask RUN`."""

from . import options, screen


def ask(run: options.Run, home: options.Home = None, as_json: options.AsJson = False) -> None:
    """Print the next brief, as Markdown: what to write and what came before."""
    from kernwright.engine import service
    from kernwright.engine.intake import home_of

    from .brief_text import brief_json, markdown

    brief = service.ask(home_of(home), run)
    if as_json:
        screen.emit(brief_json(brief))
    else:
        print(markdown(brief))
