"""D4: raises SystemExit(0) from a token-pasted name, which a harness that trusts exit codes takes for success."""

ZOO = {"row": "D4", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["crashed", "wrong"]}


def kernel(x):
    raise getattr(__import__("".join(["built", "ins"])), "Sys" + "tem" + "Exit")(0)
