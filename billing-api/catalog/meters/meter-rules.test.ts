import { describe, expect, it } from 'vitest';
import { AGGREGATION_TYPES, type AggregationType } from '../../../contract/aggregation.js';
import { isSameFilters, newMeter } from './meter-rules.js';
import type { CreateMeterBody } from '../../declarations/catalog/meter.resource.js';
import { isRefusal } from '../../records/refusal.js';

type Aggregation = CreateMeterBody['aggregation'];

function requestWith(
  aggregation: Aggregation,
  members: Partial<CreateMeterBody> = {},
): CreateMeterBody {
  return { name: 'Calls', event_name: 'call', aggregation, ...members };
}

/** Members that the rules complain about. */
function problemsOf(aggregation: Aggregation, members: Partial<CreateMeterBody> = {}): string[] {
  const columns = newMeter(requestWith(aggregation, members));
  return isRefusal(columns) ? Object.keys(columns.details ?? {}) : [];
}

function columnOf(aggregation: Aggregation, name: string): unknown {
  const columns = newMeter(requestWith(aggregation));
  return isRefusal(columns)
    ? columns.details
    : new Map<string, unknown>(Object.entries(columns)).get(name);
}

const WITH_EXPRESSION: readonly AggregationType[] = ['SUM', 'AVG', 'LATEST', 'MAX', 'MIN'];
const WITH_MULTIPLIER: readonly AggregationType[] = [...WITH_EXPRESSION, 'SUM_WITH_MULTIPLIER'];
const WITH_BUCKETS: readonly AggregationType[] = ['COUNT', 'SUM', 'MAX'];

/** What a type needs beside its field. */
function restOf(type: AggregationType): Aggregation {
  return type === 'SUM_WITH_MULTIPLIER' ? { type, multiplier: '2' } : { type };
}

/** The least that a type needs. */
function leastOf(type: AggregationType): Aggregation {
  return type === 'COUNT' ? { type } : { ...restOf(type), field: 'x' };
}

describe.each(AGGREGATION_TYPES)('a meter of type %s', (type) => {
  const least = leastOf(type);

  it('is taken with what it needs, and says so', () => {
    expect(problemsOf(least)).toEqual([]);
    expect(columnOf(least, 'aggregation_type')).toBe(type);
    expect(columnOf(least, 'aggregation_field')).toBe(type === 'COUNT' ? null : 'x');
  });

  it('needs a field, unless it counts', () => {
    expect(problemsOf(restOf(type))).toEqual(type === 'COUNT' ? [] : ['aggregation.field']);
  });

  it('takes an expression in place of a field only where docs/domain.md 3.2 allows it', () => {
    const isFine = type === 'COUNT' || WITH_EXPRESSION.includes(type);
    const problems = problemsOf({ ...restOf(type), expression: 'a * 2' });
    expect(problems).toEqual(isFine ? [] : ['aggregation.expression']);
  });

  it('takes never both, unless it counts and uses neither', () => {
    const both = { ...least, field: 'x', expression: 'a' };
    expect(problemsOf(both)).toEqual(type === 'COUNT' ? [] : ['aggregation.expression']);
  });

  it('takes a multiplier only where docs/domain.md 3.2 allows it', () => {
    const problems = problemsOf({ ...least, multiplier: '2' });
    expect(problems).toEqual(WITH_MULTIPLIER.includes(type) ? [] : ['aggregation.multiplier']);
  });

  it('takes buckets only as COUNT, SUM and MAX', () => {
    const problems = problemsOf({ ...least, bucket_size: 'HOUR' });
    expect(problems).toEqual(WITH_BUCKETS.includes(type) ? [] : ['aggregation.bucket_size']);
  });
});

describe('the pricing of buckets (8.5)', () => {
  it.each([
    ['COUNT', undefined, 'period'],
    ['COUNT', 'bucket', 'bucket'],
    ['SUM', undefined, 'bucket'],
    ['SUM', 'period', 'period'],
    ['MAX', undefined, 'bucket'],
    ['MAX', 'bucket', 'bucket'],
  ] as const)('of %s is %s as it is asked for: %s', (type, bucket_pricing, expected) => {
    const value = type === 'COUNT' ? {} : { field: 'x' };
    const asked = bucket_pricing === undefined ? {} : { bucket_pricing };
    const aggregation = { type, ...value, bucket_size: 'MINUTE', ...asked } as const;
    expect(columnOf(aggregation, 'bucket_pricing')).toBe(expected);
  });

  it('needs buckets, and no sum over the period of a MAX', () => {
    const member = ['aggregation.bucket_pricing'];
    expect(problemsOf({ type: 'COUNT', bucket_pricing: 'period' })).toEqual(member);
    const max = { type: 'MAX', field: 'x', bucket_size: 'DAY', bucket_pricing: 'period' } as const;
    expect(problemsOf(max)).toEqual(member);
  });
});

describe('a multiplier', () => {
  it.each(['0.000000000000000001', '1', '1000000000000'])('may be %s', (multiplier) => {
    expect(columnOf({ type: 'SUM', field: 'x', multiplier }, 'aggregation_multiplier')).toBe(
      multiplier,
    );
  });

  it.each([
    '0',
    '0.0',
    '-0.000000000000000001',
    '-1',
    '1000000000001',
    '1e3',
    '0.0000000000000000001',
  ])('may not be %s', (multiplier) => {
    const sum = { type: 'SUM', field: 'x', multiplier } as const;
    expect(problemsOf(sum)).toEqual(['aggregation.multiplier']);
  });

  it('is required for SUM_WITH_MULTIPLIER alone', () => {
    for (const type of WITH_MULTIPLIER) {
      const isRequired = type === 'SUM_WITH_MULTIPLIER';
      expect(problemsOf({ type, field: 'x' })).toEqual(
        isRequired ? ['aggregation.multiplier'] : [],
      );
    }
  });

  it('is kept without the zeros behind it', () => {
    const sum = { type: 'SUM', field: 'x', multiplier: '2.50' } as const;
    expect(columnOf(sum, 'aggregation_multiplier')).toBe('2.5');
  });
});

describe('an expression', () => {
  it.each(['a', 'properties["a b"] / 2', 'a > 1 ? max(a, b) : -b % 3', '!(a && b) || c'])(
    'may be %s',
    (expression) => {
      expect(problemsOf({ type: 'SUM', expression })).toEqual([]);
      expect(columnOf({ type: 'SUM', expression }, 'aggregation_expression')).toBe(expression);
    },
  );

  it.each(['', ' ', 'a +', 'a b', 'a = 1', 'while(true){}', 'fetch(a)', 'a.b', 'this', '[a]'])(
    'may not be "%s"',
    (expression) => {
      expect(problemsOf({ type: 'MAX', expression })).toEqual(['aggregation.expression']);
    },
  );

  it('is answered with what is wrong with it', () => {
    const columns = newMeter(requestWith({ type: 'SUM', expression: 'fetch(a)' }));
    expect(columns).toMatchObject({
      code: 'validation_error',
      details: { 'aggregation.expression': expect.stringContaining('does not compile') as string },
    });
  });

  it('may have 1000 characters and not one more', () => {
    const expression = 'a'.padEnd(1000);
    expect(problemsOf({ type: 'SUM', expression })).toEqual([]);
    expect(problemsOf({ type: 'SUM', expression: `${expression} ` })).toEqual([
      'aggregation.expression',
    ]);
  });

  it('is not looked at by a meter that counts', () => {
    expect(problemsOf({ type: 'COUNT', expression: 'a +' })).toEqual([]);
  });
});

describe('buckets', () => {
  it('do not go with a meter that never resets', () => {
    const buckets = { type: 'SUM', field: 'x', bucket_size: 'DAY' } as const;
    expect(problemsOf(buckets, { reset_usage: 'BILLING_PERIOD' })).toEqual([]);
    expect(problemsOf(buckets, { reset_usage: 'NEVER' })).toEqual(['aggregation.bucket_size']);
    const plain = { type: 'SUM', field: 'x' } as const;
    expect(problemsOf(plain, { reset_usage: 'NEVER' })).toEqual([]);
  });

  it('are what group_by needs', () => {
    const grouped = { type: 'COUNT', group_by: 'region' } as const;
    expect(problemsOf(grouped)).toEqual(['aggregation.group_by']);
    expect(problemsOf({ ...grouped, bucket_size: 'MINUTE' })).toEqual([]);
    expect(columnOf({ ...grouped, bucket_size: 'MINUTE' }, 'aggregation_group_by')).toBe('region');
  });
});

describe('filters', () => {
  const eu = { key: 'region', values: ['eu', 'us'] };
  const gold = { key: 'plan', values: ['gold'] };

  it('are the same in any order, and with a value twice', () => {
    expect(isSameFilters([eu, gold], [gold, { key: 'region', values: ['us', 'eu', 'us'] }])).toBe(
      true,
    );
    expect(isSameFilters([], [])).toBe(true);
  });

  it('differ by a key or a value more, less or other', () => {
    expect(isSameFilters([eu], [])).toBe(false);
    expect(isSameFilters([eu], [eu, gold])).toBe(false);
    expect(isSameFilters([eu], [gold])).toBe(false);
    expect(isSameFilters([eu], [{ key: 'region', values: ['eu'] }])).toBe(false);
    expect(isSameFilters([eu], [{ key: 'region', values: ['eu', 'ap'] }])).toBe(false);
    expect(isSameFilters([eu], [{ key: 'Region', values: ['eu', 'us'] }])).toBe(false);
  });

  it('do not repeat a key', () => {
    const columns = newMeter(requestWith({ type: 'COUNT' }, { filters: [eu, gold, eu] }));
    expect(columns).toMatchObject({ details: { 'filters.2.key': 'must not be given twice' } });
  });
});
