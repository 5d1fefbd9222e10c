//! Which variable is decided next: the most active one, from a heap. Activity goes up in conflicts and decays.

const ABSENT: u32 = u32::MAX;

/// The variables that are not decided, by activity; some that are may be among them.
pub(crate) struct Order {
    activity: Vec<f64>,
    bump: f64,
    heap: Vec<u32>,
    place: Vec<u32>,
}

impl Default for Order {
    fn default() -> Order {
        Order { activity: vec![], bump: 1.0, heap: vec![], place: vec![] }
    }
}

impl Order {
    /// Makes room for one more variable.
    pub fn grow(&mut self) {
        self.activity.push(0.0);
        self.place.push(ABSENT);
    }

    /// What was active before counts less.
    pub fn decay(&mut self) {
        self.bump /= 0.95;
    }

    /// The variable took part in a conflict.
    pub fn bump(&mut self, v: usize) {
        self.activity[v] += self.bump;
        if self.activity[v] > 1e100 {
            self.activity.iter_mut().for_each(|a| *a *= 1e-100);
            self.bump *= 1e-100;
        }
        if self.place[v] != ABSENT {
            self.rise(self.place[v] as usize);
        }
    }

    /// The variable is no longer decided.
    pub fn insert(&mut self, v: usize) {
        if self.place[v] == ABSENT {
            self.place[v] = self.heap.len() as u32;
            self.heap.push(v as u32);
            self.rise(self.heap.len() - 1);
        }
    }

    fn above(&self, a: u32, b: u32) -> bool {
        self.activity[a as usize] > self.activity[b as usize]
    }

    fn rise(&mut self, mut at: usize) {
        let v = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.above(v, self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            self.place[self.heap[at] as usize] = at as u32;
            at = parent;
        }
        self.heap[at] = v;
        self.place[v as usize] = at as u32;
    }

    /// Takes out the most active variable.
    pub fn pop_best(&mut self) -> Option<usize> {
        let best = *self.heap.first()?;
        self.place[best as usize] = ABSENT;
        let last = self.heap.pop().expect("not empty");
        if last != best {
            let mut at = 0;
            loop {
                let mut child = 2 * at + 1;
                if child >= self.heap.len() {
                    break;
                }
                if child + 1 < self.heap.len() && self.above(self.heap[child + 1], self.heap[child]) {
                    child += 1;
                }
                if !self.above(self.heap[child], last) {
                    break;
                }
                self.heap[at] = self.heap[child];
                self.place[self.heap[at] as usize] = at as u32;
                at = child;
            }
            self.heap[at] = last;
            self.place[last as usize] = at as u32;
        }
        Some(best as usize)
    }
}
