"""Operators, one file each."""

TABLE = {
    "agent": "kernwright.search.operators.agent:Agent",
    "compiler": "kernwright.search.operators.compiler:Compiler",
    "earlier": "kernwright.search.operators.earlier:Earlier",
    "given": "kernwright.search.operators.given:Given",
    "llm": "kernwright.search.operators.llm:Llm",
    "mailbox": "kernwright.search.operators.mailbox:Mailbox",
    "replay": "kernwright.search.operators.replay:Replay",
    "tuner": "kernwright.search.operators.tuner:Tuner",
}
