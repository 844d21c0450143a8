//! The two variable-length integers of a code object, both in chunks of six bits.
//!
//! `co_linetable` stores the least significant chunk first, `co_exceptiontable` the most significant one; in both, bit
//! `0x40` of a byte says that another chunk follows and bit `0x80` is left to the table (it marks the start of an entry).

/// "Another chunk follows."
const MORE: u8 = 0x40;
/// The payload of one byte.
const CHUNK: u8 = 0x3f;
/// Bits in a payload.
const CHUNK_BITS: u32 = 6;

/// Writes a little-endian varint (`co_linetable`), at most six bytes.
#[inline]
pub fn write_le(mut put: impl FnMut(u8), mut value: u32) {
    while value > u32::from(CHUNK) {
        put(MORE | (value as u8 & CHUNK));
        value >>= CHUNK_BITS;
    }
    put(value as u8);
}

/// Writes a signed little-endian varint: the sign in bit 0, the magnitude above it.
///
/// Takes an `i64` because the difference of two lines may need 33 bits; the magnitude must stay below `2**31`.
#[inline]
pub fn write_signed_le(put: impl FnMut(u8), value: i64) {
    let magnitude = value.unsigned_abs() as u32;
    write_le(put, magnitude << 1 | u32::from(value < 0));
}

/// Appends a big-endian varint (`co_exceptiontable`) whose first byte also carries `mark`.
#[inline]
pub fn write_be(out: &mut Vec<u8>, value: u32, mark: u8) {
    let chunks = (32 - value.leading_zeros()).div_ceil(CHUNK_BITS).max(1);
    let mut mark = mark;
    for chunk in (0..chunks).rev() {
        let more = if chunk == 0 { 0 } else { MORE };
        out.push(mark | more | ((value >> (CHUNK_BITS * chunk)) as u8 & CHUNK));
        mark = 0;
    }
}

/// Reads a little-endian varint at `*pos` and moves past it. `None`: truncated, or beyond 32 bits.
#[inline]
pub fn read_le(bytes: &[u8], pos: &mut usize) -> Option<u32> {
    let first = *bytes.get(*pos)?;
    *pos += 1;
    let mut value = u32::from(first & CHUNK);
    let mut more = first & MORE != 0;
    let mut shift = CHUNK_BITS;
    while more {
        let byte = *bytes.get(*pos)?;
        *pos += 1;
        let chunk = u32::from(byte & CHUNK);
        if shift >= u32::BITS || (chunk << shift) >> shift != chunk {
            return None;
        }
        value |= chunk << shift;
        more = byte & MORE != 0;
        shift += CHUNK_BITS;
    }
    Some(value)
}

/// Reads a signed little-endian varint at `*pos` and moves past it.
#[inline]
pub fn read_signed_le(bytes: &[u8], pos: &mut usize) -> Option<i32> {
    let raw = read_le(bytes, pos)?;
    let magnitude = (raw >> 1) as i32;
    Some(if raw & 1 == 0 { magnitude } else { -magnitude })
}

/// Reads a big-endian varint at `*pos` and moves past it; bit `0x80` of its first byte is ignored, of others an error.
#[inline]
pub fn read_be(bytes: &[u8], pos: &mut usize) -> Option<u32> {
    let first = *bytes.get(*pos)?;
    *pos += 1;
    let mut value = u32::from(first & CHUNK);
    let mut more = first & MORE != 0;
    while more {
        let byte = *bytes.get(*pos)?;
        *pos += 1;
        if byte & 0x80 != 0 || value >> (u32::BITS - CHUNK_BITS) != 0 {
            return None;
        }
        value = value << CHUNK_BITS | u32::from(byte & CHUNK);
        more = byte & MORE != 0;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn little_endian_bytes_are_those_of_the_format_document() {
        let encode = |value| {
            let mut out = Vec::new();
            write_le(|byte| out.push(byte), value);
            out
        };
        assert_eq!(encode(0), [0]);
        assert_eq!(encode(63), [63]);
        assert_eq!(encode(64), [0x40, 1]);
        assert_eq!(encode(200), [0x48, 3]);
    }

    #[test]
    fn big_endian_bytes_are_those_of_the_format_document() {
        let encode = |value| {
            let mut out = Vec::new();
            write_be(&mut out, value, 0x80);
            out
        };
        assert_eq!(encode(0), [0x80]);
        assert_eq!(encode(20), [0x94]);
        assert_eq!(encode(100), [0xc1, 0x24]);
    }

    #[test]
    fn truncated_and_oversized_integers_are_refused() {
        for bytes in [&[][..], &[0x40], &[0x7f, 0x7f], &[0x7f; 7]] {
            assert_eq!(read_le(bytes, &mut 0), None, "{bytes:?}");
            assert_eq!(read_be(bytes, &mut 0), None, "{bytes:?}");
        }
        assert_eq!(read_be(&[0x41, 0x80], &mut 0), None, "an entry begins inside an integer");
    }

    proptest! {
        #[test]
        fn every_value_comes_back(value: u32, tail: u8) {
            let mut out = Vec::new();
            write_le(|byte| out.push(byte), value);
            let le = out.len();
            write_be(&mut out, value, 0x80);
            let be = out.len();
            out.push(tail);
            let mut pos = 0;
            prop_assert_eq!(read_le(&out, &mut pos), Some(value));
            prop_assert_eq!(pos, le);
            prop_assert_eq!(read_be(&out, &mut pos), Some(value));
            prop_assert_eq!(pos, be);
        }

        #[test]
        fn every_signed_value_comes_back(value in -0x7fff_ffff..=0x7fff_ffff_i32) {
            let mut out = Vec::new();
            write_signed_le(|byte| out.push(byte), i64::from(value));
            let mut pos = 0;
            prop_assert_eq!(read_signed_le(&out, &mut pos), Some(value));
            prop_assert_eq!(pos, out.len());
        }
    }
}
