import { expect, test } from 'vitest';
import { alignmentProblem } from './aligned-periods.js';
import { openLedger } from './ledger-rows.js';
import type { PeriodTerms } from './period-ledger.js';

const at = (text: string): number => Date.parse(`${text}T00:00:00Z`);

const MONTHLY: PeriodTerms = {
  billingCycle: 'anniversary',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingCadence: 'RECURRING',
  timezone: 'UTC',
  endMs: null,
};

function ledger(start: string, terms: Partial<PeriodTerms> = {}, trialEnd: string | null = null) {
  const startMs = at(start);
  const trialEndMs = trialEnd === null ? null : at(trialEnd);
  return openLedger({ ...MONTHLY, ...terms }, { startMs, billingAnchorMs: startMs, trialEndMs });
}

test('periods that end together are aligned, wherever they began (29.2)', () => {
  const parent = openLedger(MONTHLY, {
    startMs: at('2026-01-16'),
    billingAnchorMs: at('2026-02-01'),
    trialEndMs: null,
  });
  expect(alignmentProblem(parent, ledger('2026-01-01'))).toBe(null);
  expect(alignmentProblem(ledger('2026-01-01'), ledger('2026-01-02'))).toMatch(/do not end/);
  // A trial that ends with a period of the parent.
  const trial = ledger('2026-01-10', {}, '2026-02-01');
  expect(alignmentProblem(ledger('2026-01-01'), trial)).toBe(null);
  const other = ledger('2026-01-10', {}, '2026-02-02');
  expect(alignmentProblem(ledger('2026-01-01'), other)).toMatch(/do not end/);
});

test('anchors of other days differ, also where February hides it', () => {
  const [last, before] = [ledger('2026-01-31'), ledger('2026-01-30')];
  expect(last.periods[0].endMs).toBe(before.periods[0].endMs);
  expect(alignmentProblem(last, before)).toMatch(/do not end/);
});

test('lengths and time zones are the same', () => {
  const one = ledger('2026-01-01');
  expect(alignmentProblem(one, ledger('2026-01-01', { billingPeriodCount: 3 }))).toMatch(
    /billing_period_count/,
  );
  const zone = { timezone: 'Europe/Berlin' };
  expect(alignmentProblem(one, ledger('2026-01-01', zone))).toMatch(/timezone/);
});
