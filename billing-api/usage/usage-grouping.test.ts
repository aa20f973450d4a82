import { describe, expect, it } from 'vitest';
import { readGroups } from './usage-grouping.js';
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
