import { describe, expect } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { bootstrap } from '../../sql/bootstrap.js';
import type { Database } from '../../sql/pool.js';
import { FEATURES } from '../declarations/catalog/feature.resource.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { changeRecord, notReferenced, removeRecord } from './change-record.js';
import { createRecord, createRecords } from './create-record.js';
import { findRecord } from './find-record.js';
import { answerOf, isRefusal } from './refusal.js';
import { recordToDto, rowToJson, type NewRecord } from './resource.js';
import { writeUnit, type Unit } from './unit.js';
import { testOccasion } from '../testing/test-occasion.js';

const NOW = Date.UTC(2026, 10, 20);

async function runUnit<T>(database: Database, work: (unit: Unit) => Promise<T>) {
  const { environment, userId } = await bootstrap(database.url, { apiKey: `sk_${'a'.repeat(40)}` });
  let ids = 0;
  const createId = (prefix: string): string => `${prefix}_${String((ids += 1)).padStart(3, '0')}`;
  const dependencies = { database, clock: { now: () => NOW }, createId };
  return writeUnit(dependencies, testOccasion({ environment, userId }), work);
}

/** The result of a unit that is stored. */
async function inUnit<T>(database: Database, work: (unit: Unit) => Promise<T>): Promise<T> {
  const result = await runUnit(database, async (unit) => ({ done: await work(unit) }));
  if (isRefusal(result)) throw new Error(result.message);
  return result.done;
}

/** The refusal that ends a unit. */
async function inUnitRefused<T>(database: Database, work: (unit: Unit) => Promise<T>) {
  const result = await runUnit(database, work);
  if (!isRefusal(result)) throw new Error('was not refused');
  return result;
}

const plan = (name: string, lookupKey: string | null = null) => ({
  name,
  description: null,
  lookup_key: lookupKey,
  display_order: null,
});

const feature = (meterId: string | null, lookupKey: string) => ({
  name: 'F',
  description: null,
  lookup_key: lookupKey,
  type: 'metered' as const,
  meter_id: meterId,
  group_id: null,
  unit_singular: null,
  unit_plural: null,
  reporting_unit: null,
  alert_settings: null,
});

type NewPlan = NewRecord<(typeof PLANS)['columns']>;

describe('a new record', () => {
  test('has the defaults of its table and answers all but its hidden columns', async ({
    database: { database },
  }) => {
    const row = await inUnit(database, (unit) => createRecord(unit, PLANS, plan('Pro')));
    expect([row.version, row.price_sequence, row.metadata]).toEqual([1, 0, {}]);
    const dto = recordToDto(PLANS, row);
    expect(dto).toMatchObject({
      id: 'plan_001',
      name: 'Pro',
      created_at: '2026-11-20T00:00:00.000Z',
    });
    expect(dto).not.toHaveProperty('version');
    expect(dto).not.toHaveProperty('price_sequence');
  });

  test('is refused as a bug beside others that name other columns', async ({
    database: { database },
  }) => {
    // As many names, but not the same: one of the values would be lost without a word.
    const items = [
      { ...plan('A'), version: 2 },
      { ...plan('B'), price_sequence: 7 },
    ];
    const storing = inUnit(database, (unit) => createRecords(unit, PLANS, { items, isBulk: true }));
    await expect(storing).rejects.toThrow('rows of plans that name different columns');
  });

  test('is one of many, stored in one order, and keeps it', async ({ database: { database } }) => {
    const items = ['A', 'B', 'C'].map((name) => plan(name, name));
    const rows = await inUnit(database, (unit) =>
      createRecords(unit, PLANS, { items, isBulk: true }),
    );
    expect(rows.map(({ id, name }) => [id, name])).toEqual([
      ['plan_001', 'A'],
      ['plan_002', 'B'],
      ['plan_003', 'C'],
    ]);
  });

  test('is refused by the name of its unique member and the index of its item', async ({
    database: { database },
  }) => {
    const items = [plan('A', 'a'), plan('B', null), plan('C', 'a')];
    const refusal = await inUnitRefused(database, (unit) =>
      createRecords(unit, PLANS, { items, isBulk: true }),
    );
    expect(refusal).toMatchObject({
      code: 'already_exists',
      details: { 'items.2.lookup_key': 'is taken' },
    });
  });

  test('is refused for a reference to a record that does not exist', async ({
    database: { database },
  }) => {
    const refusal = await inUnitRefused(database, (unit) =>
      createRecord(unit, FEATURES, feature('meter_x', 'f')),
    );
    expect([refusal.code, refusal.message]).toEqual(['not_found', 'meter meter_x does not exist']);
  });

  test('names every column, of its type, and no other', () => {
    const { name, ...nameless } = plan('Pro');
    // @ts-expect-error: a column without DEFAULT is missing.
    const incomplete: NewPlan = nameless;
    // @ts-expect-error: there is no such column.
    const misspelt: NewPlan = { ...plan('Pro'), nmae: 'Pro' };
    // @ts-expect-error: the column holds numbers.
    const mistyped: NewPlan = { ...plan('Pro'), display_order: '1' };
    expect([name, incomplete, misspelt, mistyped]).toHaveLength(4);
    expect(() => rowToJson(PLANS, { nmae: 'Pro' })).toThrow('plans has no column nmae');
    expect(rowToJson(PLANS, { name: 'Pro', description: undefined })).toEqual({ name: 'Pro' });
  });
});

describe('a stored record', () => {
  test('changes what the patch names and raises its version', async ({
    database: { database },
  }) => {
    const rows = await inUnit(database, async (unit) => {
      const row = await createRecord(unit, PLANS, { ...plan('Pro', 'pro'), description: 'Old' });
      const target = { id: row.id, isExpected: (version: number) => version === 1 };
      const change = () => ({ name: 'Pro 2', description: null });
      const first = await changeRecord(unit, PLANS, { target, change });
      const second = await answerOf(() => changeRecord(unit, PLANS, { target, change }));
      return [first, second, await findRecord(unit, PLANS, row.id)];
    });
    expect(rows).toMatchObject([
      { name: 'Pro 2', description: null, lookup_key: 'pro', version: 2 },
      { code: 'version_conflict' },
      { name: 'Pro 2', version: 2 },
    ]);
  });

  test('is removed once, unless a guard names what refers to it', async ({
    database: { database },
  }) => {
    const guards = [notReferenced({ table: 'prices', column: 'entity_id' }, 'has prices')];
    const refused = [() => Promise.resolve('is needed')];
    const results = await inUnit(database, async (unit) => {
      const row = await createRecord(unit, PLANS, plan('Pro'));
      const remove = (given: typeof guards) =>
        answerOf(() => removeRecord(unit, PLANS, { id: row.id, guards: given }));
      return [await remove(refused), await remove(guards), await remove(guards)];
    });
    expect(results).toMatchObject([
      { code: 'invalid_operation', message: 'the plan is needed' },
      { status: 'archived' },
      {
        code: 'invalid_operation',
        message: 'the plan is archived and can no longer be changed or used; make a new one',
      },
    ]);
  });
});
