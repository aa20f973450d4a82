import { identityOf } from '../load/ledger.js';
import { VALUE_FIELD } from '../load/usage-meter.js';
import {
  flat,
  monthly,
  plainSubscription,
  usageItem,
} from '../../pricing-oracle/plain-subscription.js';
import { priceInvoice, type PricedInvoice } from '../../pricing-oracle/invoice.js';
import type { Price, Subscription } from '../../pricing-oracle/subscription.js';
import type { OracleMeter } from '../../usage-oracle/meter.js';
import type { OracleEvent } from '../../usage-oracle/usage-event.js';
import type { World } from './world.js';

/** The environment whose customer pays. */
const ENVIRONMENT = 0;
const START = Date.parse('2026-03-01T00:00:00.000Z');

type Created = { readonly id: string };

/** A price on the usage of a meter, as the API and as the oracle are told. */
type BilledLine = {
  readonly aggregation: 'COUNT' | 'SUM';
  readonly filters: OracleMeter['filters'];
  readonly price: Price;
  readonly priceBody: object;
};

const TIERS = [
  { unitAmount: '0.0125', flatAmount: '3', upTo: 5_000 },
  { unitAmount: '0.00071', flatAmount: '0', upTo: null },
] as const;

const LINES: readonly BilledLine[] = [
  {
    aggregation: 'SUM',
    filters: [],
    price: { model: 'TIERED', mode: 'SLAB', tiers: TIERS, unitRate: null },
    priceBody: {
      tier_mode: 'SLAB',
      tiers: [
        { unit_amount: '0.0125', flat_amount: '3', up_to: 5_000 },
        { unit_amount: '0.00071' },
      ],
    },
  },
  {
    aggregation: 'COUNT',
    filters: [{ key: 'method', values: ['GET'] }],
    price: flat('0.0377'),
    priceBody: { amount: '0.0377' },
  },
];

/** A customer with a monthly subscription, made through the billing API. */
export type BilledCustomer = { readonly externalId: string; readonly subscriptionId: string };

/** Makes meters, a plan with a price on each, a customer and its subscription. */
export async function makeBilledCustomer(
  world: World,
  externalId: string,
): Promise<BilledCustomer> {
  const api = world.api(ENVIRONMENT);
  const { id: planId } = await api.post<Created>('/plans', { name: 'Pro' });
  for (const { aggregation: type, filters, priceBody } of LINES) {
    const meter = { environment: ENVIRONMENT, eventName: 'api.request', filters };
    const { id: meterId } = await api.post<Created>('/meters', {
      name: 'Requests',
      event_name: meter.eventName,
      aggregation: type === 'COUNT' ? { type } : { type, field: VALUE_FIELD },
      filters,
    });
    world.meters.push({ ...meter, meterId, aggregation: type });
    world.registered.meterIds.add(meterId);
    const price = { entity_id: planId, meter_id: meterId, currency: 'usd', ...priceBody };
    await api.post<Created>('/prices', price);
  }
  await api.post<Created>('/customers', { external_id: externalId });
  world.registered.customers.add(identityOf(ENVIRONMENT, externalId));
  const { id: subscriptionId } = await api.post<Created>('/subscriptions', {
    external_customer_id: externalId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: new Date(START).toISOString(),
  });
  return { externalId, subscriptionId };
}

/** The events of the customer as their senders know them. */
function eventsOf(world: World, externalId: string): readonly OracleEvent[] {
  return [...world.ledger.sent.values()].flatMap(({ environment, body }, receipt) =>
    environment === ENVIRONMENT && body.external_customer_id === externalId
      ? {
          eventId: body.event_id,
          eventName: body.event_name,
          externalCustomerId: externalId,
          customerId: null,
          source: body.source,
          timestamp: Date.parse(body.timestamp),
          receipt,
          properties: new Map(Object.entries(body.properties)),
        }
      : [],
  );
}

/** The same subscription for the oracle. */
function writtenDown(world: World, externalId: string): Subscription {
  const meterOf = ({ aggregation: type, filters }: BilledLine): OracleMeter => ({
    eventName: 'api.request',
    type,
    origin: type === 'COUNT' ? { kind: 'none' } : { kind: 'field', name: VALUE_FIELD },
    multiplier: null,
    filters,
    bucketSize: null,
    groupBy: null,
    reset: 'BILLING_PERIOD',
  });
  return {
    ...plainSubscription,
    start: START,
    items: LINES.map(({ price }, index) =>
      usageItem(`item${index}`, {
        createdAt: index,
        start: START,
        price,
        meterId: `meter${index}`,
        length: monthly,
      }),
    ),
    meters: new Map(LINES.map((line, index) => [`meter${index}`, meterOf(line)])),
    events: eventsOf(world, externalId),
  };
}

/** What the first month of the customer costs by the oracle, from what was sent. */
export function priceByOracle(world: World, { externalId }: BilledCustomer): PricedInvoice {
  return priceInvoice(writtenDown(world, externalId), {
    reference: 'period_end',
    rowIndex: 0,
    now: null,
    earlier: [],
  });
}

type Preview = {
  readonly total: string;
  readonly line_items: readonly { readonly quantity: string; readonly amount: string }[];
};

/** Quantities, amounts and total of a preview as one text. */
export function textOfInvoice(
  lines: readonly { readonly quantity: string; readonly amount: string }[],
  total: string,
): string {
  return [...lines.map(({ quantity, amount }) => `${quantity} for ${amount}`), total].join(', ');
}

/** What the product says that the month costs. @throws UnexpectedAnswer when it does not say. */
export async function previewInvoice(
  world: World,
  { subscriptionId }: BilledCustomer,
  { periodStart, periodEnd }: Pick<PricedInvoice, 'periodStart' | 'periodEnd'>,
): Promise<string> {
  const { line_items: lines, total } = await world
    .api(ENVIRONMENT)
    .post<Preview>('/invoices/preview', {
      subscription_id: subscriptionId,
      period_start: periodStart,
      period_end: periodEnd,
    });
  return textOfInvoice(lines, total);
}
