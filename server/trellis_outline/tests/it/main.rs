//! Tests found in texts.

use std::path::Path;

use trellis_outline::{Document, Language, OutlinedTest, TestOutline, tests};

fn names(outline: &TestOutline) -> Vec<&str> {
    outline.tests.iter().map(|it| it.name.as_str()).collect()
}

fn groups(outline: &TestOutline) -> Vec<&str> {
    outline.tests.iter().filter(|it| it.is_group).map(|it| it.name.as_str()).collect()
}

fn lines(test: &OutlinedTest) -> (u32, u32) {
    (*test.lines.start(), *test.lines.end())
}

#[test]
fn tests_and_groups_of_javascript_have_the_ids_of_a_run() {
    let text = "import { sum } from './sum.js'

describe('sum', () => {
  test('adds two numbers', () => { expect(sum(1, 2)).toBe(3) })
  describe.skip(\"of many\", function () {
    it.only(`is 0 for none`, async () => {})
    it.todo('is big', () => {})
  })
})
test('it\\'s \\u00e4 line\\n', () => {})
xit('is left out', () => {})
describe(Sum, () => { test('is a class', () => {}) })
";
    let found = tests(text, Language::JavaScript);
    let all = [
        "sum",
        "sum::adds two numbers",
        "sum::of many",
        "sum::of many::is 0 for none",
        "sum::of many::is big",
        "it's \u{e4} line\n",
        "is left out",
        "Sum",
        "Sum::is a class",
    ];
    assert_eq!(names(&found), all);
    assert_eq!(groups(&found), ["sum", "sum::of many", "Sum"]);
    assert_eq!(lines(&found.tests[0]), (3, 9));
    assert_eq!(lines(&found.tests[1]), (4, 4));
    assert!(!found.has_unnamed);
    assert!(text[found.tests[1].range.clone()].starts_with("test('adds two numbers'"));
}

#[test]
fn names_that_only_a_run_knows_are_no_tests() {
    let texts = [
        "test.each([[1, 2], [3, 4]])('adds %i and %i', (a, b) => {})",
        "describe.each`a | b\n${1} | ${2}`('of $a', ({ a }) => { test('x', () => {}) })",
        "for (const it of all) test(`takes ${it}`, () => {})",
        "test(title + '!', () => {})",
    ];
    for text in texts {
        let found = tests(text, Language::JavaScript);
        assert_eq!((names(&found), found.has_unnamed), (Vec::new(), true), "{text}");
    }
}

#[test]
fn calls_of_other_functions_are_no_tests() {
    let text =
        "/x/.test('a'); it = 5; app.test('/users', () => {}); describe('no function'); expect(1, 2)
        const test2 = (a, b) => a; test2('a', () => {})";
    assert_eq!(tests(text, Language::TypeScript), TestOutline::default());
}

#[test]
fn the_second_of_a_name_is_numbered_and_groups_of_a_name_are_one() {
    let text = "describe('a', () => { it('b', () => {}); it('b', () => {}) })
        describe('a', () => { it('c', () => {}) })";
    assert_eq!(names(&tests(text, Language::Tsx)), ["a", "a::b", "a::b #2", "a::c"]);
}

#[test]
fn types_and_elements_are_read() {
    let typed = "test('x', async (): Promise<void> => { const a = <T,>(b: T): T => b as T })";
    assert_eq!(names(&tests(typed, Language::TypeScript)), ["x"]);
    let element = "test<Context>('x', () => { render(<App name='a' />) }); test('y', () => {})";
    assert_eq!(names(&tests(element, Language::Tsx)), ["x", "y"]);
}

#[test]
fn tests_of_go_follow_its_rules() {
    let text = "package sum

import \"testing\"

func TestMain(m *testing.M) {}

func TestSum(t *testing.T) {
\tt.Run(\"of two numbers\", func(t *testing.T) {
\t\tt.Run(`deep`, func(t *testing.T) {})
\t})
\tfor _, it := range all {
\t\tt.Run(it.name, func(t *testing.T) {})
\t}
}

func Testing(t *testing.T) {}
func Test(t *testing.T) {}
func FuzzSum(f *testing.F) {}
func BenchmarkSum(b *testing.B) {}
func (s *Suite) TestMethod(t *testing.T) {}
func helper() {}

func ExampleSum() {
\tfmt.Println(Sum(1, 2))
\t// Output: 3
}

func ExampleSilent() { fmt.Println(1) }
";
    let found = tests(text, Language::Go);
    let all = [
        "TestSum",
        "TestSum/of_two_numbers",
        "TestSum/of_two_numbers/deep",
        "Test",
        "FuzzSum",
        "ExampleSum",
    ];
    assert_eq!(names(&found), all);
    assert!(found.has_unnamed);
    assert_eq!(lines(&found.tests[0]), (7, 14));
}

#[test]
fn syntax_errors_hide_only_the_code_around_them() {
    let text = "test('a', () => {})\ntest('b', () => { const = })\ntest('c', () => {})\n";
    assert_eq!(names(&tests(text, Language::JavaScript)), ["a", "b", "c"]);
}

#[test]
fn code_that_is_nested_deeply_is_read() {
    let text = format!("test('a', () => {{}})\n{}1{}", "(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(names(&tests(&text, Language::JavaScript)), ["a"]);
    let deep = "describe('d', () => {".repeat(500) + &"})".repeat(500);
    assert_eq!(tests(&deep, Language::JavaScript).tests.len(), 500);
}

#[test]
fn after_edits_the_tests_are_those_of_the_text() {
    let text = "test('\u{e4}', () => {})\n\ntest('b', () => {})\n";
    let mut document = Document::new(text, Language::JavaScript);
    for (old, by) in [
        ("test('\u{e4}'", "describe('g', () => {\ntest('\u{e4}'"),
        ("\n\n", "\n})\n"),
        ("'b'", "'long\\u0020title'"),
        ("describe('g', () => {\n", "// "),
        ("test('long", "("),
        (", () => {})\n", ""),
    ] {
        let start = document.text().find(old).expect("the old text");
        document.edit(start..start + old.len(), by);
        let fresh = tests(document.text(), Language::JavaScript);
        assert_eq!(document.tests(), fresh, "{}", document.text());
    }
}

#[test]
fn languages_are_known_by_the_names_of_files() {
    let of = |name: &str| Language::of(Path::new(name));
    assert_eq!(of("a/b.test.mjs"), Some(Language::JavaScript));
    assert_eq!(of("a.tsx"), Some(Language::Tsx));
    assert_eq!(of("a.py"), None);
    assert_eq!(of("go"), None);
}
