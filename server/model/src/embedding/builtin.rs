//! The embedder inside the binary: a vector for each word piece, and a text is the sum of its pieces.
//!
//! Where the numbers come from stands in NOTICE, at the root of the repository.

use super::Vectors;
use super::wordpiece::{PIECES, for_each_piece};

/// First a scale for each piece, a little-endian `f32`; then for each piece a row of signed bytes.
static MODEL: &[u8] = include_bytes!("../../data/static-minilm-256-int8.bin");

const DIMENSIONS: usize = 256;

const SCALES: usize = PIECES * size_of::<f32>();

const _: () = assert!(MODEL.len() == SCALES + PIECES * DIMENSIONS);

pub(super) fn embed(texts: &[String]) -> Vectors {
    let mut numbers = Vec::with_capacity(texts.len() * DIMENSIONS);
    for text in texts {
        let mut sum = [0.0; DIMENSIONS];
        for_each_piece(text, |piece| add(&mut sum, piece));
        super::normalize(&mut sum);
        numbers.extend(sum);
    }
    Vectors { dimensions: DIMENSIONS, numbers }
}

fn add(sum: &mut [f32; DIMENSIONS], piece: usize) {
    let (scales, rows) = MODEL.split_at(SCALES);
    let (scales, _) = scales.as_chunks::<4>();
    let (rows, _) = rows.as_chunks::<DIMENSIONS>();
    let scale = f32::from_le_bytes(scales[piece]);
    for (total, byte) in sum.iter_mut().zip(&rows[piece]) {
        *total += scale * f32::from(*byte as i8);
    }
}
