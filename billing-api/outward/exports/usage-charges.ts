import { sql } from 'slonik';
import { z } from 'zod';
import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import { lifeOf, unsplitPeriodAt } from '../../domain/periods/ledger-periods.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { accept } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  loadBilledSubscriptions,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import { computeInvoices } from '../../invoicing/compute/compute-invoice.js';
import { previewPurpose } from '../../invoicing/compute/invoice-purpose.js';
import type { InvoiceQuery } from '../../invoicing/compute/invoice-query.js';
import { findPriorInvoices, type PriorInvoices } from '../../invoicing/drafts/prior-invoices.js';
import type { ExportNeeds } from './export-needs.js';

/** What usage of one meter costs, in one currency. The meter is empty for a plan's true-up. */
export type MeterCharge = {
  readonly meterId: string;
  readonly currency: string;
  /** At the price of the line and within its commitment: falls to the sources of the usage. */
  readonly within: Decimal;
  /** Overage and true-up, which fall to no source. */
  readonly beyond: Decimal;
};

/** What a customer is charged in two intervals: that of the file, and what came late for before. */
export type CustomerCharges = {
  readonly own: readonly MeterCharge[];
  readonly late: readonly MeterCharge[];
};

/** A customer whose usage is exported. */
export type ChargedCustomer = {
  readonly customerId: string;
  /** The earliest of its late events; null where it has none. */
  readonly lateSince: InstantMs | null;
};

/** What is computed: the usage charge of a billing period from its start to an instant. */
type PrefixQuery = InvoiceQuery & {
  readonly isWhole: boolean;
  readonly into: keyof CustomerCharges;
  /** Whether it is added or taken off. */
  readonly sign: 1 | -1;
};

const subscriptionRow = z.object({ id: z.string(), customer_id: z.string() });

async function findSubscriptions({ tx }: ReadUnit, customers: readonly ChargedCustomer[]) {
  const ids = customers.map(({ customerId }) => customerId);
  return tx.any(sql.type(subscriptionRow)`
    SELECT id, customer_id FROM subscriptions
    WHERE customer_id = ANY (${sql.array(ids, 'text')}) AND status = 'published'
      AND subscription_status NOT IN ('draft', 'incomplete', 'incomplete_expired')
      AND ${isOfEnvironment}
    ORDER BY customer_id, created_at, id`);
}

/** The billing periods of a subscription that overlap an interval, whole. */
function periodsIn({ terms }: BilledSubscription, { startMs, endMs }: Interval) {
  const life = lifeOf(terms);
  const periods: Interval[] = [];
  let at = Math.max(startMs, life.startMs);
  while (at < Math.min(endMs, life.endMs)) {
    const period = unsplitPeriodAt(terms, at);
    if (period === null) break;
    const end = Math.min(period.endMs, life.endMs);
    periods.push({ startMs: period.startMs, endMs: end });
    at = end;
  }
  return periods;
}

type Prefix = Pick<PrefixQuery, 'into' | 'sign'> & { readonly atMs: InstantMs };

/** A prefix of a period as an invoice; none where it is empty. */
function queryOf(
  loaded: BilledSubscription,
  { period, prefix, prior }: { period: Interval; prefix: Prefix; prior: PriorInvoices },
): readonly PrefixQuery[] {
  const { atMs, into, sign } = prefix;
  const endMs = Math.min(atMs, period.endMs);
  if (endMs <= period.startMs) return [];
  const isWhole = endMs === period.endMs;
  const priorCommitments = prior.priorCommitments.filter(
    (one) => one.period.endMs <= period.startMs,
  );
  return [
    {
      loaded,
      period: { startMs: period.startMs, endMs },
      lineItems: loaded.related.lineItems,
      grouping: NO_GROUPING,
      hideZeroCharges: false,
      purpose: {
        ...previewPurpose(0),
        priorCommitments,
        referencePoint: isWhole ? 'period_end' : 'threshold',
      },
      now: endMs,
      isWhole,
      into,
      sign,
    },
  ];
}

/** The charge of a line as far as it is known before its period has ended. */
function chargeOf(line: InvoiceLine, isWhole: boolean): readonly MeterCharge[] {
  const { kind, lineItem, amount, commitmentInfo: info } = line;
  const { currency } = amount;
  if (kind === 'credit') return [];
  if (lineItem === null) {
    return isWhole ? [{ meterId: '', currency, within: ZERO, beyond: amount.value }] : [];
  }
  if (lineItem.meter === null) return [];
  const of = { meterId: lineItem.meter.id, currency };
  if (kind === 'overage') return [{ ...of, within: ZERO, beyond: amount.value }];
  if (info === null) return [{ ...of, within: amount.value, beyond: ZERO }];
  const trueUp = isWhole ? info.trueUp.value : ZERO;
  return [{ ...of, within: info.utilized.value, beyond: info.overage.value.plus(trueUp) }];
}

/** Adds up charges of the same meter and currency; those of 0 are left out. */
function addedUp(charges: readonly MeterCharge[]): readonly MeterCharge[] {
  const groups = groupBy(charges, ({ meterId, currency }) => JSON.stringify([meterId, currency]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const sum = (of: (one: MeterCharge) => Decimal): Decimal =>
      group.reduce((total, one) => total.plus(of(one)), ZERO);
    const total = { within: sum((one) => one.within), beyond: sum((one) => one.beyond) };
    return [{ meterId: first.meterId, currency: first.currency, ...total }];
  });
}

/** Up to where events count, and the prefixes that are computed so. */
export type ChargeReading = {
  readonly ends: readonly PartitionEnd[];
  readonly prefixesOf: (customer: ChargedCustomer) => readonly Prefix[];
  readonly spanOf: (customer: ChargedCustomer) => Interval;
};

async function findQueries(
  unit: ReadUnit,
  customers: readonly ChargedCustomer[],
  { prefixesOf, spanOf }: ChargeReading,
): Promise<readonly PrefixQuery[]> {
  const rows = await findSubscriptions(unit, customers);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const loaded = await loadBilledSubscriptions(unit, ids);
  const priorOf = await findPriorInvoices(unit, { subscriptionIds: ids, exceptIds: [], since: 0 });
  const bySubscription = groupBy(rows, ({ customer_id: id }) => id);
  return customers.flatMap((customer) =>
    // Absent means none: the customer has no subscription.
    (bySubscription.get(customer.customerId) ?? []).flatMap(({ id }) => {
      const own = loaded.get(id);
      if (own === undefined) return [];
      const prior = priorOf(id);
      return periodsIn(own, spanOf(customer)).flatMap((period) =>
        prefixesOf(customer).flatMap((prefix) => queryOf(own, { period, prefix, prior })),
      );
    }),
  );
}

/** What the prefixes of all customers come to, added and taken off, by customer. */
async function readCharges(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  of: { readonly customers: readonly ChargedCustomer[]; readonly reading: ChargeReading },
): Promise<readonly { customerId: string; into: keyof CustomerCharges; charge: MeterCharge }[]> {
  const { customers, reading } = of;
  const bounded = { ...needs, below: reading.ends };
  const invoices = computeInvoices(bounded, occasion, (unit) =>
    findQueries(unit, customers, reading),
  );
  const all: { customerId: string; into: keyof CustomerCharges; charge: MeterCharge }[] = [];
  for await (const computed of invoices) {
    const { query, invoice } = accept(computed);
    const { loaded, isWhole, into, sign } = query;
    const customerId = loaded.subscription.customer_id;
    for (const line of invoice.lines) {
      for (const { within, beyond, ...rest } of chargeOf(line, isWhole)) {
        const charge = { ...rest, within: within.times(sign), beyond: beyond.times(sign) };
        all.push({ customerId, into, charge });
      }
    }
  }
  return all;
}

/**
 * The cost of the usage in a window, late events included. It is the charge of the billing period
 * up to the end of the window, less the charge up to its start. So all windows of a period add up
 * to the usage charge of its invoice, whatever tiers, packages and allowances do.
 */
export async function readUsageCharges(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  {
    customers,
    window: { startMs, endMs },
    ends,
    since,
  }: {
    readonly customers: readonly ChargedCustomer[];
    readonly window: Interval;
    readonly ends: readonly PartitionEnd[];
    readonly since: readonly PartitionEnd[] | null;
  },
): Promise<ReadonlyMap<string, CustomerCharges>> {
  const spanOf = ({ lateSince }: ChargedCustomer): Interval => ({
    startMs: Math.min(startMs, lateSince ?? startMs),
    endMs,
  });
  const lateAt = (sign: 1 | -1) => ({ atMs: startMs, into: 'late' as const, sign });
  const now = await readCharges(needs, occasion, {
    customers,
    reading: {
      ends,
      spanOf,
      prefixesOf: ({ lateSince }) => [
        { atMs: endMs, into: 'own', sign: 1 },
        { atMs: startMs, into: 'own', sign: -1 },
        ...(lateSince === null ? [] : [lateAt(1)]),
      ],
    },
  });
  const late = customers.filter(({ lateSince }) => lateSince !== null);
  const before =
    late.length === 0 || since === null
      ? []
      : await readCharges(needs, occasion, {
          customers: late,
          reading: { ends: since, spanOf, prefixesOf: () => [lateAt(-1)] },
        });
  const all = groupBy([...now, ...before], ({ customerId }) => customerId);
  return new Map(
    [...all].map(([customerId, charges]) => {
      const of = (into: keyof CustomerCharges) =>
        addedUp(charges.filter((one) => one.into === into).map(({ charge }) => charge));
      return [customerId, { own: of('own'), late: of('late') }];
    }),
  );
}
