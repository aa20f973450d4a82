import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { mustGet } from '../../runtime/failure.js';
import { bootstrap } from '../../sql/bootstrap.js';
import { PLANS, type PlanRow } from '../declarations/catalog/plan.resource.js';
import { testOccasion } from '../testing/test-occasion.js';
import { updateRecord } from './change-record.js';
import { COMPUTATIONS_MAX, computeThenStore, type ComputeThenStore } from './compute-then-store.js';
import { createRecord } from './create-record.js';
import { findRecords, lockRecord } from './find-record.js';
import { isRefusal, Refusal, Refused } from './refusal.js';
import { mustRead, mustWrite, type WriteDependencies } from './unit.js';

/** A plan whose display_order counts, and one more than it as something that is computed of it. */
type Counting = ComputeThenStore<PlanRow, PlanRow, PlanRow>;

type World = {
  readonly counting: Counting;
  readonly run: (form?: Partial<Counting>) => Promise<PlanRow | Refusal>;
  /** The plan as it is stored. */
  readonly plan: () => Promise<PlanRow>;
  readonly auditEntries: () => Promise<number>;
};

const test = base.extend<{ world: World }>({
  world: async ({ database: { database } }, use) => {
    const { environment, userId } = await bootstrap(database.url, {
      apiKey: `sk_${'a'.repeat(40)}`,
    });
    const occasion = testOccasion({ environment, userId });
    let ids = 0;
    const createId = (prefix: string): string => `${prefix}_${(ids += 1)}`;
    const dependencies: WriteDependencies = { database, clock: { now: () => 0 }, createId };
    const made = await mustWrite(dependencies, occasion, (unit) =>
      createRecord(unit, PLANS, {
        name: 'Pro',
        description: null,
        lookup_key: null,
        display_order: 0,
      }),
    );
    const plan = async () => {
      const found = await mustRead(dependencies, occasion, (unit) =>
        findRecords(unit, PLANS, [made.id]),
      );
      return mustGet(found, made.id, 'the plan');
    };
    const counting: Counting = {
      what: 'the count',
      compute: plan,
      lockAndCompare: async (unit, computed) => {
        const row = await lockRecord(unit, PLANS, made.id);
        return row?.version === computed.version ? row : null;
      },
      store: (unit, { display_order: count }, row) =>
        updateRecord(unit, PLANS, { row, patch: { display_order: Number(count) + 1 } }),
    };
    await use({
      counting,
      run: (form = {}) => computeThenStore(dependencies, occasion, { ...counting, ...form }),
      plan,
      auditEntries: () =>
        mustRead(dependencies, occasion, ({ tx }) =>
          tx.oneFirst(
            sql.type(z.object({ count: z.number() }))`
              SELECT count(*)::integer AS count FROM audit_entries WHERE entity_id = ${made.id}`,
          ),
        ),
    });
  },
});

describe('what is computed outside of the unit that stores it', () => {
  test('is computed again by the later of two that race, from what the earlier one left', async ({
    world: { counting, run, plan, auditEntries },
  }) => {
    let computations = 0;
    let haveBothRead: () => void = () => undefined;
    const bothRead = new Promise<void>((resolve) => {
      haveBothRead = resolve;
    });
    const compute = async () => {
      const read = await counting.compute();
      computations += 1;
      if (computations === 2) haveBothRead();
      await bothRead;
      return read;
    };
    const stored = await Promise.all([run({ compute }), run({ compute })]);
    expect(stored.filter(isRefusal)).toEqual([]);
    expect((await plan()).display_order).toBe(2);
    expect(computations).toBe(3);
    // The creation and two changes: nothing remains of the unit that found the plan changed.
    expect(await auditEntries()).toBe(3);
  });

  test('is stored exactly as often as callers are told so, however many race', async ({
    world: { run, plan },
  }) => {
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => run()));
    const refused = outcomes.filter(isRefusal);
    expect((await plan()).display_order).toBe(outcomes.length - refused.length);
    expect((await plan()).display_order).toBeGreaterThanOrEqual(COMPUTATIONS_MAX);
    for (const { code } of refused) expect(code).toBe('version_conflict');
  });

  test('is refused, and not stored, when others change its records each time', async ({
    world: { counting, run, plan },
  }) => {
    let computations = 0;
    const compute = async () => {
      const read = await counting.compute();
      computations += 1;
      await run();
      return read;
    };
    expect(await run({ compute })).toEqual(
      new Refusal(
        'version_conflict',
        'what the count is computed from was changed while it was computed, 3 times; try again',
      ),
    );
    expect(computations).toBe(COMPUTATIONS_MAX);
    expect((await plan()).display_order).toBe(COMPUTATIONS_MAX);
  });

  test('is refused at once by the refusal of any of its steps, which undoes what was written', async ({
    world: { counting, run, plan },
  }) => {
    let computations = 0;
    const compute = () => {
      computations += 1;
      return counting.compute();
    };
    const refusal = new Refusal('invalid_operation', 'not now');
    const refuse = () => Promise.reject(new Refused(refusal));
    const afterWriting: Counting['store'] = async (unit, computed, held) => {
      await counting.store(unit, computed, held);
      throw new Refused(refusal);
    };
    expect(await run({ compute: () => Promise.resolve(refusal) })).toBe(refusal);
    expect(await run({ compute, lockAndCompare: refuse })).toBe(refusal);
    expect(await run({ compute, store: afterWriting })).toBe(refusal);
    expect(computations).toBe(2);
    expect((await plan()).display_order).toBe(0);
  });
});
