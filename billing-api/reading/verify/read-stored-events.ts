import { assertPresent } from '../../../runtime/failure.js';
import { findEffectiveMeters } from '../../catalog/meters/effective-meters.js';
import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { nearerEnds } from '../../domain/usage/watermark.js';
import { readEventPageKey } from '../../events/event-page-key.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { mustRead } from '../../records/unit.js';
import { readLineEventsPage, windowStarts } from '../events/line-events-page.js';
import type { LineEventReadDependencies, LineEvents } from '../events/read-line-events.js';
import { usageOfOwners } from '../../usage/usage-customers.js';
import { partOfLine, usageOwnersOf } from '../../invoicing/compute/usage-owners.js';
import { lineOfInvoice } from './line-of-invoice.js';
import { storedMeter } from '../../invoicing/compute/stored-meter.js';
import { readVerified } from './verify-invoice.js';

export type StoredEventsRequest = {
  readonly id: string;
  readonly lineId: string;
  readonly limit: number;
  readonly cursor: string | undefined;
};

/**
 * The events behind a line of a stored invoice: exactly those below its watermark that its meter,
 * as it was, and its price count. All pages together aggregate to the quantity of the line, now and
 * for as long as the events are kept.
 */
export async function readStoredEvents(
  dependencies: LineEventReadDependencies,
  occasion: Occasion,
  { id, lineId, limit, cursor }: StoredEventsRequest,
): Promise<LineEvents | Refusal> {
  const after = cursor === undefined ? null : readEventPageKey(cursor);
  if (cursor !== undefined && after === null) {
    return invalid({
      cursor: 'must be the next_cursor of an earlier answer; leave it out for the first page',
    });
  }
  const stored = await readVerified(dependencies, occasion, id);
  if (isRefusal(stored)) return stored;
  const found = lineOfInvoice(stored.document, lineId);
  if (isRefusal(found)) return found;
  const { document, line } = found;
  const { usage, window } = line.trace;
  if (usage === null) {
    return new Refusal('invalid_operation', `a ${line.price_type} line has no events`);
  }
  const { inputs, watermark } = decodeSnapshot(stored.computation.inputs);
  const part = partOfLine(inputs, line);
  const item = part.lineItems.find((one) => one.id === line.subscription_line_item_id);
  const lineMeter = assertPresent(item?.meter, 'the meter of a usage line');
  const mark = assertPresent(watermark, 'the watermark of a usage line');
  const now = await mustRead(dependencies, occasion, ({ tx }) =>
    findEffectiveMeters(tx, [lineMeter.id]),
  );
  const meter = storedMeter(lineMeter, mark, now);
  const subscription = {
    customer_timezone: part.subscription.timezone,
    billing_anchor: part.subscription.periods[0].anchor.atMs,
  };
  const page = await readLineEventsPage(dependencies.events, occasion.environment, {
    meter,
    ends: nearerEnds(meter.ends, mark.ends),
    window: meter.resetUsage === 'NEVER' ? { ...window, startMs: 0 } : window,
    windowStartOf: windowStarts(meter, window, { subscription }),
    customers: usageOfOwners(usageOwnersOf(document, part)),
    filterValues: usage.filterValues,
    after,
    limit,
  });
  return { ...page, quantity: usage.raw, eventCount: usage.eventCount };
}
