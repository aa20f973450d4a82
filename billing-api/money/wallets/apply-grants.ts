import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, ONE } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import {
  CREDIT_GRANTS,
  type CreditGrantRow,
} from '../../declarations/credit-grants/credit-grant.resource.js';
import type { GrantApplicationRow } from '../../declarations/money/grant-application.resource.js';
import { GRANT_APPLICATIONS } from '../../declarations/money/grant-application.resource.js';
import {
  payerOf,
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import {
  applicationFrom,
  expiryAfter,
  type GrantDates,
} from '../../domain/calendar/grant-dates.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { findRecords } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { lockDue, type DueQuery } from '../../due/due-items.js';
import { dueStep } from '../../due/due-step.js';
import { findOrStore, lockPrepaidWallets, NEW_WALLET } from './wallets-store.js';
import { findPauses, isPausedAt } from '../../subscriptions/periods/pauses-store.js';
import { giveCredits } from './wallet-operations.js';

const progressRow = z.object({
  id: z.string(),
  applications_made: z.number().int(),
});

/** The job of a single grant that could not be applied with the others. */
const APPLY_GRANT = 'apply-credit-grant';

/** A grant that is due, with how far it is; locked. */
type DueGrant = { readonly grant: CreditGrantRow; readonly made: number };

/**
 * The grants that are due, earliest first. Those that another worker applies are left out, and
 * those of subscriptions that are drafts, or wait for their first payment.
 */
async function lockDueGrants(unit: Unit, due: DueQuery): Promise<readonly DueGrant[]> {
  const where = sql.fragment`NOT EXISTS (SELECT FROM subscriptions AS subscription
    WHERE subscription.id = record.subscription_id
      AND subscription.subscription_status IN ('draft', 'incomplete')
      AND ${rowIsOfEnvironment('subscription')})`;
  const grants = await lockDue(unit, CREDIT_GRANTS, {
    kind: 'grant',
    job: APPLY_GRANT,
    due,
    where,
  });
  if (grants.length === 0) return [];
  const ids = grants.map(({ id }) => id);
  const rows = await unit.tx.any(sql.type(progressRow)`
    SELECT id, applications_made FROM credit_grants
    WHERE id = ANY (${sql.array(ids, 'text')}) AND ${isOfEnvironment}`);
  const made = new Map(rows.map((row) => [row.id, row.applications_made]));
  return grants.map((grant) => ({ grant, made: mustGet(made, grant.id, 'a credit grant') }));
}

function datesOf(
  grant: CreditGrantRow,
  { customer_timezone: timezone }: SubscriptionRow,
): GrantDates {
  const startMs = assertPresent(grant.start_date, 'the start of a grant of a subscription');
  const { period, period_count: count } = grant;
  return {
    anchorMs: grant.credit_grant_anchor ?? startMs,
    startMs,
    endMs: grant.end_date,
    every: period === null || grant.cadence === 'ONETIME' ? null : { period, count: count ?? 1 },
    timezone,
  };
}

const periodRow = z.object({ period_end: instantColumn });

/** The end of the period of a subscription in which an instant lies, also of one that has ended. */
async function periodEndAt(
  { tx }: Unit,
  { id, current_period_end: current }: SubscriptionRow,
  atMs: InstantMs,
): Promise<InstantMs> {
  const at = formatInstant(atMs);
  const period = await tx.maybeOne(sql.type(periodRow)`
    SELECT period_end FROM subscription_periods
    WHERE subscription_id = ${id} AND period_start <= ${at}::timestamptz
      AND period_end > ${at}::timestamptz AND ${isOfEnvironment}
    ORDER BY period_end LIMIT 1`);
  return period?.period_end ?? current;
}

/** The end of the credits of an application (docs/domain.md 21.1). */
async function expiryOf(unit: Unit, { grant, atMs, subscription }: Due): Promise<InstantMs | null> {
  const {
    expiration_type: type,
    expiration_duration: duration,
    expiration_duration_unit: lasting,
  } = grant;
  if (type === 'NEVER') return null;
  if (type === 'DURATION') {
    return expiryAfter(atMs, assertPresent(duration, 'a duration'), {
      unit: assertPresent(lasting, 'the unit of a duration'),
      timezone: subscription.customer_timezone,
    });
  }
  return periodEndAt(unit, subscription, atMs);
}

/** The wallet of a grant: the oldest PRE_PAID one of its currency and rates, or a new one. */
async function lockGrantWallet(
  unit: Unit,
  grant: CreditGrantRow,
  subscription: SubscriptionRow,
): Promise<WalletRow> {
  const { currency } = subscription;
  const customerId = payerOf(subscription);
  const rate = grant.conversion_rate === null ? ONE : decimalOf(grant.conversion_rate);
  const topup =
    grant.topup_conversion_rate === null ? rate : decimalOf(grant.topup_conversion_rate);
  return findOrStore(unit, {
    find: () =>
      unit.tx.maybeOne(sql.type(WALLETS.row)`
        SELECT * FROM wallets
        WHERE customer_id = ${customerId} AND currency = ${currency} AND wallet_type = 'PRE_PAID'
          AND wallet_status = 'active' AND conversion_rate = ${rate.toFixed()}::numeric
          AND topup_conversion_rate = ${topup.toFixed()}::numeric AND ${isOfEnvironment}
        ORDER BY created_at, id LIMIT 1 FOR NO KEY UPDATE`),
    wallet: {
      ...NEW_WALLET,
      conversion_rate: rate,
      topup_conversion_rate: topup,
      config: { allowed_price_types: ['USAGE'] },
      customer_id: customerId,
      currency,
    },
  });
}

type Due = {
  readonly grant: CreditGrantRow;
  readonly subscription: SubscriptionRow;
  readonly sequence: number;
  readonly atMs: InstantMs;
};

async function giveGrant(unit: Unit, due: Due): Promise<string> {
  const { grant, subscription, sequence } = due;
  const wallet = await lockGrantWallet(unit, grant, subscription);
  const moved = await giveCredits(unit, wallet, {
    credits: decimalOf(grant.credits),
    reason: 'SUBSCRIPTION_CREDIT_GRANT',
    reference: { type: 'EXTERNAL', id: grant.id },
    description: grant.name,
    expiryDate: await expiryOf(unit, due),
    priority: grant.priority,
    idempotencyKey: `${grant.id} ${sequence}`,
  });
  return moved.transaction.id;
}

type Outcome = GrantApplicationRow['application_status'];

/** A due application with what its subscription was and is. */
type DueAt = {
  readonly subscription: SubscriptionRow;
  readonly pauses: readonly PauseRow[];
  readonly atMs: InstantMs;
};

/** What a due application becomes, by the status of its subscription then (docs/domain.md 21). */
function outcomeOf({ subscription, pauses, atMs }: DueAt): Outcome | null {
  const { subscription_status: status, end_date: endMs } = subscription;
  if (status === 'draft' || status === 'incomplete') return null;
  if (status === 'cancelled' && (endMs === null || endMs <= atMs)) return 'cancelled';
  // One that follows its parent has no pauses of its own.
  const isPaused = pauses.length === 0 ? status === 'paused' : isPausedAt(pauses, atMs);
  return isPaused ? 'skipped' : 'applied';
}

async function writeProgress(
  { tx }: Unit,
  { id }: CreditGrantRow,
  next: {
    readonly made: number;
    readonly atMs: InstantMs | null;
    readonly hasEnded: boolean;
  },
): Promise<void> {
  const at = next.atMs === null ? null : formatInstant(next.atMs);
  await tx.query(sql.type(noRows)`
    UPDATE credit_grants SET applications_made = ${next.made},
      next_application_at = ${at}::timestamptz, has_ended = ${next.hasEnded}
    WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** Stores what a due application becomes, and schedules the next one. */
async function carryOut(
  unit: Unit,
  due: Due,
  { outcome, dates }: { readonly outcome: Outcome; readonly dates: GrantDates },
): Promise<void> {
  const { grant, subscription, sequence, atMs } = due;
  const given = outcome === 'applied' ? await giveGrant(unit, due) : null;
  await createRecord(unit, GRANT_APPLICATIONS, {
    credit_grant_id: grant.id,
    subscription_id: subscription.id,
    sequence,
    scheduled_for: atMs,
    application_status: outcome,
    wallet_transaction_id: given,
  });
  const next = outcome === 'cancelled' ? null : applicationFrom(dates, sequence + 1);
  const made = sequence + 1;
  await writeProgress(unit, grant, {
    made,
    atMs: next?.atMs ?? null,
    hasEnded: next === null,
  });
}

/** Applies one application of a grant and schedules the next; a future one is only scheduled. */
async function applyOne(
  unit: Unit,
  { grant, made }: DueGrant,
  { subscription, pauses }: Omit<DueAt, 'atMs'>,
): Promise<void> {
  const dates = datesOf(grant, subscription);
  const due = applicationFrom(dates, made);
  if (due === null) {
    await writeProgress(unit, grant, { made, atMs: null, hasEnded: true });
    return;
  }
  const outcome = outcomeOf({ subscription, pauses, atMs: due.atMs });
  if (outcome !== null && due.atMs <= unit.now) {
    const one = { grant, subscription, sequence: due.k, atMs: due.atMs };
    return carryOut(unit, one, { outcome, dates });
  }
  // One that waits for its subscription is looked at again a day later.
  const atMs = outcome === null ? Math.max(due.atMs, unit.now) + WAIT_MS : due.atMs;
  await writeProgress(unit, grant, { made, atMs, hasEnded: false });
}

const WAIT_MS = 86_400_000;

const subscriptionOf = ({ subscription_id: id }: CreditGrantRow): string =>
  assertPresent(id, 'the subscription of a grant');

/** Applies the next application of each of these grants. */
async function applyNext(unit: Unit, due: readonly DueGrant[]): Promise<void> {
  const ids = due.map(({ grant }) => subscriptionOf(grant));
  const subscriptions = await findRecords(unit, SUBSCRIPTIONS, ids);
  const pauses = await findPauses(unit, ids);
  // All wallets before the first head of the ledger, as everywhere.
  await lockPrepaidWallets(unit, [...subscriptions.values()].map(payerOf));
  for (const one of due) {
    const id = subscriptionOf(one.grant);
    const subscription = mustGet(subscriptions, id, 'the subscription of a grant');
    const own = pauses.filter(({ subscription_id: of }) => of === id);
    await applyOne(unit, one, { subscription, pauses: own });
  }
}

/** Applies credit grants that are due, each application once; one that is behind catches up. */
export const GRANTS_DUE = dueStep({
  job: APPLY_GRANT,
  find: lockDueGrants,
  idOf: ({ grant }) => grant.id,
  settle: applyNext,
  isRepeated: true,
});
