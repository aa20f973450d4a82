import type { InstantMs, Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { commitmentWindowAt } from '../../domain/commitment/commitment-window.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { reopenLastRow } from '../../domain/periods/ledger-rows.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/** Commitments whose windows a change of plan cuts: it trues up none of them. */
export type CutCommitments = {
  /** Whether that of the subscription is one. */
  readonly isOwn: boolean;
  readonly lineItemIds: ReadonlySet<string>;
};

type Committed = Pick<BilledSubscription, 'subscription' | 'terms' | 'related'>;

/**
 * The commitments whose running windows go on beyond an instant (docs/domain.md 11.2). Those for
 * each bucket of usage are none: their windows are as short as the buckets.
 */
export function cutCommitments(
  { subscription, terms, related }: Committed,
  atMs: InstantMs,
): CutCommitments {
  const { current_period_start: startMs } = subscription;
  const own = terms.commitment;
  const isCut = (span: Parameters<typeof commitmentWindowAt>[2]): boolean =>
    commitmentWindowAt(terms, startMs, span).endMs > atMs;
  const lines = related.lineItems.filter((item) => {
    const { commitment_type: type, commitment_windowed: isWindowed, price_id: id } = item;
    if (type === null || isWindowed) return false;
    const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = mustGet(
      related.prices,
      id,
      'the price of a line item',
    );
    const billing = lineBillingOf({ billingPeriod, billingPeriodCount }, terms);
    return isCut({ ...billing, duration: item.commitment_duration });
  });
  return {
    isOwn: own !== null && isCut({ ...own, every: terms, steps: 1 }),
    lineItemIds: new Set(lines.map(({ id }) => id)),
  };
}

/** The subscription as if what is left of these commitments were not charged. */
export function withoutTrueUp<S extends Committed>(
  loaded: S,
  { isOwn, lineItemIds }: CutCommitments,
): S {
  const { terms, related } = loaded;
  const commitment =
    isOwn && terms.commitment !== null
      ? { ...terms.commitment, isTrueUpEnabled: false }
      : terms.commitment;
  const lineItems = related.lineItems.map((item) =>
    lineItemIds.has(item.id) ? { ...item, commitment_true_up_enabled: false } : item,
  );
  return { ...loaded, terms: { ...terms, commitment }, related: { ...related, lineItems } };
}

/**
 * A subscription as its last period is billed when its plan was changed in it, whenever that is
 * computed; any other one as it is. Only those whose plan was changed are archived.
 */
export function asChanged<S extends Committed>(loaded: S, period: Interval): S {
  const { subscription, terms } = loaded;
  const { status, end_date: endMs } = subscription;
  if (status !== 'archived' || endMs === null || period.endMs !== endMs) return loaded;
  const open = { ...terms, ...reopenLastRow({ ...terms, endMs: null }) };
  return withoutTrueUp(loaded, cutCommitments({ ...loaded, terms: open }, endMs));
}
