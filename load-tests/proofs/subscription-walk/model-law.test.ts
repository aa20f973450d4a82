import fc from 'fast-check';
import { describe, test } from 'vitest';
import { add, zero } from '../usage-oracle/fraction.js';
import { subtotalOf } from './model/change-plan.js';
import { createLife, openLife } from './model/create.js';
import type { ModelPlan, Payer } from './model/life.js';
import { turnClock } from './model/live.js';
import { isWhole, openBill, voidInvoice } from './model/payments.js';
import { pick, spanOf, type Draws } from './act.js';
import { ADDON_OPERATIONS } from './addon-operations.js';
import { expectNothing, offBy } from './compare.js';
import { ITEM_OPERATIONS } from './item-operations.js';
import { LIFE_OPERATIONS } from './life-operations.js';
import { ADDONS, PLANS, type Prices } from './walk-catalog.js';
import { drawTerms } from './walk-commands.js';
import { START, type WalkWorld, type WorldKind } from './walk-world.js';

const LIVES_MAX = 12;
const STEPS_MAX = 80;

/** Drafts are activated by the product alone. */
const OPERATIONS = [...LIFE_OPERATIONS, ...ITEM_OPERATIONS, ...ADDON_OPERATIONS]
  .filter(([, { name }]) => name !== 'activate')
  .flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation));

/** Whatever the model calls a thing is its id. */
class SameIds extends Map<string, string> {
  override get(key: string): string {
    return key;
  }
  override has(): boolean {
    return true;
  }
}

const pricedAs = (name: string, all: readonly Prices[]): readonly ModelPlan[] =>
  all.map((prices, index) => ({
    id: `${name}${index}`,
    prices: prices.map(([amount, cadence]) => ({ amount, cadence })),
  }));

/** A world whose product says yes to everything. */
function paperWorld({ fineness, isLong }: WorldKind): WalkWorld {
  const body = { items: [{ id: 'schedule', schedule_status: 'pending' }] };
  const headers = new Headers();
  return {
    api: {
      url: '',
      make: () => Promise.reject(new Error('nothing is made on paper')),
      call: () => Promise.resolve({ status: 200, body, headers }),
    },
    fineness,
    pace: isLong ? 6 : 1,
    clockId: '',
    ids: new SameIds(),
    log: [],
    plans: pricedAs('plan', PLANS[fineness]),
    addons: pricedAs('addon', ADDONS[fineness]),
    model: { now: START, lives: new Map(), livesMax: LIVES_MAX },
    runDue: () => Promise.resolve(),
  };
}

function create(world: WalkWorld, draws: Draws): void {
  const { model, plans } = world;
  if (model.lives.size >= LIVES_MAX) return;
  const id = `s${model.lives.size}`;
  const payer: Payer = { id, credited: zero, refunded: zero, roundings: 0, bills: new Map() };
  const start = model.now + pick([0, 0, spanOf(world, draws)], draws.a);
  const terms = drawTerms(world, draws);
  const life = createLife({ id, payer, terms, start, plan: pick(plans, draws.who), end: null });
  model.lives.set(id, life);
  openLife(life);
}

function voidOne({ model }: WalkWorld, { who, a }: Draws): void {
  const life = pick([...model.lives.values()], who);
  const final = life.invoices.filter(({ finalizeAt }) => finalizeAt === null);
  if (final.length === 0) return;
  const invoice = pick(final, a);
  if (isWhole(life, invoice)) voidInvoice(life, invoice, openBill(zero));
}

async function operate(world: WalkWorld, draws: Draws, which: number): Promise<void> {
  const operation = pick(OPERATIONS, which);
  const alive = [...world.model.lives.values()].filter(({ status }) => status !== 'cancelled');
  for (let index = 0; index < alive.length; index += 1) {
    const act = await operation(world, pick(alive, draws.who + index), draws);
    if (act?.isLegal !== true) continue;
    const answer = { id: 'new', new_subscription: { id: 'new' } };
    await act.apply({ ...answer, changed_resources: { line_items: [] } });
    return;
  }
}

function expectLaw({ model, fineness }: WalkWorld): void {
  const all = [...model.lives.values()];
  for (const payer of new Set(all.map((life) => life.payer))) {
    const lives = all.filter((life) => life.payer === payer);
    const invoices = lives.flatMap((life) => life.invoices);
    const final = invoices.filter(({ finalizeAt }) => finalizeAt === null);
    const roundings = payer.roundings + final.flatMap(({ lines }) => lines).length;
    const charged = final.map(subtotalOf).reduce(add, zero);
    const books = { charged, credited: payer.credited, roundings };
    const difference = offBy(payer, lives, books);
    if (difference !== null) expectNothing(fineness, difference, roundings);
  }
}

type Step = Draws & { readonly kind: number; readonly which: number };

async function take(world: WalkWorld, { kind, which, ...draws }: Step): Promise<void> {
  const { model } = world;
  if (kind < 4 || model.lives.size === 0) create(world, draws);
  else if (kind < 14) turnClock(model, model.now + spanOf(world, draws));
  else if (kind < 16) voidOne(world, draws);
  else await operate(world, draws, which);
  expectLaw(world);
}

const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat(99),
  a: fc.nat(999),
  b: fc.nat(999),
  c: fc.nat(999),
  hours: fc.oneof(fc.nat(5), fc.nat(400), fc.nat(60)),
  kind: fc.nat(59),
  which: fc.nat(9999),
});

describe('the model of the walks', { timeout: 600_000 }, () => {
  test.each<[WorldKind]>([
    [{ fineness: 'exact', isLong: false }],
    [{ fineness: 'exact', isLong: true }],
    [{ fineness: 'fine', isLong: false }],
    [{ fineness: 'fine', isLong: true }],
  ])('charges every instant once, and gives back what is unused: %j', async (kind) => {
    const steps = fc.array(step, { minLength: STEPS_MAX / 2, maxLength: STEPS_MAX });
    const numRuns = Number(process.env['MODEL_WALKS'] ?? '25');
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const world = paperWorld(kind);
        for (const each of taken) await take(world, each);
      }),
      { numRuns, endOnFailure: true },
    );
  });
});
