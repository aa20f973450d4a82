import { describe, expect } from 'vitest';
import { test } from '../../../load-tests/harness/fixtures.js';
import { bootstrap } from '../../../sql/bootstrap.js';
import { isRefusal } from '../../records/refusal.js';
import { writeUnit } from '../../records/unit.js';
import { FIXED_PRICE } from '../../testing/invoice-samples.js';
import { testOccasion } from '../../testing/test-occasion.js';
import { NO_COMMITMENT, type NewLine } from './new-line.js';
import { storeLines } from './store-lines.js';

const NOW = Date.UTC(2026, 10, 20);
const SUBSCRIPTION = { entityType: 'SUBSCRIPTION', entityId: 'subs_1' } as const;
const LINE: NewLine = {
  entityType: 'subscription',
  addon: null,
  priceId: null,
  price: {
    kind: 'new',
    price: {
      terms: { ...FIXED_PRICE, ...SUBSCRIPTION },
      passthrough: {
        display_name: null,
        description: null,
        lookup_key: null,
        parent_price_id: null,
        group_id: null,
        metadata: {},
      },
    },
  },
  endMs: null,
  quantity: null,
  displayName: null,
  metadata: {},
  commitment: NO_COMMITMENT,
  timeBuckets: [],
};

describe('the lines of a subscription', () => {
  test('cannot bring more live prices than an owner may have', async ({ database }) => {
    const { environment, userId } = await bootstrap(database.url, {
      apiKey: `sk_${'a'.repeat(40)}`,
    });
    let ids = 0;
    const dependencies = {
      database: database.database,
      clock: { now: () => NOW },
      createId: (prefix: string) => `${prefix}_${(ids += 1)}`,
    };
    const owner = {
      subscriptionId: SUBSCRIPTION.entityId,
      customerId: 'cust_1',
      startMs: NOW,
      plan: { id: 'plan_1', name: 'Plan' },
      isRunning: false,
    };
    const lines = Array.from({ length: 5_001 }, () => LINE);
    const answer = await writeUnit(dependencies, testOccasion({ environment, userId }), (unit) =>
      storeLines(unit, owner, { lines, meters: new Map() }),
    );
    expect(isRefusal(answer) && answer.details).toEqual({
      line_items: 'a plan, an addon or a subscription can have at most 5000 live prices',
    });
  });
});
