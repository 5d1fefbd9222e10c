//! How a state lies in memory.
//!
//! Working memory is a flat `i64` array: locations first, then data cells, then temporaries. Stored keys are the
//! locations and data cells packed into as few bits as their ranges need.

use trellis_expr::code;
use trellis_order::Word;

use super::{DataVar, Network, Snapshot};

/// A state as it is stored: key and element.
pub type Packed = (Vec<Word>, Vec<Word>);

/// Where each cell of a state lies, in working memory and in a packed key.
#[derive(Debug, Clone)]
pub struct Layout {
    /// One field per cell of the key, in memory order.
    fields: Vec<Field>,
    /// Words per packed key.
    key_width: usize,
    /// Cells of working memory.
    mem_len: usize,
    /// How many of the fields are locations.
    processes: usize,
    /// How compiled code finds its variables.
    pub code: code::Layout,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    lo: i64,
    word: u32,
    shift: u32,
    mask: u64,
}

impl Layout {
    /// The layout of a network.
    pub fn new(net: &Network) -> Layout {
        let processes = net.processes.len();
        let mut layout = Layout { fields: Vec::new(), key_width: 0, mem_len: 0, processes, code: code::Layout::new() };
        let mut free = 0; // bits left in the last word
        for p in &net.processes {
            layout.code.place(p.location, layout.mem_len as u32, 1);
            layout.field(0, p.locations.len() as i64 - 1, &mut free);
        }
        for v in &net.vars {
            layout.code.place(v.var, layout.mem_len as u32, v.init.len() as u32);
            for _ in &v.init {
                layout.field(v.lo, v.hi, &mut free);
            }
        }
        for v in &net.temps {
            layout.code.place(v.var, layout.mem_len as u32, v.init.len() as u32);
            layout.mem_len += v.init.len();
        }
        layout
    }

    fn field(&mut self, lo: i64, hi: i64, free: &mut u32) {
        let range = hi.wrapping_sub(lo) as u64;
        let bits = 64 - range.leading_zeros();
        if bits > *free {
            self.key_width += 1;
            *free = 64;
        }
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        // A constant cell needs no bits; it may stand anywhere.
        let word = self.key_width.saturating_sub(1) as u32;
        self.fields.push(Field { lo, word, shift: (64 - *free) % 64, mask });
        *free -= bits;
        self.mem_len += 1;
    }

    /// Words per packed key; at least one.
    pub fn key_width(&self) -> usize {
        self.key_width.max(1)
    }

    /// Cells that a key holds: the first so many cells of working memory.
    pub fn key_cells(&self) -> usize {
        self.fields.len()
    }

    /// Cells of working memory.
    pub fn mem_len(&self) -> usize {
        self.mem_len
    }

    /// Packs the first cells of working memory into a key.
    pub fn pack(&self, mem: &[i64], key: &mut [Word]) {
        key.fill(0);
        for (f, &v) in self.fields.iter().zip(mem) {
            key[f.word as usize] |= (v.wrapping_sub(f.lo) as u64 & f.mask) << f.shift;
        }
    }

    /// Rewrites one cell of a packed key.
    #[inline]
    pub fn repack(&self, cell: usize, value: i64, key: &mut [Word]) {
        let f = &self.fields[cell];
        let word = &mut key[f.word as usize];
        *word = (*word & !(f.mask << f.shift)) | ((value.wrapping_sub(f.lo) as u64 & f.mask) << f.shift);
    }

    /// Unpacks a key into the first cells of working memory.
    #[inline]
    pub fn unpack(&self, key: &[Word], mem: &mut [i64]) {
        for (f, v) in self.fields.iter().zip(mem) {
            *v = ((key[f.word as usize] >> f.shift) & f.mask).wrapping_add(f.lo as u64) as i64;
        }
    }

    /// The initial working memory.
    pub fn initial(&self, net: &Network) -> Vec<i64> {
        let locations = net.processes.iter().map(|p| p.init as i64);
        let cells = |vars: &[DataVar]| vars.iter().flat_map(|v| v.init.clone()).collect::<Vec<_>>();
        locations.chain(cells(&net.vars)).chain(cells(&net.temps)).collect()
    }

    /// A stored state, unpacked for reports.
    pub fn snapshot(&self, _: &Network, key: &[Word], elem: &[Word]) -> Snapshot {
        self.unpacked(key, elem)
    }

    /// A stored state, unpacked, for those who have no network at hand.
    pub fn unpacked(&self, key: &[Word], elem: &[Word]) -> Snapshot {
        let mut mem = vec![0; self.key_cells()];
        self.unpack(key, &mut mem);
        let (locations, data) = mem.split_at(self.processes);
        Snapshot {
            locations: locations.iter().map(|&l| l as u32).collect(),
            data: data.to_vec(),
            element: elem.to_vec(),
            clocks: Vec::new(),
        }
    }

    /// The packed key of a snapshot.
    pub fn key_of(&self, s: &Snapshot) -> Vec<Word> {
        let mem: Vec<i64> = s.locations.iter().map(|&l| l as i64).chain(s.data.iter().copied()).collect();
        let mut key = vec![0; self.key_width()];
        self.pack(&mem, &mut key);
        key
    }
}
