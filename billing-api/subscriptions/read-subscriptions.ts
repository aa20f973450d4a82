import type { InstantMs } from '../../contract/instant.js';
import type { CustomerRow } from '../customers/customer.resource.js';
import { findCustomerByExternalId, findCustomers } from '../customers/customers-store.js';
import type { PlanRow } from '../catalog/plans/plan.resource.js';
import { findPlans } from '../catalog/plans/plans-store.js';
import { findPrices, type PriceRow } from '../catalog/prices/prices-store.js';
import {
  endsAfter,
  isDue,
  isEqual,
  isOneOf,
  isOtherThan,
  type Conditions,
} from '../records/conditions.js';
import { searchTable, type Page } from '../records/search-table.js';
import {
  SUBSCRIPTIONS,
  findLineItems,
  findSubscription,
  type LineItemRow,
  type SubscriptionRow,
} from './subscriptions-store.js';
import {
  type ReadDependencies,
  type ReadUnit,
  type Transaction,
  readUnit,
} from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../records/search-request.js';

export type SubscriptionExpandable = 'customer' | 'plan';

export type SubscriptionSearchRequest = SearchBodyRequest & {
  readonly active_at?: string | undefined;
  readonly billing_cadence?: readonly string[] | undefined;
  readonly billing_period?: readonly string[] | undefined;
  readonly customer_id?: string | undefined;
  readonly customer_ids?: readonly string[] | undefined;
  readonly external_customer_id?: string | undefined;
  readonly invoicing_customer_ids?: readonly string[] | undefined;
  readonly parent_subscription_ids?: readonly string[] | undefined;
  readonly plan_id?: string | undefined;
  readonly subscription_ids?: readonly string[] | undefined;
  readonly subscription_status?: readonly string[] | undefined;
  readonly subscription_type?: readonly string[] | undefined;
  readonly effective_date_for_update?: string | undefined;
  readonly trial_end_due_lte?: string | undefined;
  readonly with_line_items?: boolean | undefined;
};

/** What subscriptions refer to: their plans always, the rest as far as it was asked for. */
export type SubscriptionSurroundings = {
  readonly customers: ReadonlyMap<string, CustomerRow>;
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly lineItems: readonly LineItemRow[];
  readonly prices: ReadonlyMap<string, PriceRow>;
};

/** The prices of line items, and those of the time buckets on these (domain.md 11.5). */
async function findPricesOfLines(
  transaction: Transaction,
  lineItems: readonly LineItemRow[],
): Promise<ReadonlyMap<string, PriceRow>> {
  const prices = await findPrices(
    transaction,
    lineItems.map((item) => item.price_id),
  );
  const buckets = [...prices.values()].flatMap((price) => price.commitment_time_buckets ?? []);
  const ids = buckets.map((bucket) => bucket.price_id);
  return new Map([...(await findPrices(transaction, ids)), ...prices]);
}

export async function findSurroundings(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
  wish: { readonly withCustomers: boolean; readonly withLineItems: boolean },
): Promise<SubscriptionSurroundings> {
  const ids = wish.withLineItems ? rows.map((row) => row.id) : [];
  const lineItems = await findLineItems(transaction, ids);
  const customerIds = wish.withCustomers ? rows.map((row) => row.customer_id) : [];
  return {
    lineItems,
    customers: await findCustomers(transaction, customerIds),
    plans: await findPlans(
      transaction,
      rows.map((row) => row.plan_id),
    ),
    prices: await findPricesOfLines(transaction, lineItems),
  };
}

/** A subscription with the records that belong to it. */
export type LoadedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly surroundings: SubscriptionSurroundings;
};

/** A subscription with everything that belongs to it, whatever its status. */
export async function loadSubscription(
  { tx }: ReadUnit,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  const subscription = await findSubscription(tx, id);
  if (subscription === null) return notFound('subscription', id);
  const wish = { withCustomers: true, withLineItems: true };
  return { subscription, surroundings: await findSurroundings(tx, [subscription], wish) };
}

/** GET /subscriptions/{id}. */
export function readSubscription(
  dependencies: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) => loadSubscription(unit, id));
}

type SearchDates = {
  readonly activeAtMs: InstantMs | null;
  readonly updateDueMs: InstantMs | null;
  readonly trialDueMs: InstantMs | null;
};

function readDates(request: SubscriptionSearchRequest): SearchDates | Refusal {
  const reader = new MemberReader();
  const dates = {
    activeAtMs: reader.instant('active_at', request.active_at),
    updateDueMs: reader.instant('effective_date_for_update', request.effective_date_for_update),
    trialDueMs: reader.instant('trial_end_due_lte', request.trial_end_due_lte),
  };
  return reader.refusal() ?? dates;
}

/** Started, not a draft and not ended (api.md 5.1). */
function isActiveAt(instant: InstantMs | null): Conditions<string> {
  if (instant === null) return [];
  return [
    ...isDue(['start_date'], instant),
    ...isOtherThan('subscription_status', 'draft'),
    ...endsAfter('end_date', instant),
  ];
}

function conditionsOf(request: SubscriptionSearchRequest, dates: SearchDates): Conditions<string> {
  return [
    ...isActiveAt(dates.activeAtMs),
    ...isOneOf('billing_cadence', request.billing_cadence),
    ...isOneOf('billing_period', request.billing_period),
    ...isEqual('customer_id', request.customer_id),
    ...isOneOf('customer_id', request.customer_ids),
    ...isOneOf('invoicing_customer_id', request.invoicing_customer_ids),
    ...isOneOf('parent_subscription_id', request.parent_subscription_ids),
    ...isEqual('plan_id', request.plan_id),
    ...isOneOf('id', request.subscription_ids),
    ...isOneOf('subscription_status', request.subscription_status),
    ...isOneOf('subscription_type', request.subscription_type),
    ...isDue(['current_period_end', 'cancel_at'], dates.updateDueMs),
    ...isDue(['trial_end'], dates.trialDueMs),
  ];
}

/** An external id that no published customer has finds nothing. */
async function ofExternalCustomer(
  transaction: Transaction,
  externalId: string | undefined,
): Promise<Conditions<string>> {
  if (externalId === undefined) return [];
  const customer = await findCustomerByExternalId(transaction, externalId);
  return isOneOf('customer_id', customer === null ? [] : [customer.id]);
}

export type SubscriptionPage = Page<SubscriptionRow> & {
  readonly command: SearchCommand<SubscriptionExpandable>;
  readonly surroundings: SubscriptionSurroundings;
};

/** POST /subscriptions/search. */
export async function searchSubscriptions(
  { database }: ReadDependencies,
  caller: Caller,
  request: SubscriptionSearchRequest,
): Promise<SubscriptionPage | Refusal> {
  const expandable: readonly SubscriptionExpandable[] = ['customer', 'plan'];
  const command = readSearch(request, { members: SUBSCRIPTIONS.members, expandable });
  if (isRefusal(command)) return command;
  const dates = readDates(request);
  if (isRefusal(dates)) return dates;
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const extra = [
      ...conditionsOf(request, dates),
      ...(await ofExternalCustomer(transaction, request.external_customer_id)),
    ];
    const page = await searchTable(transaction, SUBSCRIPTIONS, { command, extra });
    const surroundings = await findSurroundings(transaction, page.rows, {
      withCustomers: command.expand.has('customer'),
      withLineItems: request.with_line_items === true,
    });
    return { ...page, command, surroundings };
  });
}
