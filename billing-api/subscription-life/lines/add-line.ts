import { assertPresent } from '../../../runtime/failure.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type {
  LineItemDto,
  LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { redeemCoupons } from '../../coupons/redeem-coupons.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import {
  accept,
  invalid,
  type Refusal,
  Refused,
  reworded,
  unnestedRefusal,
} from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import {
  newAddedLines,
  readAddedLines,
  type AddedLine,
} from '../../subscriptions/lines/added-lines.js';
import { commitLine } from '../../subscriptions/lines/commit-lines.js';
import {
  commitmentProblem,
  givesCommitment,
  readLineCommitment,
  type RequestedCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import type { LineContext } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import { storeLines } from '../../subscriptions/lines/store-lines.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findLineContext } from '../open/lines.js';
import { holdSubscription } from './held-line.js';
import { answeredLine } from './search-lines.js';
import type { AddLineItemBody } from './line-items-dto.js';

/** Where the lines of a request stand, which has only this one. */
const PLACE = 'line_items.0';

/** When a new line begins and ends. */
type Dates = { readonly startMs: InstantMs; readonly endMs: InstantMs | null };

function datesOf(unit: Unit, { subscription }: BilledSubscription, body: AddLineItemBody): Dates {
  const reader = new MemberReader();
  const startMs = reader.instant('start_date', body.start_date) ?? unit.now;
  const endMs = reader.instant('end_date', body.end_date);
  const { current_period_start: earliest, end_date: last } = subscription;
  if (startMs < earliest) {
    reader.note('start_date', `must not be before the running period, ${formatInstant(earliest)}`);
  }
  if (last !== null && startMs >= last) {
    reader.note('start_date', 'must lie before the end of the subscription');
  }
  if (endMs !== null && endMs <= startMs) reader.note('end_date', 'must be later than the start');
  return accept(reader.refusal() ?? { startMs, endMs });
}

/** What a request says of one line, which is not checked against stored records yet. */
type Wanted = {
  readonly lines: readonly AddedLine[];
  readonly commitment: RequestedCommitment | null;
};

function wantedOf(loaded: BilledSubscription, body: AddLineItemBody): Wanted | Refusal {
  const reader = new MemberReader();
  const lines = readAddedLines(reader, [body]);
  const isCommitted = givesCommitment(body);
  if (isCommitted) reader.note(`${PLACE}.commitment_type`, commitmentProblem(loaded.subscription));
  const place = { priceId: PLACE, place: PLACE };
  const commitment = isCommitted ? readLineCommitment(reader, place, body) : null;
  return reader.refusal() ?? { lines, commitment };
}

/** The new line with its commitment, and what storing it needs. */
async function newLineOf(
  unit: Unit,
  { subscription: row }: BilledSubscription,
  { lines, commitment }: Wanted,
): Promise<{ readonly line: NewLine; readonly meters: LineContext['meters'] }> {
  const terms = {
    currency: row.currency,
    billingPeriod: row.billing_period,
    addedLines: lines,
    billingPeriodCount: row.billing_period_count,
    commitments: commitment === null ? [] : [commitment],
  };
  const wanted = { request: terms, subscriptionId: row.id };
  const context = await findLineContext(unit, wanted, { planPrices: [], addons: [] });
  const made = accept(newAddedLines(lines, context));
  const line = assertPresent(made[0], 'the line of a request');
  if (line.price.kind === 'new' && line.price.price.terms.trialPeriodDays !== null) {
    throw new Refused(
      invalid({ [`${PLACE}.price.trial_period_days`]: 'a line that is added has no trial' }),
    );
  }
  const committed = accept(commitment === null ? line : commitLine(line, commitment, context));
  return { line: committed, meters: context.meters };
}

/** Attaches the coupons of a new line, from its start on. */
async function attachCoupons(
  unit: Unit,
  { subscription: row }: BilledSubscription,
  { line, codes }: { readonly line: LineItemRow; readonly codes: readonly string[] },
): Promise<void> {
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = row;
  const every = { billingPeriod, billingPeriodCount, timezone: row.customer_timezone };
  await redeemCoupons(
    unit,
    { subscriptionId: row.id, currency: row.currency, startMs: line.start_date, every },
    codes.map((code, index) => ({ place: `coupons.${index}`, code, lineItemId: line.id })),
  );
}

/** Does the work; what refuses it names the members of a request that has only this line. */
const unnested = <T>(work: () => Promise<T>): Promise<T> =>
  reworded(work, (refusal) => unnestedRefusal(refusal, PLACE));

async function add(unit: Unit, target: ChangeTarget, body: AddLineItemBody): Promise<LineItemRow> {
  const loaded = await holdSubscription(unit, target.id);
  const { subscription: row, related } = loaded;
  accept(targetRefusal(SUBSCRIPTIONS, row, target));
  const dates = datesOf(unit, loaded, body);
  const made = await unnested(async () => newLineOf(unit, loaded, accept(wantedOf(loaded, body))));
  const owner = {
    subscriptionId: row.id,
    customerId: row.customer_id,
    startMs: dates.startMs,
    plan: assertPresent(related.plans.get(row.plan_id), 'the plan of a subscription'),
    isRunning: dates.startMs < row.current_period_end,
  };
  const lines = [{ ...made.line, endMs: dates.endMs }];
  const stored = await unnested(() => storeLines(unit, owner, { lines, meters: made.meters }));
  const line = assertPresent(stored.lineItems[0], 'the line item');
  const { coupons: codes = [] } = body;
  await attachCoupons(unit, loaded, { line, codes });
  return line;
}

/**
 * POST /subscriptions/{id}/lineitems: a line beside those of the plan. What it costs in advance for
 * the rest of the running period is on the next invoice (docs/domain.md 27).
 */
export function addLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: AddLineItemBody },
): Promise<LineItemDto | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) =>
    answeredLine(unit, await add(unit, target, body)),
  );
}
