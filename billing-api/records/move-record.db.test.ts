import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createId } from '../../runtime/ids.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { ADDON_ASSOCIATIONS } from '../declarations/subscriptions/addon-association.resource.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { toldOfSubscription } from '../subscriptions/subscription-events.js';
import { makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { testOccasion } from '../testing/test-occasion.js';
import type { Database } from '../../sql/pool.js';
import { changeRecord, removeRecord, type ChangeTarget } from './change-record.js';
import { moveRecord } from './move-record.js';
import { writeUnit, type Unit } from './unit.js';

const NOW = Date.parse('2026-11-20T00:00:00.000Z');

type World = { readonly api: BillingUnderTest; readonly database: Database };

function inUnit<T>({ api, database }: World, work: (unit: Unit) => Promise<T>) {
  const dependencies = { database, clock: { now: () => NOW }, createId };
  return writeUnit(dependencies, testOccasion(api), work);
}

const cancel = (world: World, target: ChangeTarget) =>
  inUnit(world, (unit) =>
    moveRecord(unit, SUBSCRIPTIONS, {
      target,
      lifecycle: SUBSCRIPTION,
      move: 'cancel',
      to: 'cancelled',
      patch: () => ({ cancelled_at: unit.now }),
      told: (after) => toldOfSubscription(unit, after),
    }),
  );

describe('a move of a record', () => {
  test('writes the state, raises the version that callers see, and is audited and announced once', async ({
    api,
    database: { database },
  }) => {
    const { id, customerId } = await makeSubscription(api);
    expect(await cancel({ api, database }, { id })).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: NOW,
      version: 2,
    });
    const { items } = await api.make('/v1/audit/search', { entity_id: id, action: 'cancel' });
    expect(items).toMatchObject([
      {
        entity_type: 'subscription',
        before: { subscription_status: 'active' },
        after: { subscription_status: 'cancelled', version: 2 },
      },
    ]);
    const { body } = await api.call('GET', '/v1/webhooks/events');
    const told = body.items.filter((event: { entity_id: string }) => event.entity_id === id);
    const names = told.map((event: { event_name: string }) => event.event_name);
    expect(names).toEqual(['subscription.created', 'subscription.cancelled']);
    expect(told.slice(1)).toMatchObject([
      {
        entity_id: id,
        payload: {
          event_type: 'subscription.cancelled',
          subscription: { id, subscription_status: 'cancelled', customer: { id: customerId } },
        },
      },
    ]);
  });

  test('that the state does not allow is refused with the states that do, and leaves nothing', async ({
    api,
    database: { database },
  }) => {
    const world = { api, database };
    const { id } = await makeSubscription(api);
    const resumed = await inUnit(world, (unit) =>
      moveRecord(unit, SUBSCRIPTIONS, {
        target: { id },
        lifecycle: SUBSCRIPTION,
        move: 'resume',
        to: 'active',
        told: (after) => toldOfSubscription(unit, after),
      }),
    );
    expect(resumed).toMatchObject({
      code: 'invalid_operation',
      message: 'the subscription is active; only one that is paused can be resumed',
    });
    expect(await cancel(world, { id: 'subs_0' })).toMatchObject({ code: 'not_found' });
    const stale = { id, isExpected: (version: number) => version === 7 };
    expect(await cancel(world, stale)).toMatchObject({ code: 'version_conflict' });
    const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
    expect(body).toMatchObject({ subscription_status: 'active', version: 1 });
  });

  test('is made once when twenty come at once', async ({ api, database: { database } }) => {
    const { id } = await makeSubscription(api);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => cancel({ api, database }, { id })),
    );
    const refusals = outcomes.filter((outcome) => 'code' in outcome);
    expect(refusals).toHaveLength(19);
    expect(new Set(refusals.map(({ message }) => message))).toEqual(
      new Set([
        'the subscription is cancelled; only one that is draft, incomplete, trialing, active or paused can be cancelled',
      ]),
    );
  });
});

test('a change touches only what the state of the record allows', async ({
  api,
  database: { database },
}) => {
  const world = { api, database };
  const { id } = await makeSubscription(api);
  await cancel(world, { id });
  const change = (patch: Partial<Pick<SubscriptionRow, 'metadata' | 'lookup_key'>>) =>
    inUnit(world, (unit) =>
      changeRecord(unit, SUBSCRIPTIONS, { target: { id }, change: () => patch }),
    );
  expect(await change({ lookup_key: 'new' })).toMatchObject({
    code: 'invalid_operation',
    message:
      'the subscription is cancelled, so lookup_key cannot be changed; only metadata can be changed',
  });
  expect(await change({ metadata: { closed: 'yes' } })).toMatchObject({ version: 3 });
});

test('a record without a way of removal cannot be removed, which is a bug', async ({
  api,
  database: { database },
}) => {
  const { id } = await makeSubscription(api);
  const removing = inUnit({ api, database }, (unit) =>
    removeRecord(unit, SUBSCRIPTIONS, { id, guards: [] }),
  );
  await expect(removing).rejects.toThrow('how a subscription is removed is missing');
});

test('a part that is audited with its whole leaves no entry of its own', async ({
  api,
  database: { database },
}) => {
  const { id } = await makeSubscription(api);
  const changed = await inUnit({ api, database }, async (unit) => {
    const parts = { ...SUBSCRIPTIONS, isAudited: false };
    await changeRecord(unit, parts, { target: { id }, change: () => ({ lookup_key: 'part' }) });
    return [...unit.changes];
  });
  expect(changed).toEqual([]);
});

/** The texts that the CHECK of a column allows. */
async function checkedTexts(database: Database, table: string, column: string) {
  const row = z.object({ definition: z.string() });
  const checks = await database.slonik.any(sql.type(row)`
    SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE conrelid = ${table}::regclass AND contype = 'c'`);
  const found = checks.filter(({ definition }) =>
    definition.startsWith(`CHECK ((${column} = ANY `),
  );
  return found.map(({ definition }) =>
    [...definition.matchAll(/'([^']*)'::text/g)].map(([, text = '']) => text).sort(),
  );
}

test('the CHECK of a column with a state allows the states of its life cycle', async ({
  database: { database },
}) => {
  for (const { table, lifecycle } of [SUBSCRIPTIONS, ADDON_ASSOCIATIONS]) {
    if (lifecycle === null) throw new Error(`${table} has no life cycle`);
    const { column, of } = lifecycle;
    expect(await checkedTexts(database, table, column)).toEqual([[...of.states].sort()]);
  }
});
