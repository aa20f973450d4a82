import { setTimeout } from 'node:timers/promises';
import { sql } from 'slonik';
import { billingRunner } from '../../../billing-api/testing/bill-environment.js';
import {
  API_KEY,
  withBillingApi,
  type BillingUnderTest,
} from '../../../billing-api/testing/billing-harness.js';
import { noRows } from '../../../sql/columns.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { withFreshDatabase } from '../../harness/fixtures.js';
import { ownerOf } from '../../harness/owner.js';
import type { Life, ModelAddon, ModelPlan, Payer } from './model/life.js';
import { turnClock } from './model/live.js';
import { ADDONS, PLANS, type Fineness, type Prices } from './walk-catalog.js';
import type { ModelWorld } from './model/invoices.js';

// Answers are compared with the model member by member.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

/** What world is walked in. */
export type WorldKind = {
  readonly fineness: Fineness;
  /** Whether a walk lasts for years, and not for months: few subscriptions, in long steps. */
  readonly isLong: boolean;
};

/** An environment with plans and a test clock, and the model of what is in it. */
export type WalkWorld = {
  readonly api: Pick<BillingUnderTest, 'call' | 'make' | 'url'>;
  readonly model: ModelWorld;
  readonly fineness: Fineness;
  /** How much longer than elsewhere the times between two events are. */
  readonly pace: number;
  readonly plans: readonly ModelPlan[];
  readonly addons: readonly ModelAddon[];
  /** Ids of subscriptions and of line items of the product, by those of the model. */
  readonly ids: Map<string, string>;
  readonly clockId: string;
  readonly runDue: (now: number) => Promise<void>;
  /** What was done, so that a failure can be read. */
  readonly log: string[];
};

export const START = Date.parse('2027-11-20T00:00:00.000Z');

type Priced = 'plan' | 'addon';

async function makePriced(
  api: BillingUnderTest,
  kind: Priced,
  all: readonly Prices[],
): Promise<ModelPlan[]> {
  const made: ModelPlan[] = [];
  for (const prices of all) {
    const name = `${kind} ${made.length}`;
    const lookup = kind === 'addon' ? { lookup_key: name.replace(' ', '-') } : {};
    const { id } = await api.make(`/v1/${kind}s`, { name, ...lookup });
    for (const period of ['MONTHLY', 'WEEKLY']) {
      for (const [amount, cadence] of prices) {
        const price = { amount, invoice_cadence: cadence, billing_period: period };
        const owner = { entity_type: kind.toUpperCase(), entity_id: id, currency: 'usd' };
        const start = { start_date: '2026-01-01T00:00:00Z' };
        await api.make('/v1/prices', { ...owner, ...price, ...start });
      }
    }
    made.push({ id, prices: prices.map(([amount, cadence]) => ({ amount, cadence })) });
  }
  return made;
}

async function makePlans(api: BillingUnderTest, fineness: Fineness): Promise<ModelPlan[]> {
  await api.make('/v1/coupons', {
    name: 'Third',
    coupon_code: 'THIRD',
    type: 'percentage',
    percentage_off: '30',
    cadence: 'forever',
  });
  return makePriced(api, 'plan', PLANS[fineness]);
}

/** Opens an environment of its own, in a database of its own, and closes it after the work. */
export async function withWalkWorld(
  clickhouse: ClickHouse,
  { fineness, isLong }: WorldKind,
  work: (world: WalkWorld) => Promise<void>,
): Promise<void> {
  await withFreshDatabase(async ({ database }) => {
    await withBillingApi({ database, clickhouse }, async (api) => {
      const { environment } = api;
      await ownerOf(database).query(sql.type(noRows)`
        UPDATE environments SET type = 'development' WHERE id = ${environment.environmentId}`);
      const clock = await api.make('/v1/test_clocks', { now: new Date(START).toISOString() });
      const runner = billingRunner({ database, clickHouse: clickhouse, environment });
      const plans = await makePlans(api, fineness);
      const addons = await makePriced(api, 'addon', ADDONS[fineness]);
      await work({
        api,
        fineness,
        plans,
        addons,
        clockId: clock.id as string,
        log: [],
        ids: new Map(),
        pace: isLong ? 6 : 1,
        model: { now: START, lives: new Map(), livesMax: isLong ? 6 : 12 },
        runDue: async (now) => void (await runner.runDue(now)),
      });
    });
  });
}

/**
 * A question to the product whose answer only the model checks: most calls of a walk are such, and
 * comparing each with the document would take half of the time.
 */
export async function ask({ api }: WalkWorld, path: string, body?: object): Promise<Answer> {
  const given = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  const answer = await fetch(`${api.url}${path}`, { ...given, headers });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  return answer.json();
}

/**
 * Turns both clocks, that of the product until it has done what is due.
 * @returns whose subscriptions have changed.
 */
export async function advanceBoth(world: WalkWorld, to: number): Promise<ReadonlySet<Payer>> {
  const { api, clockId, model } = world;
  const path = `/v1/test_clocks/${clockId}`;
  const now = new Date(to).toISOString();
  const begun = await api.call('POST', `${path}/advance`, { body: { now } });
  if (begun.status !== 202) throw new Error(`advance: ${JSON.stringify(begun.body)}`);
  for (;;) {
    await world.runDue(to);
    const body = await ask(world, path);
    if (body.status === 'failed') throw new Error(`advance failed: ${body.failure_reason}`);
    if (body.status !== 'advancing') break;
    await setTimeout(2);
  }
  const changed = turnClock(model, to);
  for (const life of model.lives.values()) await findSuccessor(world, life);
  return changed;
}

/** Finds the subscription of the product that a change of plan has made. */
async function findSuccessor(world: WalkWorld, life: Life): Promise<void> {
  if (world.ids.has(life.id)) return;
  const { items } = await ask(world, '/v1/subscriptions/search', {
    customer_id: life.payer.id,
    limit: 100,
  });
  const known = new Set(world.ids.values());
  const found = items.filter(({ id }: Answer) => !known.has(id));
  if (found.length !== 1) throw new Error(`${life.id}: ${found.length} successors`);
  world.ids.set(life.id, found[0].id);
}

/** Ids and what is needed to find lines of a subscription of the product. */
export async function linesOf(world: WalkWorld, life: Life): Promise<readonly Answer[]> {
  const id = world.ids.get(life.id) ?? '';
  return (await ask(world, `/v1/subscriptions/${id}`)).line_items;
}
