import fc from 'fast-check';
import { expect } from 'vitest';
import { zero } from '../usage-oracle/fraction.js';
import { createLife, openLife } from './model/create.js';
import { runningOf, type Life, type Terms } from './model/life.js';
import type { ModelWorld } from './model/invoices.js';
import { isScaled, iso, pick, spanOf, type Draws, type Operation } from './act.js';
import { ADDON_OPERATIONS } from './addon-operations.js';
import { expectPayer, expectRightBooks } from './compare.js';
import { ITEM_OPERATIONS } from './item-operations.js';
import { billPast, LIFE_OPERATIONS } from './life-operations.js';
import { PAYMENT_OPERATIONS } from './payment-operations.js';
import { advanceBoth, type WalkWorld } from './walk-world.js';

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];

type Command = fc.AsyncCommand<ModelWorld, WalkWorld>;

/** How many commands were carried out, of all walks. */
export const walked = { steps: 0, refused: 0 };

abstract class Step implements Command {
  readonly draws: Draws;

  constructor(draws: Draws) {
    this.draws = draws;
  }

  abstract check(model: Readonly<ModelWorld>): boolean;
  abstract run(model: ModelWorld, world: WalkWorld): Promise<void>;
  abstract toString(): string;
}

export function drawTerms(world: WalkWorld, { a, b, c }: Draws): Terms {
  const { fineness } = world;
  const cycle = pick(['anniversary', 'calendar'] as const, c);
  return {
    zone: fineness === 'exact' ? 'UTC' : pick(ZONES, a),
    period: pick(['MONTHLY', 'MONTHLY', 'WEEKLY'] as const, b),
    cycle,
    isProrated: a % 3 === 0 || isScaled(world, cycle),
    trialDays: pick([0, 0, 0, 3, 10, 14], b + c),
    percentOff: fineness === 'fine' && c % 5 === 0 ? '30' : null,
  };
}

/** A new customer with a subscription. */
class Create extends Step {
  check({ lives, livesMax }: ModelWorld): boolean {
    return lives.size < livesMax;
  }

  async run(model: ModelWorld, world: WalkWorld): Promise<void> {
    const { api } = world;
    const terms = drawTerms(world, this.draws);
    const plan = pick(world.plans, this.draws.who);
    const span = spanOf(world, this.draws);
    const isDraft = this.draws.hours % 7 === 0;
    const starts = [0, 0, span, terms.isProrated ? 0 : -span];
    const start = model.now + (isDraft ? 0 : pick(starts, this.draws.a));
    const customer = await api.make('/v1/customers', {
      external_id: `customer ${model.lives.size}`,
    });
    const body = {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      start_date: iso(start),
      billing_period: terms.period,
      billing_cycle: terms.cycle,
      customer_timezone: terms.zone,
      trial_period_days: terms.trialDays,
      proration_behavior: terms.isProrated ? 'create_prorations' : 'none',
      ...(terms.percentOff === null ? {} : { coupons: ['THIRD'] }),
      ...(isDraft ? { subscription_status: 'draft' } : {}),
    };
    world.log.push(`${iso(model.now)} create ${JSON.stringify(body)}`);
    const made = await api.make('/v1/subscriptions', body);
    const payer = {
      id: customer.id as string,
      credited: zero,
      refunded: zero,
      roundings: 0,
      bills: new Map(),
    };
    const life = createLife({ id: `s${model.lives.size}`, plan, payer, terms, start, end: null });
    model.lives.set(life.id, life);
    world.ids.set(life.id, made.id);
    if (isDraft) life.status = 'draft';
    else openLife(life);
    if (!isDraft) await billPast(world, start);
    await expectPayer(world, payer);
    await expectRightBooks(world);
    walked.steps += 1;
  }

  toString(): string {
    return `create(${JSON.stringify(this.draws)})`;
  }
}

/** When something is due of the lives that run. */
function dueInstants({ lives, now }: ModelWorld): readonly number[] {
  const of = (life: Life): readonly number[] => {
    if (life.status === 'draft' || life.status === 'cancelled') return [];
    return [runningOf(life).end, life.pause?.start ?? 0, life.pause?.end ?? 0, life.end ?? 0];
  };
  return [...lives.values()].flatMap(of).filter((at) => at > now);
}

/** Moves the clock on: by some days, or to an instant at which something is due, or close to it. */
class Advance extends Step {
  check({ lives }: ModelWorld): boolean {
    return lives.size > 0;
  }

  async run(model: ModelWorld, world: WalkWorld): Promise<void> {
    const { a, b } = this.draws;
    const due = dueInstants(model);
    const near = world.fineness === 'exact' ? [0, 3_600_000, -3_600_000] : [0, 1, -1, 600_000];
    const at = due.length === 0 ? model.now : pick(due, b) + pick(near, b + a);
    const to = a % 2 === 0 && at > model.now ? at : model.now + spanOf(world, this.draws);
    world.log.push(`${iso(model.now)} advance to ${iso(to)}`);
    for (const payer of await advanceBoth(world, to)) await expectPayer(world, payer);
    await expectRightBooks(world);
    walked.steps += 1;
  }

  toString(): string {
    return `advance(${JSON.stringify(this.draws)})`;
  }
}

/** One of the operations on one of the subscriptions. */
class Operate extends Step {
  readonly name: string;
  readonly #operation: Operation;

  constructor(draws: Draws, [name, operation]: readonly [string, Operation]) {
    super(draws);
    this.name = name;
    this.#operation = operation;
  }

  check({ lives }: ModelWorld): boolean {
    return lives.size > 0;
  }

  async run(model: ModelWorld, world: WalkWorld): Promise<void> {
    const drawn = await this.#drawAct(model, world);
    if (drawn === null) return;
    const { life, act } = drawn;
    const { method = 'POST', path, body, isLegal } = act;
    const says = `${life.id} ${act.says}`;
    world.log.push(`${iso(model.now)} ${says} ${path} ${JSON.stringify(body)}`);
    const answer = await world.api.call(method, path, { body });
    if (answer.status < 300 !== isLegal || answer.status >= 500) {
      expect([says, answer.status, answer.body]).toEqual([
        says,
        isLegal ? 'done' : 'refused',
        null,
      ]);
    }
    if (isLegal) await act.apply(answer.body);
    else walked.refused += 1;
    await expectPayer(world, life.payer);
    await expectRightBooks(world);
    walked.steps += 1;
  }

  /** What it does, of the first subscription that it goes with. */
  async #drawAct({ lives }: ModelWorld, world: WalkWorld) {
    const all = [...lives.values()];
    const alive = all.filter(({ status }) => status !== 'cancelled');
    const among = alive.length > 0 && this.draws.c % 16 > 0 ? alive : all;
    for (let index = 0; index < among.length; index += 1) {
      const life = pick(among, this.draws.who + index);
      const act = await this.#operation(world, life, this.draws);
      if (act !== null) return { life, act };
    }
    return null;
  }

  toString(): string {
    return `${this.name}(${JSON.stringify(this.draws)})`;
  }
}

const draws = fc.record({
  who: fc.nat(99),
  a: fc.nat(999),
  b: fc.nat(999),
  c: fc.nat(999),
  hours: fc.oneof(fc.nat(5), fc.nat(400), fc.nat(60)),
});

function operations(): readonly fc.Arbitrary<Command>[] {
  const named = [
    ...LIFE_OPERATIONS,
    ...ITEM_OPERATIONS,
    ...ADDON_OPERATIONS,
    ...PAYMENT_OPERATIONS,
  ];
  return named.flatMap(([weight, operation]) =>
    Array.from({ length: weight }, () =>
      draws.map((drawn): Command => new Operate(drawn, [operation.name, operation])),
    ),
  );
}

/** Walks of so many steps. */
export function walks(steps: number) {
  const advance = draws.map((drawn): Command => new Advance(drawn));
  const create = draws.map((drawn): Command => new Create(drawn));
  const arbitraries = [
    ...operations(),
    ...Array.from({ length: 10 }, () => advance),
    ...Array.from({ length: 4 }, () => create),
  ];
  return fc.commands(arbitraries, { maxCommands: steps, size: 'max' });
}
