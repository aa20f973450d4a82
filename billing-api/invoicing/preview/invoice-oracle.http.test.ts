import { describe, expect } from 'vitest';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../load-tests/harness/seeded-random.js';
import { earlierInvoice } from '../../../load-tests/proofs/pricing-oracle/agreement/earlier-invoice.js';
import type { EarlierInvoice } from '../../../load-tests/proofs/pricing-oracle/invoice-question.js';
import { priceInvoice } from '../../../load-tests/proofs/pricing-oracle/invoice.js';
import { rowAt } from '../../../load-tests/proofs/pricing-oracle/period-ledger.js';
import { plainSubscription } from '../../../load-tests/proofs/pricing-oracle/plain-subscription.js';
import type { Subscription } from '../../../load-tests/proofs/pricing-oracle/subscription.js';
import { test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import {
  addonItems,
  addonSources,
  drawAddons,
  makeDrawnAddons,
  type DrawnAddon,
} from '../../testing/oracle-addons.js';
import {
  associateDrawnTaxes,
  couponsWrittenDown,
  drawAdjustments,
  makeDrawnCoupons,
  makeDrawnTaxRates,
  type DrawnAdjustments,
} from '../../testing/oracle-adjustments.js';
import {
  commitmentBody,
  drawLines,
  linesWrittenDown,
  makeDrawnLine,
  type DrawnLine,
} from '../../testing/oracle-lines.js';
import { storeEvents, type StoredEvent } from '../../testing/write-usage-minutes.js';

/*
 * A subscription made through the interface and one written down for the independent oracle, out of
 * the same random numbers: what is stored, read and shown must cost the same as what was meant.
 */

const WORLDS = 6;
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
const START = Date.parse('2026-09-20T10:30:00Z');

type World = Pick<Subscription, 'zone' | 'commitment'> & {
  readonly lines: readonly DrawnLine[];
  readonly events: readonly StoredEvent[];
  readonly adjustments: DrawnAdjustments;
  readonly addons: readonly DrawnAddon[];
};

/** Instants of their own, so that no two events tie. */
function randomEvents(random: SeededRandom): readonly StoredEvent[] {
  return Array.from({ length: 60 }, (_, index) => {
    const at = Date.parse('2026-08-20T00:00:00Z') + random.below(92 * 1_440) * 60_000 + index;
    const n = random.pick(['1', '2.5', '7', '12', '0.333', 'none', '-3']);
    const host = random.pick(['a', 'b', null]);
    const properties = { n, ...(host === null ? {} : { host }) };
    return { at: new Date(at).toISOString(), properties };
  });
}

function randomWorld(seed: number): World {
  const random = createSeededRandom(seed);
  const isCommitted = random.below(3) === 0;
  const lines = drawLines(random, !isCommitted);
  const commitment = { amount: '20', factor: '1.5', hasTrueUp: true, duration: null };
  return {
    zone: random.pick(ZONES),
    commitment: isCommitted ? commitment : null,
    lines,
    events: randomEvents(random),
    adjustments: drawAdjustments(random, lines.length),
    addons: drawAddons(
      random,
      lines.map(({ entitlement, narrowed }) => ({
        isEntitled: entitlement !== null,
        isNarrowed: narrowed,
      })),
    ),
  };
}

function writtenDown({ addons, ...world }: World): Subscription {
  const { zone, commitment, lines, events, adjustments } = world;
  const { items, meters } = linesWrittenDown(lines, START);
  return {
    ...plainSubscription,
    start: START,
    zone,
    commitment,
    taxes: adjustments.taxes,
    items: [...items, ...addonItems(addons, { start: START, lineCount: lines.length })],
    meters,
    features: lines.flatMap(({ entitlement: ofPlan }, line) => {
      if (ofPlan === null) return [];
      const sources = [ofPlan, ...addonSources(addons, { start: START, line, ofPlan })];
      return [{ id: `feature${line}`, meterId: `meter${line}`, sources }];
    }),
    events: events.map((event, index) => ({
      eventId: `event-${index}`,
      eventName: 'call',
      externalCustomerId: 'acme',
      customerId: null,
      source: '',
      timestamp: Date.parse(event.at),
      receipt: Date.parse(event.at),
      properties: new Map(Object.entries(event.properties ?? {})),
    })),
  };
}

/** As it is written down, with its coupons, of which some end with the first period. */
function withCoupons(world: World): Subscription {
  const plain = writtenDown(world);
  const first = { reference: 'period_end', rowIndex: 0, now: null, earlier: [] } as const;
  const firstPeriodEnd = Date.parse(priceInvoice(plain, first).periodEnd);
  const coupons = couponsWrittenDown(world.adjustments, { start: START, firstPeriodEnd });
  return { ...plain, coupons };
}

/**
 * The invoice that creation makes of what is charged in advance, as previews count it: the coupons
 * that it has used are gone. None when that charges nothing.
 */
function openingOf(subscription: Subscription): readonly EarlierInvoice[] {
  const opening = { reference: 'period_start', rowIndex: 0, now: null, earlier: [] } as const;
  const priced = priceInvoice(subscription, opening);
  const row = rowAt(subscription, 0);
  if (row === null || priced.lines.every(({ amount }) => Number(amount) === 0)) return [];
  return [{ ...earlierInvoice(row, priced), lines: [] }];
}

async function subscribe(
  api: BillingUnderTest,
  { zone, commitment, lines }: World,
  made: {
    readonly planId: string;
    readonly customer: string;
    readonly priceIds: readonly string[];
    readonly adjustments: object;
  },
): Promise<string> {
  const ofLines = lines.flatMap((line, index) =>
    line.commitment === null ? [] : [[made.priceIds[index], commitmentBody(line.commitment)]],
  );
  const { id } = await api.make('/v1/subscriptions', {
    external_customer_id: made.customer,
    plan_id: made.planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: new Date(START).toISOString(),
    customer_timezone: zone,
    ...(commitment === null
      ? {}
      : {
          commitment_amount: commitment.amount,
          overage_factor: commitment.factor,
          enable_true_up: commitment.hasTrueUp,
        }),
    line_item_commitments: Object.fromEntries(ofLines) as object,
    ...made.adjustments,
  });
  return id as string;
}

describe('POST /invoices/preview', () => {
  const firstSeed = drawSeed();
  // Every world makes some thirty records, one after the other.
  const wait = { timeout: 240_000 };
  test(
    `costs what the independent oracle says of the same, seeds from ${firstSeed} on`,
    wait,
    async ({ api, database, clickhouse }) => {
      for (let seed = firstSeed; seed < firstSeed + WORLDS; seed += 1) {
        const world = randomWorld(seed);
        const customer = `customer-${seed}`;
        const prefix = `seed-${seed}`;
        const taxes = await makeDrawnTaxRates(api, world.adjustments, prefix);
        const { id: customerId } = await api.make('/v1/customers', {
          external_id: customer,
          tax_rate_overrides: taxes.ofCustomer,
        });
        const { id: planId } = await api.make('/v1/plans', { name: 'Pro' });
        const made = [];
        for (const line of world.lines) {
          made.push(await makeDrawnLine(api, database.database, { planId, line }));
        }
        const countsOn = made.map(({ target }) => target);
        const events = world.events.map((event) => ({
          ...event,
          customerKey: `e:${customer}`,
          countsOn,
        }));
        await storeEvents({ database, clickhouse }, api.environment, events);
        // Those of earlier seeds were finished before the meters were made.
        await completeBackfills(database.database);
        const priceIds = made.map(({ priceId }) => priceId);
        const coupons = await makeDrawnCoupons(api, world.adjustments, { prefix, priceIds });
        const addons = await makeDrawnAddons(api, world.addons, {
          prefix,
          start: START,
          lines: made.map(({ target, featureId }, index) => ({
            meterId: target.meterId,
            featureId,
            reset: world.lines[index]?.entitlement?.reset ?? null,
          })),
        });
        const adjustments = { ...coupons, tax_rate_overrides: taxes.ofSubscription, addons };
        const id = await subscribe(api, world, { planId, customer, priceIds, adjustments });
        const ids = { customer: customerId as string, subscription: id };
        const removeTenantTaxes = await associateDrawnTaxes(api, taxes, ids);
        for (const rowIndex of [0, 1]) {
          const written = withCoupons(world);
          const query = { rowIndex, now: null, earlier: openingOf(written) };
          const expected = priceInvoice(written, { reference: 'period_end', ...query });
          const invoice = await api.make('/v1/invoices/preview', {
            subscription_id: id,
            period_start: expected.periodStart,
            period_end: expected.periodEnd,
          });
          const shown = invoice.line_items.map((line: Record<string, string>) => [
            line['quantity'],
            line['adjusted_entitlement_quantity'],
            line['amount'],
            line['line_item_discount'],
            line['invoice_level_discount'],
          ]);
          const meant = expected.lines.map((line) => [
            line.quantity,
            line.adjustedEntitlementQuantity,
            line.amount,
            line.lineDiscount,
            line.invoiceDiscount,
          ]);
          const listOf = (items: readonly Record<string, string>[], member: string) =>
            items.map((item) => item[member]);
          expect({
            seed,
            rowIndex,
            lines: shown,
            coupons: listOf(invoice.coupon_applications, 'discounted_amount'),
            taxes: listOf(invoice.taxes, 'tax_amount'),
            discount: invoice.total_discount,
            tax: invoice.total_tax,
            total: invoice.total,
          }).toEqual({
            seed,
            rowIndex,
            lines: meant,
            coupons: expected.coupons.map(({ discount }) => discount),
            taxes: expected.taxes.map(({ amount }) => amount),
            discount: expected.totals.totalDiscount,
            tax: expected.totals.totalTax,
            total: expected.totals.total,
          });
        }
        await removeTenantTaxes();
      }
    },
  );
});
