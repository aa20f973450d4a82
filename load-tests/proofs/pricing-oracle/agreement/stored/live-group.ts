import { formatInstant } from '../../../../../contract/instant.js';
import {
  billUntil,
  billingNeeds,
  billingRunner,
} from '../../../../../billing-api/testing/bill-environment.js';
import type { BillingUnderTest } from '../../../../../billing-api/testing/billing-harness.js';
import { THRESHOLD_JOBS } from '../../../../../billing-api/jobs/page-jobs.js';
import { writeUnit } from '../../../../../billing-api/records/unit.js';
import { completeBackfills } from '../../../../../billing-api/testing/finish-partition.js';
import {
  associateDrawnTaxes,
  makeDrawnCoupons,
  makeDrawnTaxRates,
} from '../../../../../billing-api/testing/oracle-adjustments.js';
import {
  commitmentBody,
  makeDrawnLine,
  type MadeLine,
} from '../../../../../billing-api/testing/oracle-lines.js';
import { priceBody } from '../../../../../billing-api/testing/oracle-prices.js';
import {
  storeEvents,
  type Engines,
} from '../../../../../billing-api/testing/write-usage-minutes.js';
import { createId } from '../../../../../runtime/ids.js';
import { enqueue } from '../../../../../sql/jobs/enqueue.js';
import { BEGIN, type DrawnGroup, type DrawnLife, type DrawnPlan } from './drawn-life.js';

/** A plan as it was made. */
type MadePlan = {
  readonly id: string;
  readonly lines: readonly MadeLine[];
  readonly drawn: DrawnPlan;
};

/** Makes a group through the interface, and lets the jobs of the product bill it. */
export class LiveGroup {
  readonly #api: BillingUnderTest;
  readonly #engines: Engines;
  readonly #group: DrawnGroup;
  #plans: readonly MadePlan[] = [];
  /** Ids of subscriptions, by the place of their life. */
  readonly ids = new Map<number, string>();

  constructor(api: BillingUnderTest, engines: Engines, group: DrawnGroup) {
    this.#api = api;
    this.#engines = engines;
    this.#group = group;
  }

  get #world() {
    const { database, clickhouse } = this.#engines;
    const { environment } = this.#api;
    return { database: database.database, clickHouse: clickhouse.client, environment };
  }

  /** Plans, customers and what taxes everybody. */
  async prepare(): Promise<void> {
    await billUntil(this.#world, formatInstant(BEGIN));
    const made: MadePlan[] = [];
    for (const plan of this.#group.plans) made.push(await this.#makePlan(plan));
    this.#plans = made;
    await completeBackfills(this.#engines.database.database);
    const tenant = { coupons: [], taxes: this.#group.tenantTaxes };
    const requests = await makeDrawnTaxRates(this.#api, tenant, 'tenant');
    await associateDrawnTaxes(this.#api, requests, { customer: '', subscription: '' });
  }

  async #makePlan(drawn: DrawnPlan): Promise<MadePlan> {
    const { id } = await this.#api.make('/v1/plans', { name: 'Pro' });
    const { database } = this.#engines.database;
    const lines: MadeLine[] = [];
    const { currency } = drawn;
    const terms = { currency, billing_period: drawn.period };
    for (const line of drawn.lines) {
      lines.push(await makeDrawnLine(this.#api, database, { planId: id as string, line, terms }));
    }
    for (const { price, cadence, period } of drawn.fees) {
      const owned = { entity_id: id, currency, billing_period: period, invoice_cadence: cadence };
      await this.#api.make('/v1/prices', { ...owned, ...priceBody(price) });
    }
    return { id: id as string, lines, drawn };
  }

  /** Makes the customer and the subscription of a life. */
  async begin(place: number, life: DrawnLife): Promise<void> {
    const plan = this.#plans[life.plan];
    if (plan === undefined) throw new Error('a life without a plan');
    const prefix = `life-${place}`;
    const taxes = await makeDrawnTaxRates(this.#api, life.adjustments, prefix);
    const customer = await this.#api.make('/v1/customers', {
      external_id: prefix,
      tax_rate_overrides: taxes.ofCustomer,
    });
    const priceIds = plan.lines.map(({ priceId }) => priceId);
    const { currency, period } = plan.drawn;
    const given = { prefix, priceIds, currency };
    const coupons = await makeDrawnCoupons(this.#api, life.adjustments, given);
    for (const { conversionRate, creditBalance, allowed } of life.wallets) {
      await this.#api.make('/v1/wallets', {
        external_customer_id: prefix,
        currency,
        conversion_rate: conversionRate,
        initial_credits_to_load: creditBalance,
        config: { allowed_price_types: [allowed] },
      });
    }
    const subscription = await this.#api.make('/v1/subscriptions', {
      external_customer_id: prefix,
      plan_id: plan.id,
      currency,
      billing_period: period,
      start_date: formatInstant(life.start),
      customer_timezone: life.zone,
      billing_cycle: life.cycle,
      ...(life.anchor === null ? {} : { billing_anchor: formatInstant(life.anchor) }),
      proration_behavior: life.proration,
      auto_invoice_threshold: life.threshold,
      ...(life.trialDays === null ? {} : { trial_period_days: life.trialDays }),
      ...this.#commitments(plan),
      ...coupons,
      tax_rate_overrides: taxes.ofSubscription,
    });
    const ids = { customer: customer.id as string, subscription: subscription.id as string };
    await associateDrawnTaxes(this.#api, taxes, ids);
    this.ids.set(place, ids.subscription);
  }

  #commitments({ drawn, lines }: MadePlan): object {
    const { commitment } = drawn;
    const ofLines = drawn.lines.flatMap(({ commitment: own }, index) =>
      own === null ? [] : [[lines[index]?.priceId, commitmentBody(own, drawn.currency)]],
    );
    return {
      ...(commitment === null
        ? {}
        : {
            commitment_amount: commitment.amount,
            overage_factor: commitment.factor,
            enable_true_up: commitment.hasTrueUp,
          }),
      line_item_commitments: Object.fromEntries(ofLines) as object,
    };
  }

  /** Stores the events that become known after one instant, and until another. */
  async store(afterMs: number, untilMs: number): Promise<void> {
    const events = this.#group.lives.flatMap((life, place) => {
      const countsOn = this.#plans[life.plan]?.lines.map(({ target }) => target) ?? [];
      return life.events
        .filter(({ knownMs }) => knownMs > afterMs && knownMs <= untilMs)
        .map(({ knownMs: _known, ...event }) => ({
          ...event,
          eventName: 'call',
          customerKey: `e:life-${place}`,
          countsOn,
        }));
    });
    if (events.length === 0) return;
    await storeEvents(this.#engines, this.#api.environment, events);
  }

  /** Turns the clock, and does everything due. */
  turnTo(atMs: number): Promise<void> {
    return billUntil(this.#world, formatInstant(atMs));
  }

  /** Looks for thresholds that are reached. */
  async lookAtThresholds(): Promise<void> {
    const [job] = THRESHOLD_JOBS;
    const needs = { ...billingNeeds(this.#world), createId };
    const { environment } = this.#api;
    const actor = { kind: 'operator', name: 'test' } as const;
    await writeUnit(needs, { environment, actor }, (unit) => enqueue(unit, job, { input: {} }));
    await billingRunner(this.#world, [job]).runDue(Date.now());
  }

  async act(place: number, action: 'pause' | 'resume' | 'cancel'): Promise<void> {
    const body = {
      pause: { pause_mode: 'immediate' },
      resume: {},
      cancel: { cancellation_type: 'immediate' },
    }[action];
    await this.#api.make(`/v1/subscriptions/${this.ids.get(place)}/${action}`, body);
  }
}
