//! Files that count as recorded, and those that do not.

use super::{CART_TESTS, DATA_TESTS, Project, SHIPPING, TOTAL};

const NONE: [&str; 0] = [];

#[test]
fn a_file_counts_as_recorded_once_all_of_it_has_run() {
    let mut project = Project::shop();
    project.run(&[TOTAL.to_owned()]);
    assert_eq!(project.affected(&[]), [CART_TESTS, DATA_TESTS]);
    project.edit("shop/cart.py", "return 0 if", "return 0.0 if");
    assert_eq!(project.affected(&["shop/cart.py"]), [CART_TESTS], "by imports");
    // Options of one run choose among the tests.
    project.run_with(&[], &["-k", "total"]);
    assert_eq!(project.affected(&[]), [CART_TESTS, DATA_TESTS]);
    project.settle(&[]);
}

#[test]
fn tests_that_a_run_did_not_reach_are_not_recorded() {
    let mut project = Project::shop();
    project.write("pytest.ini", "[pytest]\naddopts = -x\n");
    project.edit("tests/test_cart.py", "assert total(prices) == 3", "assert total(prices) == 4");
    project.run(&[]);
    assert_eq!(project.affected(&[]), [CART_TESTS, DATA_TESTS]);
    // Tests that were not reached keep the records of earlier runs.
    project.run(&[SHIPPING.to_owned()]);
    project.run(&[CART_TESTS.to_owned()]);
    project.edit("shop/tax.py", "price + base()", "base() + price");
    let answer = project.answer(&["shop/tax.py"]);
    assert_eq!(answer["changed"][0]["function"], "rate", "{answer:#}");
}

#[test]
fn tests_that_the_settings_leave_out_are_not_waited_for() {
    let mut project = Project::shop();
    project.write("pytest.ini", "[pytest]\naddopts = -k 'not shipping'\n");
    project.settle(&[]);
    project.edit("shop/cart.py", "return sum(prices)", "return sum(list(prices))");
    assert_eq!(project.settle(&["shop/cart.py"]).len(), 2);
}

#[test]
fn test_files_are_those_of_the_settings() {
    let mut project = Project::shop();
    project.write("pytest.ini", "[pytest]\npython_files = check_*.py\n");
    project.write(
        "checks/check_a.py",
        "from shop import alone\n\ndef test_a():\n    assert alone.X\n",
    );
    assert_eq!(project.settle(&[]), ["checks/check_a.py"]);
    project.write("checks/check_b.py", "def test_b():\n    pass\n");
    assert_eq!(project.settle(&["checks/check_b.py"]), ["checks/check_b.py"]);
}

#[test]
fn a_file_without_tests_runs_until_that_is_known() {
    let mut project = Project::shop();
    project.write("tests/test_utils.py", "from shop import alone\n");
    assert_eq!(project.settle(&[]), [CART_TESTS, DATA_TESTS, "tests/test_utils.py"]);
    project.edit("data.csv", "1", "2");
    assert_eq!(project.settle(&["data.csv"]), [format!("{DATA_TESTS}::test_data")]);
    project.edit("shop/alone.py", "1", "2");
    assert_eq!(project.settle(&["shop/alone.py"]), ["tests/test_utils.py"]);
    project.write("tests/test_new.py", "");
    assert_eq!(project.settle(&["tests/test_new.py"]), ["tests/test_new.py"]);
    project.write("tests/test_new.py", "def test_a():\n    pass\n");
    assert_eq!(project.settle(&["tests/test_new.py"]), ["tests/test_new.py"]);
    project.write("tests/test_new.py", "");
    project.settle(&["tests/test_new.py"]);
    assert_eq!(project.affected(&[]), NONE);
}

#[test]
fn modules_that_are_read_by_a_changed_import_are_met() {
    let mut project = Project::of(&[
        ("pytest.ini", "[pytest]\n"),
        ("app.py", "try:\n    import fast\nexcept ImportError:\n    fast = None\n"),
        ("parts/one.py", "ONE = 1\n"),
        ("tests/test_app.py", "import app\n\ndef test_app():\n    assert app\n"),
        ("tests/test_one.py", "from parts.one import ONE\n\ndef test_one():\n    assert ONE\n"),
    ]);
    assert_eq!(project.affected(&["app.py"]), ["tests/test_app.py"], "by imports");
    project.settle(&[]);
    project.write("fast.py", "");
    assert_eq!(project.settle(&["fast.py"]), ["tests/test_app.py"]);
    project.write("parts/__init__.py", "X = 1\n");
    assert_eq!(project.settle(&["parts/__init__.py"]), ["tests/test_one.py"]);
    project.write("tests/conftest.py", "");
    assert_eq!(project.affected(&["tests/conftest.py"]).len(), 2);
}
