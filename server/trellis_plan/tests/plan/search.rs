//! Nodes found by words, by mistyped names, and by external similarities.

use trellis_plan::{Document, EmbeddingText, Evidence, PlanSearch, SearchIndex};

use super::graph;

/// Returns a small plan: the id is the name; docstring, file and subgraph as listed.
fn project() -> trellis_plan::Plan {
    let nodes: Vec<String> = [
        ("calculate_mean", "stats", "Sum of the values divided by how many there are."),
        ("median", "stats", "Middle value after sorting."),
        ("parse_url", "net", "Split an address into its parts."),
        ("fetch", "net", "Download what an address leads to."),
        ("Cart", "shop", "Items somebody wants to buy."),
        ("Cart.total", "shop", "Sum of all prices."),
        ("total", "stats", "Sum of the values."),
    ]
    .iter()
    .map(|(name, group, text)| {
        let kind = if *name == "Cart" { "class" } else { "function" };
        format!(
            r#"{{"id":"{name}","name":"{name}","type":"{kind}","node_type":"leaf","file_path":"src/{group}/x.py","docstring":"{text}","subgraph_id":"{group}"}}"#
        )
    })
    .chain([r#"{"id":"net","name":"net","type":"module","node_type":"composite"}"#.to_owned()])
    .collect();
    graph(&nodes, &[])
}

/// Returns the ids of the hits and the whole parts of their scores.
fn found(query: &str, evidence: Evidence<'_>, subgraph: Option<&str>, top: usize) -> String {
    let plan = project();
    let hits = PlanSearch::of(&plan).find(&plan, query, evidence, subgraph, top).expect("words");
    let shown = hits.iter().map(|hit| format!("{}:{}", plan.id(hit.node), hit.score as u32));
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn names_come_first_however_they_are_written() {
    for (query, expected) in [
        ("calculate mean", "calculate_mean:2"),
        ("CalculateMean", "calculate_mean:2"),
        ("cart.total", "Cart.total:2"),
        ("mean, calculated", "calculate_mean:1"),
        ("calulate_mean", "calculate_mean:1"),
        ("claculate mean", "calculate_mean:1"),
        ("clcmean", "calculate_mean:1"),
        ("KeyError: 'port' in parse_url", "parse_url:1"),
        ("mode of the calulatemean function", "calculate_mean:1"),
        ("medain", "median:1"),
        ("calc", "calculate_mean:0"),
        ("somebody buys prices", "Cart:0"),
        ("download", "fetch:0"),
    ] {
        let first = found(query, Evidence::Words, None, 1);
        assert_eq!(first, expected, "{query}");
    }
    let both = found("total", Evidence::Words, None, 2);
    assert_eq!(both, "total:2 Cart.total:2", "the second is called so in its class");
}

#[test]
fn words_that_mean_nothing_find_nothing() {
    let plan = project();
    let search = PlanSearch::of(&plan);
    for query in ["", " \t", "?!", "'"] {
        assert_eq!(search.find(&plan, query, Evidence::Words, None, 5), None, "{query}");
    }
    assert_eq!(found("xylophone", Evidence::Words, None, 5), "");
    assert_eq!(found("the of", Evidence::Words, None, 9).split(' ').count(), 3, "only stop words");
    assert_eq!(found("median", Evidence::Words, None, 0), "");
}

#[test]
fn a_subgraph_limits_and_composites_are_no_answer() {
    assert_eq!(found("total", Evidence::Words, Some("shop"), 5), "Cart.total:2");
    assert_eq!(found("net", Evidence::Words, None, 5), "parse_url:0 fetch:0");
    assert_eq!(found("net", Evidence::Words, Some("shop"), 5), "");
}

#[test]
fn similarities_decide_where_no_name_is_met() {
    let like = |wanted: &str| {
        let plan = project();
        let nodes = PlanSearch::of(&plan).nodes().to_vec();
        let one = |ix| if plan.id(ix) == wanted { 0.6 } else { -0.2 };
        nodes.into_iter().map(one).collect::<Vec<f32>>()
    };
    for (query, similar, joined, meaning) in [
        ("average", "calculate_mean", "calculate_mean:0", "calculate_mean:0"),
        ("median", "fetch", "median:2", "fetch:0"),
        ("address", "calculate_mean", "calculate_mean:0", "calculate_mean:0"),
    ] {
        let all = like(similar);
        assert_eq!(found(query, Evidence::Both(&all), None, 1), joined, "{query}");
        assert_eq!(found(query, Evidence::Meaning(&all), None, 1), meaning, "{query}");
    }
    let none = vec![0.0; 7];
    assert_eq!(found("address", Evidence::Both(&none), None, 1), "parse_url:0 fetch:0");
    assert_eq!(found("average", Evidence::Both(&none), None, 5), "");
}

#[test]
fn equal_scores_at_the_cut_are_all_there_in_order() {
    let documents =
        ["load a", "load b", "save", "load c"].map(|text| Document { name: "", path: "", text });
    let index = SearchIndex::new(documents);
    let query = index.query("load").expect("a word");
    for (top, expected) in [(0, vec![]), (1, vec![0, 1, 3]), (9, vec![0, 1, 3])] {
        let hits = index.search(&query, Evidence::Words, |_| true, top);
        let places: Vec<usize> = hits.iter().map(|hit| hit.document).collect();
        assert_eq!(places, expected, "{top}");
        assert!(hits.iter().all(|hit| hit.score == hits[0].score));
    }
}

#[test]
fn matched_words_are_marked_where_they_stand() {
    let plan = project();
    let search = PlanSearch::of(&plan);
    let marked = |query: &str| {
        let hit = search.find(&plan, query, Evidence::Words, None, 1).expect("words").remove(0);
        let name = plan.qualified_name(hit.node).into_owned();
        let text = plan.node(hit.node).docstring.as_deref().expect("a docstring");
        let words = hit.in_name.into_iter().map(|it| &name[it]);
        words.chain(hit.in_docstring.into_iter().map(|it| &text[it])).collect::<Vec<_>>().join(" ")
    };
    for (query, expected) in [
        ("calculating values", "calculate values"),
        ("dividing the sum", "Sum divided"),
        ("cart totals", "Cart total"),
        ("sortng", "sorting"),
    ] {
        assert_eq!(marked(query), expected, "{query}");
    }
}

#[test]
fn a_model_of_meaning_sees_each_facet_once() {
    let documents = [
        ("Cart.addItem", "src/shop/cart.py", "Put in.\n\nArgs:\n    it: The item."),
        ("cart_total", "src/shop/cart.py", "Put in."),
        ("open", "src/io/file.py", ""),
    ]
    .map(|(name, path, text)| Document { name, path, text });
    let facets = EmbeddingText::of(documents.into_iter());
    let expected = ["cart add item", "put in.", "shop cart", "cart total", "open", "io file"];
    assert_eq!(facets.texts(), expected);
    let alike = facets.similarities(&[0.9, 0.9, 0.9, 0.0, 0.5, 0.5]);
    let rounded: Vec<f32> = alike.iter().map(|it| (it * 100.0).round() / 100.0).collect();
    assert_eq!(rounded, [0.9, 0.52, 0.5], "a missing text does not count");
    assert!(EmbeddingText::of([].into_iter()).similarities(&[]).is_empty());
}
