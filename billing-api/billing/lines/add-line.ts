import { assertPresent } from '../../../runtime/failure.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type {
  LineItemDto,
  LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, type Refusal, unnestedRefusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { newAddedLines, readAddedLines } from '../../subscriptions/lines/added-lines.js';
import { storeLines } from '../../subscriptions/lines/store-lines.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findLineContext } from '../open-subscription/lines.js';
import { holdSubscription } from './held-line.js';
import { answeredLine } from './search-lines.js';
import type { AddLineItemBody } from './line-items-dto.js';

/** Where the lines of a request stand, which has only this one. */
const PLACE = 'line_items.0';

/** When a new line begins and ends. */
type Dates = { readonly startMs: InstantMs; readonly endMs: InstantMs | null };

function datesOf(
  unit: Unit,
  { subscription }: BilledSubscription,
  body: AddLineItemBody,
): Dates | Refusal {
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
  return reader.refusal() ?? { startMs, endMs };
}

async function add(
  unit: Unit,
  target: ChangeTarget,
  body: AddLineItemBody,
): Promise<LineItemRow | Refusal> {
  const loaded = await holdSubscription(unit, target.id);
  if (isRefusal(loaded)) return loaded;
  const { subscription: row, related } = loaded;
  const moved = targetRefusal(SUBSCRIPTIONS, row, target);
  if (moved !== null) return moved;
  const dates = datesOf(unit, loaded, body);
  if (isRefusal(dates)) return dates;
  const reader = new MemberReader();
  const addedLines = readAddedLines(reader, [body]);
  const problems = reader.refusal();
  if (problems !== null) return unnestedRefusal(problems, PLACE);
  const terms = {
    ...{ currency: row.currency, billingPeriod: row.billing_period, addedLines, commitments: [] },
    billingPeriodCount: row.billing_period_count,
  };
  const wanted = { request: terms, subscriptionId: row.id };
  const context = await findLineContext(unit, wanted, { planPrices: [], addons: [] });
  const made = newAddedLines(addedLines, context);
  if (isRefusal(made)) return unnestedRefusal(made, PLACE);
  if (
    made.some(({ price }) => price.kind === 'new' && price.price.terms.trialPeriodDays !== null)
  ) {
    return invalid({ 'price.trial_period_days': 'a line that is added has no trial' });
  }
  const lines = made.map((one) => ({ ...one, endMs: dates.endMs }));
  const owner = {
    ...{ subscriptionId: row.id, customerId: row.customer_id, startMs: dates.startMs },
    plan: assertPresent(related.plans.get(row.plan_id), 'the plan of a subscription'),
  };
  const stored = await storeLines(unit, owner, { lines, meters: context.meters });
  if (isRefusal(stored)) return unnestedRefusal(stored, PLACE);
  return assertPresent(stored.lineItems[0], 'the line item');
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
