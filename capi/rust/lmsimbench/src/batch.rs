//! Operators and collectives in the batches in which cost models are asked.

use crate::kinds::{CollectiveKind, Computation, Group, OperatorKind, Pass, Precision};
use lmsimbench_sys as sys;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr::{self, addr_of};

/// One operator on one device. A figure that does not apply is -1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operator {
    /// What it does.
    pub kind: OperatorKind,
    /// The part of the iteration that it belongs to.
    pub pass: Pass,
    /// What bounds it, and which of the figures below describe its shape.
    pub computation: Computation,
    /// Format of what is computed on.
    pub precision: Precision,
    /// So many matrix multiplications C\[m, n\] = A\[m, k\] B\[k, n\]; for
    /// attention the number of sequences.
    pub batch: i64,
    /// Rows of C.
    pub m: i64,
    /// Columns of C.
    pub n: i64,
    /// Columns of A.
    pub k: i64,
    /// Tokens of each sequence that attend.
    pub query_tokens: i64,
    /// Tokens of each sequence that are attended to.
    pub key_tokens: i64,
    /// Heads of queries.
    pub heads: i64,
    /// Heads of keys and values.
    pub kv_heads: i64,
    /// Width of a head.
    pub head_dim: i64,
    /// Whether a token attends only to those before it.
    pub causal: bool,
    /// Tokens that a query attends to at most; 0: all.
    pub window: i64,
    /// Rows of `width` elements each.
    pub rows: i64,
    /// Elements of a row.
    pub width: i64,
    /// Floating-point operations, multiply and add as two; inside of the mask
    /// only.
    pub flops: f64,
    /// Bytes that device memory has to move at least.
    pub bytes: f64,
    /// Attention: width of a value head where it is not `head_dim`.
    pub value_head_dim: i64,
}

impl Default for Operator {
    /// Says nothing.
    fn default() -> Operator {
        Operator {
            kind: OperatorKind::default(),
            pass: Pass::default(),
            computation: Computation::default(),
            precision: Precision::default(),
            batch: -1,
            m: -1,
            n: -1,
            k: -1,
            query_tokens: -1,
            key_tokens: -1,
            heads: -1,
            kv_heads: -1,
            head_dim: -1,
            causal: false,
            window: 0,
            rows: -1,
            width: -1,
            flops: 0.0,
            bytes: 0.0,
            value_head_dim: -1,
        }
    }
}

/// One collective, with the span of the group that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What it does.
    pub kind: CollectiveKind,
    /// Who runs it.
    pub group: Group,
    /// The whole tensor: what every rank holds before an all-reduce or a
    /// reduce-scatter and after an all-gather; what one rank sends in an
    /// all-to-all, a broadcast or a send.
    pub bytes: i64,
    /// Ranks in the group.
    pub members: i64,
    /// Nodes that hold a member.
    pub nodes: i64,
    /// Members in the node that holds most.
    pub members_per_node: i64,
    /// Index into the system's `network`: the innermost level that joins all.
    pub level: i32,
}

/// Operators of a batch, borrowed from whoever asks or from a slice.
#[derive(Clone, Copy)]
pub struct OperatorBatch<'a> {
    raw: sys::lmsb_operator_batch,
    borrowed: PhantomData<&'a Operator>,
}

/// Collectives of a batch, borrowed from whoever asks or from a slice.
#[derive(Clone, Copy)]
pub struct CollectiveBatch<'a> {
    raw: sys::lmsb_collective_batch,
    borrowed: PhantomData<&'a Collective>,
}

/// An entry of a column, or `missing` where there is no such column.
///
/// # Safety
/// `first` is NULL, or a `T` can be read `row * stride` bytes behind it.
unsafe fn entry<T: Copy>(first: *const T, stride: usize, row: usize, missing: T) -> T {
    if first.is_null() {
        return missing;
    }
    // SAFETY: as the caller promises.
    unsafe {
        first
            .cast::<u8>()
            .add(row * stride)
            .cast::<T>()
            .read_unaligned()
    }
}

/// A column of the C interface whose entries are a field of a slice's entries.
macro_rules! column_of {
    ($slice:ident, $name:ident, $entry:ty, $field:ident) => {
        sys::$name {
            first: if $slice.is_empty() {
                ptr::null()
            } else {
                // SAFETY: only the address of a field of the first entry is
                // taken.
                unsafe { addr_of!((*$slice.as_ptr()).$field).cast() }
            },
            stride: size_of::<$entry>(),
        }
    };
}

/// What both kinds of batch have in common.
macro_rules! batch {
    ($batch:ident, $raw:ident, $entry:ident) => {
        impl<'a> $batch<'a> {
            /// # Safety
            /// `raw` is a batch of the library's that lives for `'a`.
            pub(crate) unsafe fn borrow(raw: *const sys::$raw) -> $batch<'a> {
                $batch {
                    // SAFETY: as the caller promises; no library of this version
                    // makes a shorter one.
                    raw: unsafe { *raw },
                    borrowed: PhantomData,
                }
            }

            /// How many there are.
            pub fn len(&self) -> usize {
                self.raw.count
            }

            /// Whether there is none.
            pub fn is_empty(&self) -> bool {
                self.raw.count == 0
            }

            /// All in order.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = $entry> + 'a {
                let batch = *self;
                (0..batch.len()).map(move |index| batch.get(index))
            }

            pub(crate) fn raw(&self) -> *const sys::$raw {
                &self.raw
            }
        }

        impl<'a> From<&'a Vec<$entry>> for $batch<'a> {
            fn from(entries: &'a Vec<$entry>) -> $batch<'a> {
                $batch::from(entries.as_slice())
            }
        }

        impl std::fmt::Debug for $batch<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }
    };
}

batch! { OperatorBatch, lmsb_operator_batch, Operator }
batch! { CollectiveBatch, lmsb_collective_batch, Collective }

impl OperatorBatch<'_> {
    /// One operator. Panics behind the last.
    pub fn get(&self, index: usize) -> Operator {
        assert!(index < self.len(), "operator {index} of {}", self.len());
        let raw = &self.raw;
        macro_rules! at {
            ($column:ident, $missing:expr) => {
                // SAFETY: every column holds as many entries as the batch.
                unsafe { entry(raw.$column.first, raw.$column.stride, index, $missing) }
            };
        }
        Operator {
            kind: OperatorKind::of_number(at!(kind, 0)),
            pass: Pass::of_number(at!(pass, 0)),
            computation: Computation::of_number(at!(computation, u8::MAX)),
            precision: Precision::of_number(at!(precision, 0)),
            batch: at!(batch, -1),
            m: at!(m, -1),
            n: at!(n, -1),
            k: at!(k, -1),
            query_tokens: at!(query_tokens, -1),
            key_tokens: at!(key_tokens, -1),
            heads: at!(heads, -1),
            kv_heads: at!(kv_heads, -1),
            head_dim: at!(head_dim, -1),
            causal: at!(causal, 0) != 0,
            window: at!(window, 0),
            rows: at!(rows, -1),
            width: at!(width, -1),
            flops: at!(flops, 0.0),
            bytes: at!(bytes, 0.0),
            value_head_dim: at!(value_head_dim, -1),
        }
    }
}

impl CollectiveBatch<'_> {
    /// One collective. Panics behind the last.
    pub fn get(&self, index: usize) -> Collective {
        assert!(index < self.len(), "collective {index} of {}", self.len());
        let raw = &self.raw;
        macro_rules! at {
            ($column:ident, $missing:expr) => {
                // SAFETY: every column holds as many entries as the batch.
                unsafe { entry(raw.$column.first, raw.$column.stride, index, $missing) }
            };
        }
        Collective {
            kind: CollectiveKind::of_number(at!(kind, 0)),
            group: Group::of_number(at!(group, 0)),
            bytes: at!(bytes, 0),
            members: at!(members, 1),
            nodes: at!(nodes, 1),
            members_per_node: at!(members_per_node, 1),
            level: at!(level, 0),
        }
    }
}

impl<'a> From<&'a [Operator]> for OperatorBatch<'a> {
    fn from(operators: &'a [Operator]) -> OperatorBatch<'a> {
        macro_rules! column {
            ($type:ident, $field:ident) => {
                column_of!(operators, $type, Operator, $field)
            };
        }
        OperatorBatch {
            raw: sys::lmsb_operator_batch {
                struct_size: size_of::<sys::lmsb_operator_batch>(),
                count: operators.len(),
                kind: column!(lmsb_u8_column, kind),
                pass: column!(lmsb_u8_column, pass),
                computation: column!(lmsb_u8_column, computation),
                precision: column!(lmsb_u8_column, precision),
                batch: column!(lmsb_i64_column, batch),
                m: column!(lmsb_i64_column, m),
                n: column!(lmsb_i64_column, n),
                k: column!(lmsb_i64_column, k),
                query_tokens: column!(lmsb_i64_column, query_tokens),
                key_tokens: column!(lmsb_i64_column, key_tokens),
                heads: column!(lmsb_i64_column, heads),
                kv_heads: column!(lmsb_i64_column, kv_heads),
                head_dim: column!(lmsb_i64_column, head_dim),
                causal: column!(lmsb_u8_column, causal),
                window: column!(lmsb_i64_column, window),
                rows: column!(lmsb_i64_column, rows),
                width: column!(lmsb_i64_column, width),
                flops: column!(lmsb_f64_column, flops),
                bytes: column!(lmsb_f64_column, bytes),
                value_head_dim: column!(lmsb_i64_column, value_head_dim),
            },
            borrowed: PhantomData,
        }
    }
}

impl<'a> From<&'a [Collective]> for CollectiveBatch<'a> {
    fn from(collectives: &'a [Collective]) -> CollectiveBatch<'a> {
        macro_rules! column {
            ($type:ident, $field:ident) => {
                column_of!(collectives, $type, Collective, $field)
            };
        }
        CollectiveBatch {
            raw: sys::lmsb_collective_batch {
                struct_size: size_of::<sys::lmsb_collective_batch>(),
                count: collectives.len(),
                kind: column!(lmsb_u8_column, kind),
                group: column!(lmsb_u8_column, group),
                bytes: column!(lmsb_i64_column, bytes),
                members: column!(lmsb_i64_column, members),
                nodes: column!(lmsb_i64_column, nodes),
                members_per_node: column!(lmsb_i64_column, members_per_node),
                level: column!(lmsb_i32_column, level),
            },
            borrowed: PhantomData,
        }
    }
}
