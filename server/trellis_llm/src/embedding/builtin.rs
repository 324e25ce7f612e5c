//! The built-in embedder: one vector per word piece; the vector of a text is the normalized sum of
//! its pieces' vectors.
//!
//! NOTICE, at the root of the repository, names the source of the numbers.

use super::Vectors;
use super::wordpiece::{PIECES, for_each_piece};

/// First one scale per piece, a little-endian `f32`; then one row of signed bytes per piece.
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
