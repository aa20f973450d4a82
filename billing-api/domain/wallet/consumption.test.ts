import { expect, test } from 'vitest';
import { Decimal } from '../../../contract/number/decimal.js';
import { takeCredits, type WalletCredit } from './consumption.js';

const credit = (
  id: string,
  available: string,
  members: Partial<WalletCredit> = {},
): WalletCredit => ({
  id,
  available: new Decimal(available),
  createdMs: 0,
  priority: null,
  expiryMs: null,
  ...members,
});

test.for([
  ['by priority, none last', [credit('a', '5'), credit('b', '5', { priority: 9 })], ['b', 'a']],
  ['by expiry, none last', [credit('a', '5'), credit('b', '5', { expiryMs: 9 })], ['b', 'a']],
  [
    'priority before expiry',
    [credit('a', '5', { priority: 2, expiryMs: 1 }), credit('b', '5', { priority: 1 })],
    ['b', 'a'],
  ],
  [
    'the oldest first, whatever its size',
    [credit('a', '50', { createdMs: 2 }), credit('b', '5', { createdMs: 1 })],
    ['b', 'a'],
  ],
  ['by id where nothing else differs', [credit('b', '5'), credit('a', '5')], ['a', 'b']],
] as const)('credits are used %s', ([, credits, ids]) => {
  const used = (of: readonly WalletCredit[]) =>
    takeCredits(of, new Decimal('6')).map(({ creditId }) => creditId);
  expect(used(credits)).toEqual(ids);
  expect(used([...credits].reverse())).toEqual(ids);
});

test('no more is taken than there is', () => {
  const uses = takeCredits([credit('a', '2'), credit('b', '0')], new Decimal('6'));
  expect(uses.map(({ creditId, credits }) => [creditId, credits.toFixed()])).toEqual([['a', '2']]);
});
