import { decimalOf, type Decimal } from '../../../../contract/number/decimal.js';
import { toText, type Fraction } from '../../usage-oracle/fraction.js';
import { exact } from '../exact.js';

/** The product's number for one of the oracle's. */
export function decimalFrom(value: Fraction): Decimal {
  return decimalOf(toText(value));
}

/** The oracle's number for one of the product's: all of its digits. */
export function fractionFrom(value: Decimal): Fraction {
  return exact(value.toFixed());
}
