import fc from 'fast-check';

/** Values as whole numbers of 10^-18; decimal arithmetic is checked against them. */
export const SCALE = 10n ** 18n;
const LIMIT = 10n ** 39n * SCALE;

type Fraction = { readonly digits: bigint; readonly divisor: bigint };

function fractionOf(text: string): Fraction {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('+', '').split('.');
  const digits = BigInt(
    `${whole === '-' ? '-0' : whole || '0'}${fraction}`.replace(/^-0+(?=\d)/, '-'),
  );
  const shift = Number(exponent) - fraction.length;
  return shift >= 0
    ? { digits: digits * 10n ** BigInt(shift), divisor: 1n }
    : { digits, divisor: 10n ** BigInt(-shift) };
}

/** The value of a numeric text by docs/domain.md 7.5; negative numbers too. */
export function scaledValue(text: string, multiplier: string | null): bigint | null {
  const number = fractionOf(text);
  const factor = multiplier === null ? { digits: 1n, divisor: 1n } : fractionOf(multiplier);
  // Division of whole numbers cuts towards 0, as the rule asks.
  const scaled = (number.digits * factor.digits * SCALE) / (number.divisor * factor.divisor);
  return scaled >= LIMIT || scaled <= -LIMIT ? null : scaled;
}

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });

/** Numeric texts of every form, also far too large to store, with exponents that are computable. */
export const decimalText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    digits(45),
    fc.option(digits(45)),
    fc.option(fc.integer({ min: -60, max: 45 })),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === null ? '' : `.${fraction}`}` +
      `${exponent === null ? '' : `e${exponent}`}`,
  );
