import { readEventPageKey, type EventPageKey } from '../../events/event-page-key.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { findLineItem } from '../../subscriptions/subscriptions-store.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import { DUE_DAYS_DEFAULT } from '../../domain/invoice/pricing/due-date.js';
import { previewPurpose } from '../../invoicing/compute/invoice-purpose.js';
import type { InvoiceQuery } from '../../invoicing/compute/invoice-query.js';
import { readRequestedPeriod } from '../../invoicing/compute/requested-period.js';

export type LineEventsRequest = {
  readonly id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

/** The invoice of one line, and the event after which its page of events begins. */
export type LineEventsQuery = InvoiceQuery & { readonly after: EventPageKey | null };

async function findLine(
  unit: ReadUnit,
  id: string,
): Promise<{ readonly row: LineItemRow; readonly loaded: BilledSubscription }> {
  const row = await findLineItem(unit.tx, id);
  if (row === null) throw new Refused(notFound('line item', id));
  if (row.price_type !== 'USAGE') {
    throw new Refused(
      new Refusal('invalid_operation', `a ${row.price_type} line has no events; name a USAGE line`),
    );
  }
  const loaded = await loadBilledSubscription(unit, row.subscription_id);
  return { row, loaded };
}

/** The line as an invoice of the requested period has it, and the page of its events. */
export async function findLineEventsQuery(
  unit: ReadUnit,
  request: LineEventsRequest,
): Promise<LineEventsQuery> {
  const found = await findLine(unit, request.id);
  const { row, loaded } = found;
  const reader = new MemberReader();
  const period = readRequestedPeriod(
    reader,
    { start: ['period_start', request.period_start], end: ['period_end', request.period_end] },
    { terms: loaded.terms, now: unit.now },
  );
  const after = request.cursor === undefined ? null : readEventPageKey(request.cursor);
  if (request.cursor !== undefined && after === null) {
    reader.note(
      'cursor',
      'must be the next_cursor of an earlier answer; leave it out for the first page',
    );
  }
  // The answer has no due date.
  const purpose = previewPurpose(DUE_DAYS_DEFAULT);
  const shown = { lineItems: [row], grouping: NO_GROUPING, hideZeroCharges: false, purpose };
  return accept(reader.refusal() ?? { loaded, period, ...shown, now: unit.now, after });
}
