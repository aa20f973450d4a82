import { describe, expect, it } from 'vitest';
import { Decimal } from '../../contract/number/decimal.js';
import { AssertionFailed } from '../../runtime/failure.js';
import type { UsagePart } from '../domain/usage/aggregation-spec.js';
import { readGroups, usageOfGrouping, type GroupingSlicing } from './usage-grouping.js';
import { MemberReader } from '../records/member-rules.js';

const read = (names: readonly string[]) => {
  const reader = new MemberReader();
  return { properties: readGroups(reader, names).properties, refusal: reader.refusal() };
};

describe('group_by', () => {
  it.each([1, 254, 255])('takes a property name of %i characters', (length) => {
    const name = 'a'.repeat(length);
    expect(read(['source', `properties.${name}`])).toEqual({ properties: [name], refusal: null });
  });

  it.each([256, 140_000])('refuses a property name of %i characters', (length) => {
    const { refusal } = read([`properties.${'a'.repeat(length)}`]);
    expect(refusal?.code).toBe('validation_error');
    expect(refusal?.details?.['group_by']).toContain('at most 255 characters');
    expect(refusal?.message.length).toBeLessThan(200);
  });

  it.each(['properties.', 'property', ''])('refuses %j', (name) => {
    expect(read([name]).refusal?.details?.['group_by']).toContain('must be source');
  });
});

describe('the usage of a line', () => {
  const grouping = {
    hasSource: true,
    hasFeature: false,
    properties: ['region'],
    featureId: 'feature_1',
  };
  const part = (texts: readonly string[]): UsagePart => {
    const window = { startMs: 0, endMs: 1 };
    const figures = { window, value: new Decimal(4), eventCount: 4, unreadableCount: 0 };
    return { source: '', group: '', texts, windows: [figures] };
  };
  const slices = () =>
    new Map<GroupingSlicing, readonly UsagePart[]>([
      ['whole', [part([])]],
      ['by-source', [part([])]],
      ['by-properties', [part(['eu'])]],
    ]);

  it('has the groups that were read', () => {
    const { usage, byGrouping } = usageOfGrouping(slices(), grouping);
    expect(usage.toFixed()).toBe('4');
    expect(byGrouping.map(({ groupedBy }) => groupedBy)).toEqual([{ 'properties.region': 'eu' }]);
  });

  it.each(['whole', 'by-source', 'by-properties'] as const)(
    'fails when the slicing %s was not read, in place of showing no usage',
    (name) => {
      const lost = slices();
      lost.delete(name);
      expect(() => usageOfGrouping(lost, grouping)).toThrow(AssertionFailed);
    },
  );

  it('fails when a group lacks the text of its property', () => {
    const lost = slices().set('by-properties', [part([])]);
    expect(() => usageOfGrouping(lost, grouping)).toThrow(AssertionFailed);
  });
});
