import type { OracleMeter } from '../usage-oracle/meter.js';
import type { OracleEvent } from '../usage-oracle/usage-event.js';
import type { InvoiceQuestion } from './invoice-question.js';
import { priceInvoice, type PricedInvoice } from './invoice.js';
import type {
  Commitment,
  FixedItem,
  LineCommitment,
  Price,
  Subscription,
  UsageItem,
} from './subscription.js';

/*
 * The plainest subscription, item, meter and event, for tests that name only what they are about.
 */

export function flat(amount: string): Price {
  return { model: 'FLAT_FEE', amount, unitRate: null };
}

export const plainMeter: OracleMeter = {
  eventName: 'call',
  type: 'SUM',
  origin: { kind: 'field', name: 'n' },
  multiplier: null,
  filters: [],
  bucketSize: null,
  groupBy: null,
  reset: 'BILLING_PERIOD',
};

export const monthly = { period: 'MONTHLY', count: 1 } as const;

/** Monthly in usd and UTC, from 1 January 2026 on, with one SUM meter named `meter`. */
export const plainSubscription: Subscription = {
  start: Date.parse('2026-01-01T00:00:00Z'),
  end: null,
  trialEnd: null,
  history: [],
  zone: 'UTC',
  currency: 'usd',
  length: monthly,
  cycle: 'anniversary',
  givenAnchor: null,
  proration: 'none',
  commitment: null,
  items: [],
  meters: new Map([['meter', plainMeter]]),
  features: [],
  coupons: [],
  taxes: [],
  wallets: [],
  events: [],
};

export function usageItem(id: string, changes: Partial<UsageItem> = {}): UsageItem {
  return {
    id,
    type: 'USAGE',
    createdAt: 0,
    price: flat('1'),
    start: plainSubscription.start,
    end: null,
    meterId: 'meter',
    filterValues: [],
    length: monthly,
    commitment: null,
    predecessorIds: [],
    ...changes,
  };
}

export function fixedItem(id: string, changes: Partial<FixedItem> = {}): FixedItem {
  return {
    id,
    type: 'FIXED',
    createdAt: 0,
    price: flat('100'),
    start: plainSubscription.start,
    end: null,
    cadence: 'ARREAR',
    quantity: '1',
    length: monthly,
    ...changes,
  };
}

export function committed(changes: Partial<Commitment>): Commitment {
  return { type: 'amount', value: '0', factor: '1', hasTrueUp: false, ...changes };
}

export function lineCommitment(
  own: Commitment | null,
  changes: Partial<LineCommitment> = {},
): LineCommitment {
  return { own, duration: null, isWindowed: false, timeBuckets: [], ...changes };
}

/** Events of the name `call` with a number `n`, given as time, number and further properties. */
export function calls(
  ...given: readonly (readonly [string, string, Readonly<Record<string, string>>?])[]
): readonly OracleEvent[] {
  return given.map(([time, n, more = {}], index) => ({
    eventId: `event-${index}`,
    eventName: 'call',
    externalCustomerId: 'customer',
    customerId: null,
    source: '',
    timestamp: Date.parse(time),
    receipt: index,
    properties: new Map(Object.entries({ n, ...more })),
  }));
}

/** The invoice of the first period, unless the question says otherwise. */
export function invoiceOf(
  changes: Partial<Subscription>,
  question: Partial<InvoiceQuestion> = {},
): PricedInvoice {
  return priceInvoice(
    { ...plainSubscription, ...changes },
    { reference: 'period_end', rowIndex: 0, now: null, earlier: [], ...question },
  );
}
