import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { customerEntitlements } from './customer-entitlement.js';
import type { EntitlementSource } from './entitlement.js';

const NOW = 1000;
const source = (
  entitlementId: string,
  change: Partial<EntitlementSource> = {},
): EntitlementSource => ({
  entitlementId,
  parentEntitlementId: null,
  featureId: 'feature_calls',
  featureType: 'metered',
  meterId: 'meter_calls',
  isEnabled: true,
  isSoftLimit: false,
  usageLimit: decimalOf('100'),
  usageResetPeriod: null,
  staticValue: null,
  createdAtMs: 0,
  validity: { startMs: 0, endMs: Infinity },
  ...change,
});

/** The limit of the only feature, and the ids of its sources. */
const combined = (...ofSubscriptions: EntitlementSource[][]): string => {
  const [entitlement] = customerEntitlements(ofSubscriptions, NOW);
  if (entitlement === undefined) return 'nothing';
  const { effective, sources } = entitlement;
  const limit = effective?.usageLimit;
  const shown = limit === null ? 'unlimited' : limit === undefined ? 'disabled' : plain(limit);
  return `${shown} by ${sources.map(({ entitlementId }) => entitlementId).join('+')}`;
};

describe('what a customer may use (10.3)', () => {
  it('two subscriptions of one plan count its entitlement twice', () => {
    expect(combined([source('plan')], [source('plan')])).toBe('200 by plan+plan');
  });

  it('one unlimited subscription makes it unlimited', () => {
    expect(combined([source('a')], [source('b', { usageLimit: null })])).toBe('unlimited by a+b');
  });

  it('a replacement replaces on its own subscription only', () => {
    const own = source('own', { parentEntitlementId: 'plan', usageLimit: decimalOf('7') });
    expect(combined([source('plan'), own], [source('plan')])).toBe('107 by own+plan');
  });

  it('a feature that one subscription gave up still counts by the other', () => {
    const given = source('own', { parentEntitlementId: 'plan', isEnabled: false });
    expect(combined([source('plan'), given], [source('plan')])).toBe('100 by own+plan');
    expect(combined([source('plan'), given])).toBe('disabled by own');
  });

  it('sources are in the order of their creation, whatever their subscription', () => {
    const texts = { featureType: 'static', meterId: null } as const;
    const late = source('late', { ...texts, staticValue: 'gold', createdAtMs: 2 });
    const early = source('early', { ...texts, staticValue: 'silver', createdAtMs: 1 });
    const again = source('again', { ...texts, staticValue: 'gold', createdAtMs: 3 });
    const [entitlement] = customerEntitlements([[late, again], [early]], NOW);
    expect(entitlement?.effective?.staticValues).toEqual(['silver', 'gold']);
    expect(entitlement?.sources.map((one) => one.entitlementId)).toEqual([
      'early',
      'late',
      'again',
    ]);
  });

  it('nothing counts outside of its dates', () => {
    expect(combined([source('a', { validity: { startMs: 0, endMs: NOW } })])).toBe('nothing');
    expect(combined([source('a', { validity: { startMs: NOW, endMs: NOW + 1 } })])).toBe(
      '100 by a',
    );
  });
});
