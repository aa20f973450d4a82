import { describe, expect, test } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { writtenOffOf } from './written-off.js';

describe('what is written off of a payment', () => {
  test.each([
    ['the rest of what is left', '12.345', '12.34', '12.34', '12.345', '0.005'],
    ['nothing where it was taken whole', '12.34', '12.34', '12.34', '12.34', '0'],
    ['nothing of a part, whose rest stays open', '5.005', '5', '5', '12.345', '0'],
    ['nothing where less was taken than can be', '12.345', '12.34', '10', '12.345', '0'],
    ['nothing where less is left by then', '12.345', '12.34', '12.34', '12', '0'],
    ['what is left by then', '12.345', '12.34', '12.34', '12.342', '0.002'],
  ])('is %s', (...[, asked, chargeable, received, left, writtenOff]) => {
    const amounts = {
      asked: decimalOf(asked),
      chargeable: decimalOf(chargeable),
      received: decimalOf(received),
      left: decimalOf(left),
    };
    expect(plain(writtenOffOf(amounts))).toBe(writtenOff);
  });
});
