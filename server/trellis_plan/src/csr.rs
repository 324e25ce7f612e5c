//! Adjacency as compressed rows: one flat array of neighbors, and the start of each node's row.

use crate::node::NodeIx;

/// The neighbors of every node, each row contiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Csr {
    /// Row starts and one final end; row `i` is `items[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    items: Vec<NodeIx>,
}

impl Csr {
    /// Creates rows from the given arrays, keeping order and repetitions.
    pub(crate) fn from_rows(starts: Vec<u32>, items: Vec<NodeIx>) -> Self {
        debug_assert_eq!(starts.last().map(|&n| n as usize), Some(items.len()));
        Csr { starts, items }
    }

    /// Creates rows from pairs `(row, neighbor)`, each row sorted by node and without repetitions.
    pub(crate) fn from_pairs(
        rows: usize,
        pairs: impl Iterator<Item = (NodeIx, NodeIx)> + Clone,
    ) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            starts[row.index() + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![NodeIx::new(0); starts[rows] as usize];
        for (row, item) in pairs {
            items[next[row.index()] as usize] = item;
            next[row.index()] += 1;
        }
        let mut csr = Csr { starts, items };
        csr.sort_rows();
        csr
    }

    fn sort_rows(&mut self) {
        let mut kept = 0;
        let mut begin = 0;
        for row in 1..self.starts.len() {
            let end = self.starts[row] as usize;
            self.items[begin..end].sort_unstable();
            let first = kept;
            for i in begin..end {
                if kept == first || self.items[kept - 1] != self.items[i] {
                    self.items[kept] = self.items[i];
                    kept += 1;
                }
            }
            self.starts[row] = kept as u32;
            begin = end;
        }
        self.items.truncate(kept);
        self.items.shrink_to_fit();
    }

    /// Returns the same pairs in the opposite direction.
    pub(crate) fn transposed(&self) -> Self {
        Csr::from_pairs(self.rows(), self.pairs().map(|(row, item)| (item, row)))
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(crate) fn row(&self, node: NodeIx) -> &[NodeIx] {
        &self.items[self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize]
    }

    /// Returns whether a row built by `from_pairs` contains `item`.
    pub(crate) fn contains(&self, row: NodeIx, item: NodeIx) -> bool {
        self.row(row).binary_search(&item).is_ok()
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (NodeIx, NodeIx)> + Clone {
        (0..self.rows())
            .map(NodeIx::new)
            .flat_map(|row| self.row(row).iter().map(move |&item| (row, item)))
    }
}
