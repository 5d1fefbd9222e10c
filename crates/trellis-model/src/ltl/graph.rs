//! Strongly connected components.

/// The strongly connected components of a graph with the nodes `0..nodes`: for each node the number of its component. Edges lead
/// to the same or to smaller numbers (Tarjan).
pub fn components(nodes: usize, successors: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; nodes];
    let (mut index, mut low) = (vec![NONE; nodes], vec![NONE; nodes]);
    let (mut next, mut count) = (0, 0);
    let mut stack = vec![];
    for root in 0..nodes as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        // A node, its successors, and how many of them were looked at.
        let mut path: Vec<(u32, Vec<u32>, usize)> = vec![];
        let mut enter = Some(root);
        loop {
            if let Some(n) = enter.take() {
                (index[n as usize], low[n as usize]) = (next, next);
                next += 1;
                stack.push(n);
                path.push((n, successors(n), 0));
            }
            let Some((n, out, at)) = path.last_mut() else { break };
            let n = *n as usize;
            if let Some(&m) = out.get(*at) {
                *at += 1;
                if index[m as usize] == NONE {
                    enter = Some(m);
                } else if component[m as usize] == NONE {
                    low[n] = low[n].min(index[m as usize]);
                }
                continue;
            }
            if low[n] == index[n] {
                while let Some(m) = stack.pop() {
                    component[m as usize] = count;
                    if m as usize == n {
                        break;
                    }
                }
                count += 1;
            }
            path.pop();
            if let Some((parent, ..)) = path.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[n]);
            }
        }
    }
    component
}
