import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { effectiveEntitlements } from './effective-entitlement.js';
import type { EntitlementSource, UsageResetPeriod } from './entitlement.js';

const ALWAYS = { startMs: 0, endMs: Infinity };
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
  validity: ALWAYS,
  ...change,
});

const NOW = 1000;
const only = (...sources: EntitlementSource[]) => effectiveEntitlements(sources, NOW)[0];
/** The limit as a text; `unlimited`, or `none` without an enabled source. */
const limit = (...sources: EntitlementSource[]): string => {
  const entitled = only(...sources);
  if (entitled === undefined) return 'none';
  return entitled.usageLimit === null ? 'unlimited' : plain(entitled.usageLimit);
};

describe('effective entitlement (10.1)', () => {
  it('two sources of one feature add up (34.6)', () => {
    expect(limit(source('a'), source('b', { usageLimit: decimalOf('50') }))).toBe('150');
  });

  it('the same addon twice counts twice', () => {
    expect(limit(source('addon'), source('addon'))).toBe('200');
  });

  it('one unlimited source makes the sum unlimited (34.6)', () => {
    expect(limit(source('a'), source('b', { usageLimit: null }), source('c'))).toBe('unlimited');
  });

  it('a subscription-scoped one replaces its parent instead of adding (34.6)', () => {
    const own = source('own', { parentEntitlementId: 'a', usageLimit: decimalOf('7') });
    expect(limit(source('a'), source('b'), own)).toBe('107');
  });

  it('a disabled replacement takes the parent away', () => {
    const own = source('own', { parentEntitlementId: 'a', isEnabled: false });
    expect(limit(source('a'), own)).toBe('none');
    expect(limit(source('a'), source('b'), own)).toBe('100');
  });

  it('a replacement outside of its dates replaces nothing', () => {
    const validity = { startMs: 0, endMs: NOW };
    const own = source('own', { parentEntitlementId: 'a', usageLimit: decimalOf('7'), validity });
    expect(limit(source('a'), own)).toBe('100');
  });

  it('a source counts from its start on and not at its end', () => {
    expect(limit(source('a', { validity: { startMs: NOW, endMs: NOW + 1 } }))).toBe('100');
    expect(limit(source('a', { validity: { startMs: NOW + 1, endMs: Infinity } }))).toBe('none');
    expect(limit(source('a', { validity: { startMs: 0, endMs: NOW } }))).toBe('none');
  });

  it('disabled sources are ignored', () => {
    expect(limit(source('a'), source('b', { isEnabled: false, usageLimit: null }))).toBe('100');
  });

  it('is soft if any source is', () => {
    expect(only(source('a'), source('b', { isSoftLimit: true }))?.isSoftLimit).toBe(true);
    expect(only(source('a'), source('b'))?.isSoftLimit).toBe(false);
  });

  it.each<[(UsageResetPeriod | null)[], UsageResetPeriod | null]>([
    [['DAILY', 'MONTHLY', 'MONTHLY'], 'MONTHLY'],
    [['DAILY', 'MONTHLY'], 'DAILY'],
    [[null, null, 'ANNUAL'], 'ANNUAL'],
    [[null], null],
    [['NEVER', 'DAILY', 'DAILY', 'NEVER'], 'NEVER'],
  ])('of the reset periods %j takes %s', (periods, expected) => {
    const sources = periods.map((usageResetPeriod, index) =>
      source(`s${index}`, { usageResetPeriod, createdAtMs: index }),
    );
    expect(only(...[...sources].reverse())?.usageResetPeriod).toBe(expected);
  });

  it('a static feature has the different values in source order', () => {
    const of = (id: string, staticValue: string, createdAtMs: number): EntitlementSource =>
      source(id, { featureType: 'static', meterId: null, staticValue, createdAtMs });
    const sources = [of('c', 'gold', 3), of('b', 'silver', 1), of('a', 'gold', 2)];
    expect(only(...sources)?.staticValues).toEqual(['silver', 'gold']);
  });

  it('keeps features apart', () => {
    const found = effectiveEntitlements([source('a'), source('b', { featureId: 'other' })], NOW);
    expect(found.map(({ featureId }) => featureId)).toEqual(['feature_calls', 'other']);
  });
});

describe('laws', () => {
  const sources = fc.array(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      parent: fc.option(fc.constantFrom('a0', 'b1', 'a1')),
      limit: fc.option(fc.nat()),
      isEnabled: fc.boolean(),
      createdAtMs: fc.nat(3),
    }),
  );

  it('the order of the sources changes nothing', () => {
    fc.assert(
      fc.property(sources, (drawn) => {
        const made = drawn.map(({ id, parent, limit: of, isEnabled, createdAtMs }, index) =>
          source(`${id}${index}`, {
            parentEntitlementId: parent,
            usageLimit: of === null ? null : decimalOf(String(of)),
            isEnabled,
            createdAtMs,
          }),
        );
        const turned = effectiveEntitlements([...made].reverse(), NOW);
        expect(JSON.stringify(turned)).toBe(JSON.stringify(effectiveEntitlements(made, NOW)));
      }),
    );
  });
});
