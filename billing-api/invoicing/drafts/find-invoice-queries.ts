import type { InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { endLedger } from '../../domain/periods/ledger-rows.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  loadBilledSubscriptions,
  pausedUntil,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import {
  findGroupedPeriods,
  type GroupedPeriod,
} from '../../subscriptions/periods/periods-store.js';
import { DUE_DAYS_DEFAULT } from '../../domain/invoice/pricing/due-date.js';
import { findInvoiceConfig, type InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import { dueDaysOf, type InvoicePurpose } from '../compute/invoice-purpose.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import { findLateOfTasks, type LateOfTask } from './late-queries.js';
import { asChanged, cutCommitments, withoutTrueUp } from './cut-commitments.js';
import { referencePointOf, storedIdsOf, type InvoiceTask } from './invoice-task.js';
import { lookBackFrom } from './look-back.js';
import { findPriorInvoices, NO_PRIOR_INVOICES, type PriorInvoices } from './prior-invoices.js';
import { findRevisions, NO_INVOICES, type Revision } from './revisions.js';

/** An invoice that is computed to be stored. */
export type StoredQuery = InvoiceQuery & {
  readonly task: InvoiceTask;
  /** The invoices of the subscription as they were read; others may change them meanwhile. */
  readonly revision: Revision;
  readonly children: readonly StoredChild[];
  /** How the invoice is numbered and falls due. */
  readonly config: InvoiceConfig;
};

/** A grouped child whose lines are stored with it. */
export type StoredChild = InvoiceQuery & Pick<StoredQuery, 'revision'>;

type Known = {
  readonly loaded: BilledSubscription;
  readonly prior: PriorInvoices;
  readonly dueDays: number;
  readonly revision: Revision;
  readonly now: InstantMs;
  readonly children: readonly StoredChild[];
  readonly config: InvoiceConfig;
  /** Absent means none: nothing was billed before. */
  readonly late?: LateOfTask;
};

/** Whether the period after this one begins with a pause (docs/domain.md 26). */
function isAdvanceHeld(
  { reason, period }: Pick<InvoiceTask, 'reason' | 'period'>,
  { pauses }: BilledSubscription,
): boolean {
  if (reason !== 'SUBSCRIPTION_CYCLE') return false;
  return pauses.some(
    (pause) =>
      pause.pause_mode === 'period_end' &&
      pause.pause_status !== 'cancelled' &&
      pause.pause_start === period.endMs,
  );
}

function purposeOf(task: InvoiceTask, { prior, dueDays, loaded }: Known): InvoicePurpose {
  const { reason, unused = [] } = task;
  return {
    isAdvanceHeld: isAdvanceHeld(task, loaded),
    ...prior,
    billingReason: reason,
    referencePoint: referencePointOf(reason),
    // Wallets pay when it is finalized (docs/domain.md 20.7).
    wallets: [],
    dueDays,
    unused,
  };
}

function queryFrom(task: InvoiceTask, known: Known): StoredQuery {
  const { loaded, revision, now, children, config } = known;
  return {
    task,
    revision,
    children,
    config,
    loaded,
    period: task.period,
    invoiceId: task.invoiceId,
    lineItems: loaded.related.lineItems,
    grouping: NO_GROUPING,
    hideZeroCharges: false,
    purpose: purposeOf(task, known),
    now,
    ...known.late,
  };
}

/** A subscription as it will be stored when it has ended at an instant of its running period. */
function endedAt(
  given: BilledSubscription,
  atMs: InstantMs,
  isContinued: boolean,
): BilledSubscription {
  const paused = pausedUntil(given, atMs);
  const loaded = isContinued ? withoutTrueUp(paused, cutCommitments(paused, atMs)) : paused;
  const { subscription, terms } = loaded;
  const end = { end_date: atMs, cancel_at: atMs, current_period_end: atMs };
  return {
    ...loaded,
    subscription: { ...subscription, ...end },
    terms: { ...terms, ...endLedger(terms, atMs) },
  };
}

/** The tasks whose invoices may have lines of grouped children: those that close a period. */
function closingOf(tasks: readonly InvoiceTask[]) {
  const closing = tasks.filter(({ reason }) => reason === 'SUBSCRIPTION_CYCLE');
  return closing.map(({ subscriptionId: id, period }) => ({ id, period }));
}

function groupedOf(
  { subscriptionId, period, reason }: InvoiceTask,
  grouped: readonly GroupedPeriod[],
): readonly GroupedPeriod[] {
  if (reason !== 'SUBSCRIPTION_CYCLE') return [];
  return grouped.filter(({ parentId, period: { endMs } }) => {
    return parentId === subscriptionId && endMs > period.startMs && endMs <= period.endMs;
  });
}

/** What a grouped child adds to the invoice of its parent, before usage is read. */
export function childQuery(
  given: BilledSubscription,
  known: {
    readonly period: InvoiceQuery['period'];
    readonly prior: PriorInvoices;
    readonly parent: Pick<InvoiceQuery, 'grouping' | 'hideZeroCharges' | 'now'>;
  },
): InvoiceQuery {
  const { period, prior, parent } = known;
  const loaded = asChanged(given, period);
  const { grouping, hideZeroCharges, now } = parent;
  const purpose: InvoicePurpose = {
    ...prior,
    billingReason: 'SUBSCRIPTION_CYCLE',
    referencePoint: 'period_end',
    wallets: [],
    dueDays: DUE_DAYS_DEFAULT,
    isAdvanceHeld: isAdvanceHeld({ reason: 'SUBSCRIPTION_CYCLE', period }, loaded),
  };
  const { lineItems } = loaded.related;
  return { loaded, period, lineItems, grouping, hideZeroCharges, purpose, now };
}

/**
 * As `findInvoiceQueries`, of the first invoice of a subscription that the unit has made. Nothing
 * was invoiced before but of those whose commitment goes on.
 */
export async function findFirstQuery(
  unit: ReadUnit,
  task: InvoiceTask,
  { made, config }: { readonly made: BilledSubscription; readonly config: InvoiceConfig },
): Promise<StoredQuery> {
  const loaded = asChanged(made, task.period);
  const { id, commitment_origin_id: originId } = loaded.subscription;
  const since = lookBackFrom(loaded, task.period);
  const asked = { subscriptionIds: [id], exceptIds: [], since };
  const prior = originId === null ? NO_PRIOR_INVOICES : (await findPriorInvoices(unit, asked))(id);
  const dueDays = dueDaysOf([loaded.subscription], config);
  return queryFrom(task, {
    loaded,
    prior,
    dueDays: mustGet(dueDays, id, 'the days until an invoice is due'),
    revision: NO_INVOICES,
    now: unit.now,
    children: [],
    config,
  });
}

/** The subscriptions with these ids; those that tasks bring along are not read again. */
async function loadUnread(
  unit: ReadUnit,
  tasks: readonly InvoiceTask[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, BilledSubscription>> {
  const given = tasks.flatMap(({ loaded }) => (loaded === undefined ? [] : [loaded]));
  const known = new Map(given.map((loaded) => [loaded.subscription.id, loaded]));
  const unread = ids.filter((id) => !known.has(id));
  return new Map([...known, ...(await loadBilledSubscriptions(unit, unread))]);
}

/**
 * What is to be computed for tasks of different subscriptions, or why one cannot be. One statement
 * for each kind of record, whatever the number of tasks.
 */
export async function findInvoiceQueries(
  unit: ReadUnit,
  tasks: readonly InvoiceTask[],
): Promise<readonly (StoredQuery | Refusal)[]> {
  const grouped = await findGroupedPeriods(unit, closingOf(tasks));
  const ofChildren = grouped.map(({ subscriptionId }) => subscriptionId);
  const ids = [...tasks.map(({ subscriptionId }) => subscriptionId), ...ofChildren];
  const subscriptions = await loadUnread(unit, tasks, ids);
  const found = tasks.map((task) => {
    const loaded = subscriptions.get(task.subscriptionId);
    if (loaded === undefined) return notFound('subscription', task.subscriptionId);
    const { endsAtMs, isContinued = false } = task;
    if (endsAtMs === undefined) return { task, loaded: asChanged(loaded, task.period) };
    return { task, loaded: endedAt(loaded, endsAtMs, isContinued) };
  });
  const known = found.flatMap((one) => (isRefusal(one) ? [] : [one]));
  const rows = known.map(({ loaded }) => loaded.subscription);
  const config = await findInvoiceConfig(unit);
  const dueDays = dueDaysOf(rows, config);
  const revisions = await findRevisions(unit, ids);
  const priorOf = await findPriorInvoices(unit, {
    subscriptionIds: [...rows.map(({ id }) => id), ...ofChildren],
    exceptIds: storedIdsOf(tasks),
    since: Math.min(
      ...known.map(({ task, loaded }) => lookBackFrom(loaded, task.period)),
      ...grouped.map(({ subscriptionId: id, period }) =>
        lookBackFrom(mustGet(subscriptions, id, 'a grouped child'), period),
      ),
    ),
  });
  const childrenOf = (task: InvoiceTask): readonly StoredChild[] => {
    const parent = { grouping: NO_GROUPING, hideZeroCharges: false, now: unit.now };
    return groupedOf(task, grouped).map(({ subscriptionId: id, period }) => ({
      ...childQuery(mustGet(subscriptions, id, 'a grouped child'), {
        period,
        prior: priorOf(id),
        parent,
      }),
      revision: revisions(id),
    }));
  };
  const lateOf = await findLateOfTasks(unit, tasks);
  return found.map((one) => {
    if (isRefusal(one)) return one;
    const { task, loaded } = one;
    const { id } = loaded.subscription;
    return queryFrom(task, {
      late: lateOf(task),
      loaded,
      prior: priorOf(id),
      dueDays: mustGet(dueDays, id, 'the days until an invoice is due'),
      revision: revisions(id),
      now: unit.now,
      children: childrenOf(task),
      config,
    });
  });
}
