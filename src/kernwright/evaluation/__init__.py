"""The judge: `judge.py` is what it keeps, `course.py` one evaluation, its stages stand beside these."""
