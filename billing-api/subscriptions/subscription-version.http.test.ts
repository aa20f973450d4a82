import { expect } from 'vitest';
import { createId } from '../../runtime/ids.js';
import { lockForChange, updateRecord } from '../records/change-record.js';
import { writeUnit } from '../records/unit.js';
import { makeSubscription, test } from '../testing/billing-test.js';
import { testOccasion } from '../testing/test-occasion.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';

test('every change of a subscription raises its version and its ETag, and refuses an older one', async ({
  api,
  clock,
  database: { database },
}) => {
  const { id } = await makeSubscription(api);
  const renamed = (lookup_key: string) =>
    writeUnit({ database, clock, createId }, testOccasion(api), async (unit) => {
      const target = { id, isExpected: (version: number) => version === 1 };
      const row = await lockForChange(unit, SUBSCRIPTIONS, target);
      return updateRecord(unit, SUBSCRIPTIONS, { row, patch: { lookup_key } });
    });
  expect(await renamed('one')).toMatchObject({ lookup_key: 'one', version: 2 });
  const { body, headers } = await api.call('GET', `/v1/subscriptions/${id}`);
  expect([body.version, headers.get('etag')]).toEqual([2, '"2"']);
  expect(await renamed('two')).toMatchObject({ code: 'version_conflict' });
});
