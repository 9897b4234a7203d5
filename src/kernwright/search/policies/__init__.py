"""Selection policies, one file each."""

TABLE = {
    "best_of_n": "kernwright.search.policies.best_of_n:BestOfN",
    "elite": "kernwright.search.policies.elite:Elite",
    "greedy": "kernwright.search.policies.greedy:Greedy",
}
