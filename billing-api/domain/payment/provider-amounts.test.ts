import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, plain } from '../../../contract/number/decimal.js';
import {
  askedTooMuch,
  newlyPaidThere,
  type AmountsHere,
  type AmountsThere,
} from './provider-amounts.js';

const money = (text: string) => new Decimal(text);
const here = (paid: string, pulled: readonly string[] = [], adjusted = '0'): AmountsHere => ({
  total: money('122'),
  adjusted: money(adjusted),
  paid: money(paid),
  pulled: pulled.map((amount) => ({ amount: money(amount), isVoided: false })),
});
const there = (paid: string, rest: Partial<Record<keyof AmountsThere, string>> = {}) => ({
  total: money(rest.total ?? '122'),
  credited: money(rest.credited ?? '0'),
  paid: money(paid),
  paidElsewhere: money(rest.paidElsewhere ?? '0'),
});

describe('what a pull records', () => {
  it.each([
    ['what came there is added to what came here', here('40'), there('82'), '82'],
    ['also more than is left', here('40'), there('122'), '122'],
    ['what a pull has recorded is not recorded again', here('122', ['82']), there('82'), '0'],
    [
      'nor where that was found not to hold',
      { ...here('40'), pulled: [{ amount: money('82'), isVoided: true }] },
      ...([there('82'), '0'] as const),
    ],
    [
      'what a push has told to be paid here is not money of the provider',
      here('122', ['22']),
      ...([there('122', { paidElsewhere: '100' }), '0'] as const),
    ],
    [
      'what others noted there counts as far as it is more than what came here',
      here('40'),
      ...([there('122', { paidElsewhere: '122' }), '82'] as const),
    ],
    [
      'or than what of it no line or note has taken off there',
      here('40'),
      ...([there('82', { total: '82', paidElsewhere: '50' }), '82'] as const),
    ],
  ])('%s', (...[, ours, theirs, news]) => {
    expect(plain(newlyPaidThere(ours, theirs))).toBe(news);
  });

  it('counts every cent once, in whatever order it comes and is told', () => {
    const step = fc.tuple(fc.constantFrom('here', 'there', 'pull', 'push'), fc.nat(60));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let [byHere, byThere, credited] = [0, 0, 0];
        const pulled: number[] = [];
        const state = () => {
          const sum = pulled.reduce((left, right) => left + right, 0);
          return [
            here(`${byHere + sum}`, pulled.map(String)),
            there(`${byThere}`, { credited: `${credited}` }),
          ] as const;
        };
        const pull = () => {
          const news = newlyPaidThere(...state()).toNumber();
          if (news > 0) pulled.push(news);
        };
        for (const [what, amount] of steps) {
          if (what === 'here') byHere += amount;
          if (what === 'there') byThere += amount;
          if (what === 'pull') pull();
          if (what === 'push') credited += askedTooMuch(...state()).toNumber();
        }
        pull();
        expect(pulled.reduce((left, right) => left + right, 0)).toBe(byThere);
      }),
    );
  });
});

describe('what a push tells', () => {
  it.each([
    ['what was paid here since', here('40'), there('0'), '40'],
    ['nothing that a line has taken off', here('40'), there('0', { total: '82' }), '0'],
    ['adjustments', here('0', [], '30'), there('0'), '30'],
    ['not what came there', here('82', ['82']), there('82'), '0'],
    ['not what somebody noted there', here('40'), there('50', { paidElsewhere: '50' }), '0'],
    ['what it has told too much', here('0'), there('0', { credited: '30' }), '-30'],
  ])('%s', (...[, ours, theirs, missing]) => {
    expect(plain(askedTooMuch(ours, theirs))).toBe(missing);
  });
});
