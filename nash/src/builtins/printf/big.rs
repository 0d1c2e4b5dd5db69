//! Natural numbers without a bound, for exact conversions of floating point numbers.
//!
//! Knows the few operations that these need and no others.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "limbs are cut out of wider numbers, and lengths are short"
)]

use std::cmp::Ordering;

/// A natural number; the least significant limb first, no zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Big(Vec<u32>);

impl From<u64> for Big {
    fn from(value: u64) -> Self {
        let mut big = Self(vec![(value & 0xffff_ffff) as u32, (value >> 32) as u32]);
        big.trim();
        big
    }
}

impl Big {
    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_odd(&self) -> bool {
        self.0.first().is_some_and(|limb| limb & 1 == 1)
    }

    /// How many bits it has.
    pub(crate) fn bits(&self) -> i64 {
        self.0.last().map_or(0, |top| 32 * self.0.len() as i64 - i64::from(top.leading_zeros()))
    }

    pub(crate) fn multiply(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = (product & 0xffff_ffff) as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    pub(crate) fn add(&mut self, number: u32) {
        let mut carry = number;
        for limb in &mut self.0 {
            let (sum, overflows) = limb.overflowing_add(carry);
            *limb = sum;
            carry = u32::from(overflows);
            if carry == 0 {
                return;
            }
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    pub(crate) fn shift_left(&mut self, count: u64) {
        if self.is_zero() {
            return;
        }
        let (limbs, bits) = ((count / 32) as usize, count % 32);
        let mut shifted = vec![0; limbs];
        let mut carry = 0;
        for limb in &self.0 {
            let wide = u64::from(*limb) << bits | carry;
            shifted.push((wide & 0xffff_ffff) as u32);
            carry = wide >> 32;
        }
        shifted.push(carry as u32);
        self.0 = shifted;
        self.trim();
    }

    /// The quotient, which must be short, and the remainder.
    pub(crate) fn divide(mut self, divisor: &Self) -> (Self, Self) {
        let mut quotient = Self(vec![]);
        let steps = (self.bits() - divisor.bits()).max(0).unsigned_abs();
        let mut scaled = divisor.clone();
        scaled.shift_left(steps);
        for _ in 0..=steps {
            quotient.shift_left(1);
            if self.compare(&scaled).is_ge() {
                self.subtract(&scaled);
                quotient.add(1);
            }
            scaled.shift_right_one();
        }
        (quotient, self)
    }

    /// Without its lowest bits; and these.
    pub(crate) fn cut(&self, count: u64) -> (Self, Self) {
        let limbs = ((count / 32) as usize).min(self.0.len());
        let mut high = Self(self.0[limbs..].to_vec());
        let bits = count % 32;
        for _ in 0..bits {
            high.shift_right_one();
        }
        let mut low = self.clone();
        let mut restored = high.clone();
        restored.shift_left(count);
        low.subtract(&restored);
        high.trim();
        (high, low)
    }

    /// The remainder of a quotient whose lowest bits were cut: these bits times the divisor, and the former remainder.
    pub(crate) fn joined(&self, rest: Self, divisor: &Self) -> Self {
        let mut sum = rest;
        for index in 0..self.bits() {
            let limb = self.0[(index / 32) as usize];
            if limb >> (index % 32) & 1 == 1 {
                let mut part = divisor.clone();
                part.shift_left(index.unsigned_abs());
                sum.add_big(&part);
            }
        }
        sum
    }

    /// How twice the number compares to another.
    pub(crate) fn twice_compared_to(&self, other: &Self) -> Ordering {
        let mut twice = self.clone();
        twice.shift_left(1);
        twice.compare(other)
    }

    /// The number, if it has at most 96 bits.
    pub(crate) fn low_u128(&self) -> Option<u128> {
        (self.0.len() <= 3).then(|| self.0.iter().rev().fold(0, |value, limb| value << 32 | u128::from(*limb)))
    }

    /// Its decimal digits; none for zero.
    pub(crate) fn into_decimal(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        while !self.is_zero() {
            let mut rest = 0;
            for limb in self.0.iter_mut().rev() {
                let wide = rest << 32 | u64::from(*limb);
                *limb = (wide / 1_000_000_000) as u32;
                rest = wide % 1_000_000_000;
            }
            self.trim();
            for _ in 0..9 {
                digits.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        digits.reverse();
        digits
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (index, limb) in self.0.iter_mut().enumerate() {
            let (less, first) = limb.overflowing_sub(other.0.get(index).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            *limb = less;
            borrow = first || second;
        }
        self.trim();
    }

    fn add_big(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()) + 1, 0);
        let mut carry = 0;
        for (index, limb) in self.0.iter_mut().enumerate() {
            let sum = u64::from(*limb) + u64::from(other.0.get(index).copied().unwrap_or(0)) + carry;
            *limb = (sum & 0xffff_ffff) as u32;
            carry = sum >> 32;
        }
        self.trim();
    }

    fn shift_right_one(&mut self) {
        let mut carry = 0;
        for limb in self.0.iter_mut().rev() {
            let low = *limb & 1;
            *limb = *limb >> 1 | carry << 31;
            carry = low;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Big;

    #[test]
    fn division_leaves_a_remainder() {
        let mut number = Big::from(u64::MAX);
        number.multiply(1000);
        number.add(7);
        let (quotient, rest) = number.divide(&Big::from(1000));
        assert_eq!((quotient, rest), (Big::from(u64::MAX), Big::from(7)));
    }

    #[test]
    fn decimal_digits() {
        let mut number = Big::from(1);
        number.shift_left(70);
        assert_eq!(number.into_decimal(), b"1180591620717411303424");
        assert_eq!(Big::from(1_000_000_000_000).into_decimal(), b"1000000000000");
    }
}
