import { describe, expect, it } from 'vitest';
import { subscriptionOf } from '../../testing/invoice-samples.js';
import { MemberReader } from '../../records/member-rules.js';
import { readPreviewPeriod, type PreviewRequest } from './preview-period.js';

const at = (text: string): number => Date.parse(text);

const START = at('2026-09-01T00:00:00Z');
const TERMS = subscriptionOf({ startMs: START, billingAnchorMs: START });
const NOW = at('2026-11-15T00:00:00Z');

type Members = Pick<PreviewRequest, 'period_start' | 'period_end'>;

function read(members: Members, hasFixedLines = true) {
  const reader = new MemberReader();
  const period = readPreviewPeriod(reader, members, { terms: TERMS, hasFixedLines, now: NOW });
  return { period, problems: reader.refusal()?.details ?? null };
}

const TWO_MONTHS = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-12-01T00:00:00Z' };

describe('interval of a preview', () => {
  it.each<[string, Members]>([
    ['a whole period', { ...TWO_MONTHS, period_end: '2026-11-01T00:00:00Z' }],
    ['a part', { period_start: '2026-10-05T00:00:00Z', period_end: '2026-10-06T00:00:00Z' }],
    ['the current period from a later start', { period_start: '2026-11-10T00:00:00Z' }],
    ['the current period up to an earlier end', { period_end: '2026-11-10T00:00:00Z' }],
    ['the current period', {}],
  ])('may be %s beside fixed prices', (_, members) => {
    expect(read(members).problems).toBeNull();
  });

  it.each<[string, Members]>([
    ['two periods', TWO_MONTHS],
    ['a millisecond too long', { ...TWO_MONTHS, period_end: '2026-11-01T00:00:00.001Z' }],
    ['across a boundary', { ...TWO_MONTHS, period_start: '2026-10-31T00:00:00Z' }],
    ['a start in an earlier period', { period_start: '2026-10-31T23:59:59.999Z' }],
    ['an end in a later period', { period_end: '2026-12-01T00:00:00.001Z' }],
    ['before the subscription', { ...TWO_MONTHS, period_start: '2026-08-31T23:59:59.999Z' }],
  ])('is refused when it is %s beside fixed prices, not beside usage alone', (_, members) => {
    const { problems } = read(members);
    for (const member of ['period_start', 'period_end']) {
      expect(problems?.[member]).toContain('one billing period');
    }
    expect(read(members, false).problems).toBeNull();
  });

  it('is refused with a period to take instead', () => {
    expect(read(TWO_MONTHS).problems?.['period_end']).toContain(
      'take 2026-10-01T00:00:00.000Z to 2026-11-01T00:00:00.000Z or a part of it',
    );
  });

  it('is kept as it was given', () => {
    const period = { startMs: at(TWO_MONTHS.period_start), endMs: at(TWO_MONTHS.period_end) };
    expect(read(TWO_MONTHS, false).period).toEqual(period);
  });
});
