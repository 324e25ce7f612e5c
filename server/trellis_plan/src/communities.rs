//! Finds communities of a weighted graph: nodes with more links among themselves than their numbers
//! of links suggest.
//!
//! The method is Louvain (V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of
//! communities in large networks", 2008), which raises modularity: each node moves to the community
//! of its neighbors that gains most, then communities become the nodes of a smaller graph. Louvain
//! can leave a community that is not connected (V. Traag, L. Waltman, N. J. van Eck, "From Louvain
//! to Leiden", 2019), so such a community is divided into its connected parts.
//!
//! Nodes are visited by index, weights are integers, and of equal gains the smaller index wins: the
//! result is the same on every machine.

use rustc_hash::FxHashMap;

/// Largest number of times that all nodes are visited before communities are joined. Nearly all
/// moves happen in the first few.
const SWEEPS: usize = 16;

/// A link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) ends: (usize, usize),
    pub(crate) weight: u64,
}

/// Returns the community of each node; communities are numbered by their first node. A link may be
/// given several times, in both directions: weights add up.
pub(crate) fn communities(nodes: usize, links: &[Link]) -> Vec<usize> {
    let all = Graph::of(nodes, links);
    let mut of_node: Vec<usize> = (0..nodes).collect();
    let mut graph = all.clone();
    loop {
        let (community, count) = dense(&graph.moved());
        of_node.iter_mut().for_each(|it| *it = community[*it]);
        if count == graph.neighbors.len() {
            return connected(&all, &of_node);
        }
        graph = graph.joined(&community, count);
    }
}

/// An undirected graph.
#[derive(Clone, Debug)]
struct Graph {
    /// Neighbors of each node with the weight of their link, by index, without the node itself.
    neighbors: Vec<Vec<(usize, u64)>>,
    /// Weight of the links inside each node, counted from both ends.
    inside: Vec<u64>,
}

impl Graph {
    fn of(nodes: usize, links: &[Link]) -> Graph {
        let mut graph = Graph { neighbors: vec![Vec::new(); nodes], inside: vec![0; nodes] };
        for &Link { ends: (a, b), weight } in links {
            if a == b {
                graph.inside[a] += 2 * weight;
            } else {
                graph.neighbors[a].push((b, weight));
                graph.neighbors[b].push((a, weight));
            }
        }
        graph.neighbors.iter_mut().for_each(add_up);
        graph
    }

    /// Returns the sum of the weights at a node.
    fn degree(&self, node: usize) -> u64 {
        self.inside[node] + self.neighbors[node].iter().map(|it| it.1).sum::<u64>()
    }

    /// Returns a community for each node, once no move gains modularity.
    fn moved(&self) -> Vec<usize> {
        let degrees: Vec<u64> = (0..self.neighbors.len()).map(|it| self.degree(it)).collect();
        let mut state = Communities {
            of_node: (0..degrees.len()).collect(),
            degrees: degrees.clone(),
            all: degrees.iter().sum(),
            weights: vec![0; degrees.len()],
        };
        for _ in 0..SWEEPS {
            let mut has_moved = false;
            for (node, degree) in degrees.iter().enumerate() {
                has_moved |= state.settle(node, *degree, &self.neighbors[node]);
            }
            if !has_moved {
                break;
            }
        }
        state.of_node
    }

    /// Returns the graph whose nodes are communities.
    fn joined(&self, community: &[usize], count: usize) -> Graph {
        let mut graph = Graph { neighbors: vec![Vec::new(); count], inside: vec![0; count] };
        for (node, neighbors) in self.neighbors.iter().enumerate() {
            let own = community[node];
            graph.inside[own] += self.inside[node];
            for &(other, weight) in neighbors {
                match community[other] {
                    it if it == own => graph.inside[own] += weight,
                    it => graph.neighbors[own].push((it, weight)),
                }
            }
        }
        graph.neighbors.iter_mut().for_each(add_up);
        graph
    }
}

/// Sorts neighbors, and makes one of those that are the same.
fn add_up(neighbors: &mut Vec<(usize, u64)>) {
    neighbors.sort_unstable();
    neighbors.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
}

/// Communities while nodes move.
struct Communities {
    of_node: Vec<usize>,
    /// Sum of the degrees of each community's nodes.
    degrees: Vec<u64>,
    /// Sum of all degrees.
    all: u64,
    /// Weight of the visited node's links to each community; zero between visits.
    weights: Vec<u64>,
}

impl Communities {
    /// Moves a node to the community with the largest gain; returns whether that is another one.
    fn settle(&mut self, node: usize, degree: u64, neighbors: &[(usize, u64)]) -> bool {
        let own = self.of_node[node];
        for &(other, weight) in neighbors {
            self.weights[self.of_node[other]] += weight;
        }
        self.degrees[own] -= degree;
        let (mut best, mut most) = (own, self.gain(own, degree));
        for &(other, _) in neighbors {
            let community = self.of_node[other];
            let gain = self.gain(community, degree);
            if gain > most || (gain == most && best != own && community < best) {
                (best, most) = (community, gain);
            }
        }
        self.degrees[best] += degree;
        self.of_node[node] = best;
        for &(other, _) in neighbors {
            self.weights[self.of_node[other]] = 0;
        }
        self.weights[own] = 0;
        best != own
    }

    /// Returns what modularity gains if the visited node joins a community, times a constant.
    fn gain(&self, community: usize, degree: u64) -> i128 {
        let linked = i128::from(self.weights[community]) * i128::from(self.all);
        linked - i128::from(degree) * i128::from(self.degrees[community])
    }
}

/// Numbers communities from 0 by their first node; returns their number too.
fn dense(of_node: &[usize]) -> (Vec<usize>, usize) {
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    let number = |it: &usize| {
        let next = numbers.len();
        *numbers.entry(*it).or_insert(next)
    };
    let out = of_node.iter().map(number).collect();
    (out, numbers.len())
}

/// Divides communities into connected parts.
fn connected(graph: &Graph, of_node: &[usize]) -> Vec<usize> {
    let mut part = vec![usize::MAX; of_node.len()];
    let mut count = 0;
    for start in 0..of_node.len() {
        if part[start] != usize::MAX {
            continue;
        }
        part[start] = count;
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &(other, _) in &graph.neighbors[node] {
                if part[other] == usize::MAX && of_node[other] == of_node[start] {
                    part[other] = count;
                    open.push(other);
                }
            }
        }
        count += 1;
    }
    part
}
