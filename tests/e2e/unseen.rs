//! A model rewrites no file of a project that it has not seen, and a person sees what a change
//! removes.

use serde_json::{Value, json};

use crate::implement::{ALONE, begin, file, implement, in_p};
use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::text;
use crate::world::{Ran, World};

const CART: &str = "\
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Item:
    sku: str
    price: int


@dataclass
class Cart:
    items: list[Item] = field(default_factory=list)

    def add(self, sku, price):
        if price < 0:
            raise ValueError('price')
        self.items.append(Item(sku, price))

    def total(self):
        return sum(item.price for item in self.items)
";

const RECEIPT: &str = "\
from shop.cart import Cart


def format_cents(cents):
    return f'{cents // 100}.{cents % 100:02}'


def receipt(cart: Cart) -> str:
    return 'total  ' + format_cents(cart.total())
";

const OLD_TESTS: &str = "\
from shop.cart import Cart
from shop.receipt import receipt


def test_receipt():
    cart = Cart()
    cart.add('tea', 250)
    assert receipt(cart) == 'total  2.50'
";

const LLD: &str = "# Ten off\n\n`Cart.due()` is the total less ten percent, in whole cents; the receipt shows it as its total.\n";

const NEW_TESTS: &str = "\
from shop.cart import Cart
from shop.receipt import receipt


def test_due():
    cart = Cart()
    cart.add('mug', 1000)
    assert cart.due() == 900
    assert cart.total() == 1000
";

/// Text of a model that has seen neither file.
const BLIND_CART: &str = "\
class Item:
    def __init__(self, sku, price):
        self.sku = sku
        self.price = price


class Cart:
    def __init__(self):
        self.items = []

    def add(self, sku, price):
        self.items.append(Item(sku, price))

    def total(self):
        return sum(item.price for item in self.items)

    def due(self):
        return self.total() * 9 // 10
";

const BLOCK: &str = "\
shop/cart.py
<<<<<<< SEARCH
        return sum(item.price for item in self.items)
=======
        return sum(item.price for item in self.items)

    def due(self):
        return self.total() * 9 // 10
>>>>>>> REPLACE
";

/// Creates a shop, small or with so many files that not all are shown, and a model's replies about
/// `lld`.
fn shop(lld: &str, is_small: bool, replies: &[(&str, &[String])]) -> World {
    let world = World::new();
    world.write("p/shop/__init__.py", "");
    world.write("p/shop/cart.py", CART);
    world.write("p/shop/receipt.py", RECEIPT);
    world.write("p/tests/test_receipt.py", OLD_TESTS);
    world.write("p/docs/lld.md", lld);
    if !is_small {
        let filler = (0..800).map(|it| format!("def filler_{it}():\n    return {it}\n"));
        world.write("p/shop/filler.py", &filler.collect::<String>());
    }
    begin(&world, replies);
    world
}

fn history(result: &Value) -> String {
    result["history"].to_string()
}

fn tests() -> String {
    file("tests/test_due.py", NEW_TESTS)
}

#[test]
fn the_first_question_shows_the_code_that_the_words_name() {
    for is_small in [true, false] {
        let world = shop(LLD, is_small, &[]);
        let plan = text(&implement(&world, &["--dry-run"]).exits(0).json()["plan"]);
        for shown in [CART, RECEIPT, OLD_TESTS] {
            assert!(plan.contains(shown.trim_end()), "{shown}\nis missing in:\n{plan}");
        }
        assert!(!plan.contains("filler_7"), "{plan}");
        assert!(plan.contains("Import only names that exist"), "{plan}");
    }
}

/// The description names nothing of the file; the file is refused, shown, and changed by blocks.
#[test]
fn a_file_that_no_question_has_shown_is_shown_before_it_is_changed() {
    let lld = "# Ten off\n\n`due` is the sum less ten percent, in whole cents.\n";
    let replies: [(&str, &[String]); 2] = [
        ("scaffold", &[tests()]),
        ("implementation", &[file("shop/cart.py", BLIND_CART), BLOCK.to_owned()]),
    ];
    let world = shop(lld, false, &replies);
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    let why = "shop/cart.py exists, and you had not seen it whole: it is shown now";
    assert!(history(&result).contains(why), "{result:#}");
    let merged = world.read("p/shop/cart.py");
    assert!(merged.contains("raise ValueError('price')") && merged.contains("def due"), "{merged}");
    // The content of the refusal.
    let world = shop(lld, false, &[]);
    let service = Service::start(Box::new(|question| {
        let prompt = prompt(question);
        match prompt {
            _ if prompt.contains("nothing but tests") => said(&tests()),
            _ if prompt.contains("you had not seen it whole") => said(BLOCK),
            _ => said(&file("shop/cart.py", BLIND_CART)),
        }
    }));
    let order = "implement p --issue 42 --lld p/docs/lld.md --sandbox local --model openai:tiny --approve autonomous --work-with reply";
    let mut command = world.command(&order.split(' ').collect::<Vec<_>>());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let _ = Ran::of(command.output().expect("trellis starts")).exits(0);
    let asked: Vec<bool> = service.asked().iter().map(|it| prompt(it).contains(CART)).collect();
    assert_eq!(asked, [false, false, true]);
}

#[test]
fn what_a_change_takes_away_is_sent_back_once_and_then_a_person_sees_it() {
    let blind = file("shop/cart.py", BLIND_CART);
    let once: [(&str, &[String]); 3] = [
        ("scaffold", &[tests()]),
        ("implementation", std::slice::from_ref(&blind)),
        ("fix", &[file("shop/cart.py", &CART.replace("        return sum(item.price for item in self.items)\n", "        return sum(item.price for item in self.items)\n\n    def due(self):\n        return self.total() * 9 // 10\n"))]),
    ];
    let world = shop(LLD, true, &once);
    let result = implement(&world, &ALONE).exits(0).json();
    for words in [
        "`Cart` is without @dataclass now",
        "`Item` is without @dataclass(frozen=True) now",
        "restore it",
    ] {
        assert!(history(&result).contains(words), "{words}: {result:#}");
    }
    assert_eq!(result["doubts"], json!([]), "{result:#}");
    // A change that is repeated is not merged, whatever passes.
    let again = blind.replace("class Item", "# All new.\nclass Item");
    let twice: [(&str, &[String]); 3] =
        [("scaffold", &[tests()]), ("implementation", &[blind]), ("fix", &[again])];
    let world = shop(LLD, true, &twice);
    let start = in_p(&world, &["rev-parse", "main"]);
    let result = implement(&world, &ALONE).exits(2).json();
    assert_eq!(
        (&result["outcome"], &result["waits"]),
        (&json!("needsHuman"), &json!(true)),
        "{result:#}"
    );
    let doubts = result["doubts"].to_string();
    for words in ["without @dataclass(frozen=True)", "Cart.add", "shop/cart.py was rewritten"] {
        assert!(doubts.contains(words), "{words}: {doubts}");
    }
    assert_eq!(in_p(&world, &["rev-parse", "main"]), start);
    // A person who has edited the file has seen it.
    let place = "p/.trellis/worktrees/issue-42/shop/cart.py";
    world.write(place, &format!("{}\n# Seen.\n", world.read(place)));
    let asked = world.read("p/.trellis/journal.jsonl").matches("model_call").count();
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert!(world.read("p/shop/cart.py").ends_with("\n# Seen.\n"), "the person's text stays");
    assert_eq!(world.read("p/.trellis/journal.jsonl").matches("model_call").count(), asked);
}

/// Another start gets the waiting work, and no model is asked.
#[test]
fn what_waits_for_a_person_goes_on_from_its_branch() {
    let blind = file("shop/cart.py", BLIND_CART);
    let again = blind.replace("class Item", "# All new.\nclass Item");
    let replies: [(&str, &[String]); 3] =
        [("scaffold", &[tests()]), ("implementation", &[blind]), ("fix", &[again])];
    let world = shop(LLD, true, &replies);
    let first = implement(&world, &ALONE).exits(2).json();
    let asked = world.read("p/.trellis/journal.jsonl").matches("model_call").count();
    let second =
        implement(&world, &ALONE).exits(2).says("the change that needs your review").json();
    assert_eq!((&second["diff"], &second["waits"]), (&first["diff"], &json!(true)), "{second:#}");
    assert_eq!(world.read("p/.trellis/journal.jsonl").matches("model_call").count(), asked);
}

#[test]
fn tests_of_a_made_up_name_are_sent_back_with_the_real_ones() {
    let made_up = NEW_TESTS.replace("import receipt", "import format_receipt");
    let replies: [(&str, &[String]); 2] = [
        ("scaffold", &[file("tests/test_due.py", &made_up), tests()]),
        ("implementation", &[BLOCK.to_owned()]),
    ];
    let world = shop(LLD, true, &replies);
    let result = implement(&world, &ALONE).exits(0).json();
    let told =
        "they import `format_receipt` from `shop.receipt`, which exists and has no such name";
    assert!(history(&result).contains(told), "{result:#}");
    assert!(history(&result).contains("it has `format_cents`, `receipt`, `Cart`"), "{result:#}");
}
