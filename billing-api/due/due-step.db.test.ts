import { expect } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { createId } from '../../runtime/ids.js';
import { bootstrap } from '../../sql/bootstrap.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { createRecord } from '../records/create-record.js';
import { findPublished } from '../records/find-record.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { Refused } from '../records/refusal.js';
import { mustRead, type Unit } from '../records/unit.js';
import { dueStep, oneByOne, takeStep } from './due-step.js';

const KEYS = ['first', 'second', 'second', 'third'] as const;

/** Stores a plan for each key that is due; the second of two with one key is refused. */
const PLANS_DUE = dueStep({
  job: 'store-plan',
  find: (_, { only, limit }) => {
    const ids = KEYS.map((_key, index) => String(index));
    return Promise.resolve(ids.filter((id) => only === null || id === only).slice(0, limit));
  },
  idOf: (id) => id,
  settle: oneByOne(async (unit: Unit, id: string) => {
    const lookup_key = KEYS[Number(id)] ?? null;
    const plan = { name: `Plan ${id}`, description: null, display_order: null };
    await createRecord(unit, PLANS, { ...plan, lookup_key });
  }),
});

test('one that is refused leaves nothing of those taken with it, and alone it is set aside while the others go on', async ({
  database: { database, url },
}) => {
  const { environment } = await bootstrap(url, { apiKey: `sk_${'a'.repeat(40)}` });
  const needs = { database, clock: { now: () => Date.UTC(2026, 10, 20) }, createId };
  const actor = { kind: 'job', job: 'store-plans', runId: 'run' } as const;
  const occasion: Occasion<JobActor> = { environment, actor };
  const take = (only: string | null) =>
    takeStep(needs, occasion, { step: PLANS_DUE, due: { limit: 10, only } });
  const stored = async () => {
    const plans = await mustRead(needs, occasion, (unit) => findPublished(unit, PLANS, []));
    return plans.map(({ name }) => name).sort();
  };

  const together = await take(null);
  expect(together).toEqual({ seen: ['0', '1', '2', '3'], error: expect.any(Refused) as unknown });
  expect(await stored()).toEqual([]);

  const aside: unknown[] = [];
  for (const id of together.seen) {
    const { error } = await take(id);
    if (error !== null) aside.push([id, error]);
  }
  expect(aside).toMatchObject([['2', { refusal: { details: { lookup_key: 'is taken' } } }]]);
  expect(await stored()).toEqual(['Plan 0', 'Plan 1', 'Plan 3']);
});
