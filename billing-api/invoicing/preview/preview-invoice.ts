import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import type { Occasion } from '../../records/occasion.js';
import { computeInvoice } from '../compute/compute-invoice.js';
import { documentOfComputed } from '../compute/document-of-computed.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { dueDaysOf, previewPurpose } from '../compute/invoice-purpose.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { discountedMinimumOf } from './discounted-minimum.js';
import { uncountedOf, withEarlierInvoices } from './earlier-invoices.js';
import { findLateOfTasks } from '../drafts/late-queries.js';
import { childQuery } from '../drafts/find-invoice-queries.js';
import { readPreviewPeriod, type PreviewRequest } from './preview-period.js';
import { readGroups } from '../../usage/usage-grouping.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  loadBilledSubscriptions,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { findGroupedPeriods } from '../../subscriptions/periods/periods-store.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { accept, isRefusal, notFound, Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';

type Previewed = {
  readonly loaded: BilledSubscription;
  readonly dueDays: number;
  readonly now: InstantMs;
};

function queryFrom(
  request: PreviewRequest,
  { loaded, dueDays, now }: Previewed,
): InvoiceQuery | Refusal {
  const { terms, related } = loaded;
  const { lineItems, prices } = related;
  const hasFixedLines = lineItems.some(({ price_id: id }) => prices.get(id)?.type === 'FIXED');
  const reader = new MemberReader();
  const period = readPreviewPeriod(reader, request, { terms, hasFixedLines, now });
  const grouping = readGroups(reader, request.group_by);
  const hideZeroCharges = request.hide_zero_charges_line_items ?? false;
  const asked = { grouping, hideZeroCharges, purpose: previewPurpose(dueDays) };
  return reader.refusal() ?? { loaded, period, lineItems, ...asked, now };
}

function isPreviewable({ subscription_status: status }: SubscriptionRow): boolean {
  return isIn(SUBSCRIPTION, 'running', status);
}

const NO_PRIOR = {
  alreadyInvoiced: [],
  priorCommitments: [],
  couponApplicationCounts: new Map<string, number>(),
};

/** Queries with what grouped children add to them (docs/domain.md 29.2). */
async function withGrouped(
  unit: ReadUnit,
  queries: readonly (InvoiceQuery | Refusal)[],
): Promise<readonly (InvoiceQuery | Refusal)[]> {
  const known = queries.filter((query): query is InvoiceQuery => {
    return !isRefusal(query) && query.loaded.subscription.subscription_type === 'parent';
  });
  const grouped = await findGroupedPeriods(
    unit,
    known.map(({ loaded, period }) => ({ id: loaded.subscription.id, period })),
  );
  if (grouped.length === 0) return queries;
  const ids = grouped.map(({ subscriptionId }) => subscriptionId);
  const loaded = await loadBilledSubscriptions(unit, ids);
  const parents = new Map(known.map((query) => [query.loaded.subscription.id, query]));
  const children = grouped.map(({ subscriptionId, parentId, period }) =>
    childQuery(mustGet(loaded, subscriptionId, 'a grouped child'), {
      period,
      prior: NO_PRIOR,
      parent: mustGet(parents, parentId, 'the parent of a child'),
    }),
  );
  const counted = zip(grouped, await withEarlierInvoices(unit, children));
  return queries.map((query) => {
    if (isRefusal(query)) return query;
    const { id } = query.loaded.subscription;
    const own = counted.flatMap(([{ parentId }, child]) => {
      return parentId === id && !isRefusal(child) ? [child] : [];
    });
    return own.length === 0 ? query : { ...query, children: own };
  });
}

/**
 * The invoices that requests ask for: one for each, or why there is none. One statement for each
 * kind of record, whatever the number of requests.
 */
export async function findPreviewQueries(
  unit: ReadUnit,
  requests: readonly PreviewRequest[],
): Promise<readonly (InvoiceQuery | Refusal)[]> {
  const ids = requests.map((request) => request.subscription_id);
  const found = await loadBilledSubscriptions(unit, ids);
  const shown = [...found.values()].map(({ subscription }) => subscription).filter(isPreviewable);
  const dueDays = dueDaysOf(shown, await findInvoiceConfig(unit));
  const queries = requests.map((request) => {
    const { subscription_id: id } = request;
    const loaded = found.get(id);
    if (loaded === undefined) return notFound('subscription', id);
    const inherited = refuseInherited(loaded.subscription, 'has no invoices');
    if (inherited !== null) return inherited;
    const days = dueDays.get(id);
    if (days !== undefined) return queryFrom(request, { loaded, dueDays: days, now: unit.now });
    const problem = `the subscription is ${loaded.subscription.subscription_status}, so it has no invoice to preview`;
    return new Refusal('invalid_operation', problem);
  });
  return withGrouped(unit, await withEarlierInvoices(unit, queries));
}

/** The preview of the running period with what late usage adds to its invoice (13.8). */
async function withLate(unit: ReadUnit, query: InvoiceQuery): Promise<InvoiceQuery> {
  const { id, current_period_start: runningMs } = query.loaded.subscription;
  if (query.period.startMs !== runningMs) return query;
  const task = { subscriptionId: id, period: query.period, invoiceId: null } as const;
  const closing = { ...task, reason: 'SUBSCRIPTION_CYCLE' } as const;
  const lateOf = await findLateOfTasks(unit, [closing]);
  return { ...query, ...lateOf(closing) };
}

/** An invoice that is not stored, and what it could not take into account. */
export type Preview = { readonly document: InvoiceDocument; readonly warnings: readonly string[] };

/** POST /invoices/preview: the invoice of a period as it stands now; nothing is stored. */
export async function previewInvoice(
  dependencies: Parameters<typeof computeInvoice>[0],
  occasion: Occasion,
  request: PreviewRequest,
): Promise<Preview | Refusal> {
  const computed = await computeInvoice(dependencies, occasion, async (unit) => {
    const [query] = await findPreviewQueries(unit, [request]);
    return withLate(unit, accept(assertPresent(query, 'the only query')));
  });
  if (isRefusal(computed)) return computed;
  const warnings = [...uncountedOf(computed.query), ...discountedMinimumOf(computed.invoice)];
  return { document: documentOfComputed(computed), warnings };
}
