//! Examples in the long help of every command.

/// Commands with example lines that a reader can copy.
pub(super) const ALL: [(&str, &str); 23] = [
    (
        "generate",
        "trellis generate plan.json --out shop --model gemini:gemini-flash-latest\n\
         trellis generate plan.json --out shop --jobs 4 --budget-usd 5",
    ),
    (
        "tasks",
        "trellis tasks tasks.json --stack python-api --out shop\n\
         trellis tasks tasks.json --stack python-api --out shop --jobs 1 --push origin",
    ),
    (
        "stacks",
        "trellis stacks list\n\
         trellis stacks new python-api shop\n\
         trellis stacks install shop",
    ),
    ("demo", "trellis demo write-tests\ntrellis demo repair\ntrellis demo generate --out library"),
    (
        "test",
        "trellis test\n\
         trellis test tests/test_cart.py --coverage\n\
         trellis test --junit results.xml -- -k total -x",
    ),
    (
        "write-tests",
        "trellis write-tests shop/cart.py::Cart.total\n\
         trellis write-tests shop/cart.py::Cart.total --dry-run",
    ),
    (
        "repair",
        "trellis repair --model anthropic:MODEL --budget-usd 2\n\
         trellis repair --test tests/test_cart.py --approve autonomous\n\
         trellis repair --dry-run --patch fix.patch",
    ),
    (
        "fixes",
        "trellis fixes list\ntrellis fixes show fix-1\ntrellis fixes accept fix-1 --hunks 1,2\n\
         trellis fixes reject fix-1 --note 'breaks the public name'",
    ),
    ("localize", "trellis localize\ntrellis localize --test tests/test_cart.py --top 3"),
    (
        "implement",
        "trellis implement --issue 42 --spec docs/discount.md\n\
         trellis implement --issue 42 --spec docs/discount.md --dry-run",
    ),
    (
        "symbols",
        "trellis symbols find Cart/total\n\
         trellis symbols refs Cart/total --confirm ty\n\
         trellis symbols rename Cart/total grand_total --dry-run",
    ),
    (
        "plan",
        "trellis plan draft spec.md --out plan.json\n\
         trellis plan check plan.json\n\
         trellis plan search plan.json average\n\
         trellis plan diff old.json plan.json\n\
         trellis plan trace plan.json --run shop\n\
         trellis plan edit plan.json rename stats.mean average\n\
         trellis plan from-code shop --out plan.json\n\
         trellis plan deps plan.json stats.mean",
    ),
    (
        "code",
        "trellis code view shop/cart.py --signatures\ntrellis code view stats.mean --project shop",
    ),
    ("status", "trellis status shop\ntrellis status shop --json"),
    ("report", "trellis report shop"),
    (
        "log",
        "trellis log --last 20\n\
         trellis log shop --node stats.mean --kind test-run\n\
         trellis log shop --verify",
    ),
    ("rollback", "trellis rollback shop\ntrellis rollback shop --to stats"),
    ("lsp", "trellis lsp"),
    ("serve", "trellis serve\ntrellis serve shop --port 8123 --json"),
    ("mcp", "trellis mcp shop"),
    ("doctor", "trellis doctor\ntrellis doctor --model anthropic:claude-sonnet-4-5"),
    (
        "completions",
        "source <(trellis completions bash)\n\
         trellis completions bash > ~/.local/share/bash-completion/completions/trellis\n\
         trellis completions zsh > ~/.zfunc/_trellis",
    ),
    ("man", "trellis man | man -l -\ntrellis man --out ~/.local/share/man/man1"),
];

/// Returns examples as a section of a command's help.
pub(super) fn shown(lines: &str) -> String {
    let lines: String = lines.lines().map(|it| format!("\n  {it}")).collect();
    format!("Examples:{lines}")
}
