import { expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { DAY_MS } from '../../../contract/instant.js';
import { scaleAllowance } from './scale-allowance.js';

it.each([
  ['1000', [17, 31], '548'],
  ['5', [1, 2], '3'],
  ['5', [31, 31], '5'],
  ['1', [1, 31], '0'],
] as const)('an allowance of %s for %j days is %s (22.2)', (limit, [covered, full], expected) => {
  const share = { coveredMs: covered * DAY_MS, fullMs: full * DAY_MS };
  expect(plain(scaleAllowance(decimalOf(limit), share))).toBe(expected);
});
