//! Turns the plan's nodes into work items of the node cycle.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trellis_engine::assembly::Layout;
use trellis_engine::{Dependency, Dependent, Item, ItemKind};
use trellis_plan::{Kind, NodeIx, Plan, RedGate};
use trellis_python::Signature;

use trellis_store::disk;

/// Maximum number of dependents that a node's prompt names.
const DEPENDENTS: usize = 5;

/// The plan as work: items, layout, and the nodes that each item builds on.
pub(super) struct WorkGraph {
    pub plan: Arc<Plan>,
    pub layout: Layout,
    /// Leaves in the plan's order.
    pub leaves: Vec<NodeIx>,
    /// Index of each leaf in `leaves`.
    pub place: HashMap<NodeIx, usize>,
    pub items: HashMap<NodeIx, Item>,
    by_path: HashMap<Arc<str>, Vec<NodeIx>>,
    /// Oddities found per node that do not stop the run.
    pub warnings: Vec<String>,
}

impl WorkGraph {
    pub(super) fn new(plan: Arc<Plan>, sequence: &[NodeIx]) -> WorkGraph {
        let leaves: Vec<NodeIx> =
            sequence.iter().copied().filter(|ix| plan.node(*ix).is_leaf()).collect();
        let place: HashMap<NodeIx, usize> =
            leaves.iter().enumerate().map(|(at, ix)| (*ix, at)).collect();
        let paths: Vec<Arc<str>> =
            leaves.iter().filter_map(|ix| plan.node(*ix).file_path.clone()).collect();
        let layout = Layout::of(paths.iter().map(|path| &**path));
        let mut by_path: HashMap<Arc<str>, Vec<NodeIx>> = HashMap::new();
        for ix in &leaves {
            by_path.entry(path_of(&plan, *ix)).or_default().push(*ix);
        }
        let mut work = WorkGraph {
            plan,
            layout,
            leaves,
            place,
            items: HashMap::new(),
            by_path,
            warnings: Vec::new(),
        };
        for ix in work.leaves.clone() {
            let item = work.item(ix);
            work.items.insert(ix, item);
        }
        work
    }

    /// Returns all direct and indirect dependencies of `ix`, in the plan's order.
    pub(super) fn dependencies(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut left = vec![ix];
        let mut seen: BTreeSet<NodeIx> = BTreeSet::new();
        while let Some(at) = left.pop() {
            for &other in self.plan.depends_on(at) {
                if seen.insert(other) && other != ix {
                    found.extend(self.place.get(&other));
                    left.push(other);
                    if !self.plan.node(other).is_leaf() {
                        left.extend(self.leaves_below(other, &mut seen, &mut found));
                    }
                }
            }
        }
        found.into_iter().map(|place| self.leaves[place]).collect()
    }

    /// Returns the nodes below `ix`. A dependency on a module or package is one on everything in
    /// it.
    fn leaves_below(
        &self,
        ix: NodeIx,
        seen: &mut BTreeSet<NodeIx>,
        found: &mut BTreeSet<usize>,
    ) -> Vec<NodeIx> {
        let mut out = Vec::new();
        let mut left: Vec<NodeIx> = self.plan.children(ix).to_vec();
        while let Some(child) = left.pop() {
            if seen.insert(child) {
                found.extend(self.place.get(&child));
                out.push(child);
                left.extend(self.plan.children(child));
            }
        }
        out
    }

    /// Returns the nodes whose text the sandbox shows to `ix` beside its own text: its
    /// dependencies, the nodes before those in their files and before `ix` in its own file, and so
    /// on. The view is the same for any number of jobs, and therefore so is the result. `more` adds
    /// dependencies that the plan does not name but the code has.
    pub(super) fn view(&self, ix: NodeIx, more: &BTreeSet<NodeIx>) -> Vec<NodeIx> {
        let mut inside: BTreeSet<usize> = BTreeSet::new();
        let mut left: Vec<NodeIx> = vec![ix];
        left.extend(more);
        let own = self.place[&ix];
        while let Some(at) = left.pop() {
            let place = self.place[&at];
            let before = self.by_path[&path_of(&self.plan, at)].iter().copied();
            let needed =
                before.filter(|other| self.place[other] < place).chain(self.dependencies(at));
            for other in needed.chain((at != ix).then_some(at)) {
                if self.place[&other] < own && inside.insert(self.place[&other]) {
                    left.push(other);
                }
            }
        }
        inside.into_iter().map(|place| self.leaves[place]).collect()
    }

    /// Returns, by node, the length of the longest chain of nodes that starts with it. Each node in
    /// a chain waits for the previous one, through a dependency or because it comes next in the
    /// same file.
    pub(super) fn chains(&self) -> HashMap<NodeIx, u32> {
        let mut chains: HashMap<NodeIx, u32> = HashMap::new();
        for (place, &ix) in self.leaves.iter().enumerate().rev() {
            let own = *chains.entry(ix).and_modify(|chain| *chain += 1).or_insert(1);
            let mut file = self.by_path[&path_of(&self.plan, ix)].iter().rev().copied();
            let above = file.find(|other| self.place[other] < place);
            let needs = self.plan.depends_on(ix).iter().copied();
            let earlier = needs.filter(|it| self.place.get(it).is_some_and(|it| *it < place));
            for before in above.into_iter().chain(earlier) {
                let chain = chains.entry(before).or_default();
                *chain = (*chain).max(own);
            }
        }
        chains
    }

    /// Returns the methods of a class that are nodes of their own.
    pub(super) fn methods(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let class = &self.items[&ix];
        let is_class = class.kind == ItemKind::Class;
        let siblings = self.by_path[&path_of(&self.plan, ix)].iter().copied();
        siblings.filter(move |it| {
            is_class && self.items[it].class.as_deref() == Some(class.name.as_str())
        })
    }

    /// Returns the nodes before `ix` that `fragment` uses through its imports. An imported class
    /// counts with those of its methods that the text mentions; an imported module counts with the
    /// names that the text uses from it.
    pub(super) fn imported(
        &self,
        ix: NodeIx,
        fragment: &trellis_python::Fragment,
    ) -> BTreeSet<NodeIx> {
        let own = self.place[&ix];
        let words = trellis_python::words(&fragment.to_source()).unwrap_or_default();
        let mut out = BTreeSet::new();
        for (path, nodes) in &self.by_path {
            let module = self.layout.module(path);
            for import in fragment.imports.iter().filter(|import| import.module == module) {
                let wanted = |node: &&NodeIx| {
                    let item = &self.items[*node];
                    let is_named = match import.name.as_deref() {
                        None | Some("*") => words.contains(item.import_name()),
                        Some(name) => item.import_name() == name,
                    };
                    // Python calls special methods implicitly.
                    let is_spoken_of = || item.name.starts_with("__") || words.contains(&item.name);
                    is_named && (item.kind != ItemKind::Method || is_spoken_of())
                };
                out.extend(nodes.iter().filter(|node| self.place[*node] < own).filter(wanted));
            }
        }
        out
    }

    /// Returns the leaf that defines a dotted name in a file.
    pub(super) fn defined_as(&self, path: &str, symbol: &str) -> Option<NodeIx> {
        let nodes = self.by_path.get(path)?;
        nodes.iter().copied().find(|node| self.items[node].qualified_name() == symbol)
    }

    /// Returns a hash of the plan's description of a node and of its direct dependencies. Accepted
    /// text stays valid as long as it stays the same.
    pub(super) fn specification(&self, ix: NodeIx) -> String {
        self.specification_with(ix, |it| it.is_direct)
    }

    /// Returns the hash that journals before this version have: it covers indirect dependencies as
    /// well.
    pub(super) fn old_specification(&self, ix: NodeIx) -> String {
        self.specification_with(ix, |_| true)
    }

    /// Returns whether a node's description is that of a recorded hash.
    pub(super) fn is_specified(&self, ix: NodeIx, recorded: &str) -> bool {
        recorded == self.specification(ix) || recorded == self.old_specification(ix)
    }

    fn specification_with(&self, ix: NodeIx, counts: impl Fn(&&Dependency) -> bool) -> String {
        let item = &self.items[&ix];
        let dependencies = item.dependencies.iter().filter(counts);
        let dependencies: Vec<&str> = dependencies.map(|it| it.id.as_str()).collect();
        let signature = item.signature.as_ref().map_or("", |it| it.header());
        disk::hash(format!(
            "{}\n{}\n{}\n{signature}\n{}\n{:?}\n{dependencies:?}",
            item.qualified_name(),
            item.path,
            item.kind.as_str(),
            item.docstring,
            item.examples
        ))
    }

    fn item(&mut self, ix: NodeIx) -> Item {
        let plan = self.plan.clone();
        let node = plan.node(ix);
        let qualified = plan.qualified_name(ix).into_owned();
        let (class, name) = match qualified.rsplit_once('.') {
            Some((class, name)) => (Some(class.to_owned()), name.to_owned()),
            None => (None, qualified),
        };
        let kind = match (&class, &node.kind) {
            (Some(_), _) => ItemKind::Method,
            (None, Kind::Class) => ItemKind::Class,
            (None, _) => ItemKind::Function,
        };
        let signature = node.signature.as_deref().and_then(|text| match Signature::parse(text) {
            Ok(signature) if class.is_some() => Some(signature.of_method()),
            Ok(signature) => Some(signature),
            Err(error) => {
                self.warnings.push(format!("{}: {error}; only the docstring is used", node.id));
                None
            }
        });
        let path = path_of(&plan, ix);
        let siblings = self.by_path[&path].iter();
        let owner = class.clone().unwrap_or_else(|| name.clone());
        let planned_methods = siblings
            .filter_map(|other| {
                plan.qualified_name(*other)
                    .rsplit_once('.')
                    .map(|(c, m)| (c.to_owned(), m.to_owned()))
            })
            .filter(|(class, _)| *class == owner)
            .map(|(_, method)| method)
            .collect();
        Item {
            id: node.id.to_string(),
            kind,
            name,
            class,
            planned_methods,
            module: self.layout.module(&path),
            test_path: self.layout.test_path(&path).to_owned(),
            shares_tests: self.by_path[&path].len() > 1,
            path: path.to_string(),
            signature,
            docstring: node.docstring.as_deref().unwrap_or_default().to_owned(),
            examples: node.examples.clone(),
            libraries: node.libraries.clone(),
            red_gate: node.red_gate == RedGate::Required,
            dependencies: self
                .dependencies(ix)
                .into_iter()
                .map(|it| Dependency { is_direct: self.is_planned(ix, it), ..self.dependency(it) })
                .collect(),
            dependents: self.dependents(ix),
        }
    }

    /// Returns whether the plan makes `ix` depend on a leaf, or on a module or class that contains
    /// it.
    fn is_planned(&self, ix: NodeIx, leaf: NodeIx) -> bool {
        let planned = self.plan.depends_on(ix);
        let mut left = vec![leaf];
        while let Some(at) = left.pop() {
            if planned.contains(&at) {
                return true;
            }
            left.extend(self.plan.parents(at));
        }
        false
    }

    /// Returns the first leaves, in the plan's order, that use `ix` directly.
    fn dependents(&self, ix: NodeIx) -> Vec<Dependent> {
        let users = self.plan.dependents(ix).iter().filter_map(|it| self.place.get(it));
        let places: BTreeSet<usize> = users.copied().collect();
        let dependent = |place: usize| {
            let it = self.dependency(self.leaves[place]);
            let name = self.plan.qualified_name(self.leaves[place]).into_owned();
            Dependent { name, signature: it.signature, summary: it.summary }
        };
        places.into_iter().take(DEPENDENTS).map(dependent).collect()
    }

    fn dependency(&self, ix: NodeIx) -> Dependency {
        let node = self.plan.node(ix);
        let qualified = self.plan.qualified_name(ix);
        let summary = node.docstring.as_deref().and_then(|it| it.trim().lines().next());
        Dependency {
            id: node.id.to_string(),
            is_direct: true,
            import_name: qualified.split('.').next().unwrap_or(&qualified).to_owned(),
            module: self.layout.module(&path_of(&self.plan, ix)),
            signature: node.signature.as_deref().unwrap_or(&qualified).to_owned(),
            summary: summary.unwrap_or_default().to_owned(),
        }
    }
}

/// Returns a leaf's file path. `check` guarantees that every leaf has one.
fn path_of(plan: &Plan, ix: NodeIx) -> Arc<str> {
    plan.node(ix).file_path.clone().unwrap_or_else(|| Arc::from("src/module.py"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_before_others_in_its_file_has_their_chain_behind_it() {
        let node = |id: &str, file: &str, needs: &[&str]| {
            json!({
                "id": id, "name": id, "type": "function", "node_type": "leaf", "docstring": "Does it.",
                "file_path": format!("src/lib/{file}.py"), "dependencies": needs,
            })
        };
        let needs = [("b", "a"), ("d", "c")];
        let edge = |(from, to): (&str, &str)| json!({ "source": from, "target": to, "type": "function_call" });
        let nodes = [
            node("a", "x", &[]),
            node("b", "x", &["a"]),
            node("c", "x", &[]),
            node("d", "y", &["c"]),
            node("e", "z", &[]),
        ];
        let graph = json!({ "nodes": nodes, "edges": needs.map(edge), "metadata": { "phase": 3 } });
        let plan = trellis_plan::read(graph.to_string().as_bytes(), None).expect("a plan");
        let sequence = trellis_plan::order(&plan).sequence;
        let work = WorkGraph::new(Arc::new(plan), &sequence);
        let order: Vec<&str> = work.leaves.iter().map(|ix| work.plan.id(*ix)).collect();
        let chains = work.chains();
        let chain = |id: &str| chains[&work.plan.find(id).expect("a node")];
        assert_eq!(order, ["a", "c", "b", "d", "e"]);
        // The order in the file x is a, c, b; d waits for c.
        assert_eq!(["a", "c", "b", "d", "e"].map(chain), [3, 2, 1, 1, 1]);
    }

    #[test]
    fn who_imports_a_class_uses_the_methods_that_it_speaks_of() {
        let node = |id: &str, kind: &str, file: &str, needs: &[&str]| {
            json!({
                "id": id, "name": id, "type": kind, "node_type": "leaf", "docstring": "Does it.",
                "file_path": format!("src/boxes/{file}.py"), "dependencies": needs,
            })
        };
        let nodes = [
            node("Box", "class", "box", &[]),
            node("Box.__init__", "method", "box", &["Box"]),
            node("Box.double", "method", "box", &["Box"]),
            node("Box.half", "method", "box", &["Box"]),
            node("lid", "function", "box", &[]),
            node("show", "function", "show", &["Box", "Box.double", "Box.half", "lid"]),
        ];
        let graph = json!({ "nodes": nodes, "edges": [], "metadata": { "phase": 3 } });
        let plan = trellis_plan::read(graph.to_string().as_bytes(), None).expect("a plan");
        let sequence = trellis_plan::order(&plan).sequence;
        let work = WorkGraph::new(Arc::new(plan), &sequence);
        let show = work.plan.find("show").expect("a node");
        let table = [
            (
                "from boxes.box import Box\ndef show(box: Box): return str(box.value)\n",
                vec!["Box", "Box.__init__"],
            ),
            (
                "from boxes.box import Box\ndef show(box: Box): return box.double()\n",
                vec!["Box", "Box.__init__", "Box.double"],
            ),
            ("from boxes.box import lid\ndef show(box): return lid(box.half())\n", vec!["lid"]),
            ("import boxes.box\ndef show(box): return boxes.box.lid(box)\n", vec!["lid"]),
            (
                "import boxes.box as b\ndef show(x): return b.Box(x).half()\n",
                vec!["Box", "Box.__init__", "Box.half"],
            ),
        ];
        for (text, wanted) in table {
            let fragment = trellis_python::Fragment::parse(text).expect("Python");
            let found = work.imported(show, &fragment);
            let found: BTreeSet<&str> = found.into_iter().map(|ix| work.plan.id(ix)).collect();
            assert_eq!(found, wanted.into_iter().collect(), "{text}");
        }
    }

    #[test]
    fn the_first_users_of_a_node_are_its_dependents() {
        let node = |id: &str, needs: &[&str]| {
            json!({
                "id": id, "name": id, "type": "function", "node_type": "leaf", "file_path": "src/lib/a.py",
                "signature": format!("def {id}(x: int) -> int"), "docstring": format!("Does {id}.\nAt length."),
                "dependencies": needs,
            })
        };
        let users = ["u1", "u2", "u3", "u4", "u5", "u6"];
        let mut nodes = vec![node("base", &[]), node("far", &["u1"])];
        nodes.extend(users.map(|id| node(id, &["base"])));
        let edge =
            |from: &str, to: &str| json!({ "source": from, "target": to, "type": "function_call" });
        let mut edges = vec![edge("far", "u1")];
        edges.extend(users.map(|id| edge(id, "base")));
        let graph = json!({ "nodes": nodes, "edges": edges, "metadata": { "phase": 3 } });
        let plan = trellis_plan::read(graph.to_string().as_bytes(), None).expect("a plan");
        let sequence = trellis_plan::order(&plan).sequence;
        let work = WorkGraph::new(Arc::new(plan), &sequence);
        let of = |id: &str| &work.items[&work.plan.find(id).expect("a node")].dependents;
        let names: Vec<&str> = of("base").iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, users[..5]);
        let far = Dependent {
            name: "far".to_owned(),
            signature: "def far(x: int) -> int".to_owned(),
            summary: "Does far.".to_owned(),
        };
        assert_eq!((of("u1"), of("far")), (&vec![far], &Vec::new()));
    }
}
