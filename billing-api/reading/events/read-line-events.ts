import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { nearerEnds } from '../../domain/usage/watermark.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { EventStore } from '../../events/events-store.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { computeInvoice } from '../../invoicing/compute/compute-invoice.js';
import { readLineEventsPage, windowStarts, type LineEventsPage } from './line-events-page.js';
import { findLineEventsQuery, type LineEventsRequest } from './line-events-query.js';

export type LineEvents = LineEventsPage & {
  /** Of all pages: the aggregate of all events behind the line. */
  readonly quantity: Decimal;
  readonly eventCount: number;
};

export type LineEventReadDependencies = UsageReadDependencies & { readonly events: EventStore };

const NO_EVENTS: LineEvents = { items: [], nextCursor: null, quantity: ZERO, eventCount: 0 };

/**
 * The events behind a usage line over a period, by timestamp and id (docs/domain.md 13.6). They
 * pass the filters of the meter and the price, and lie below the watermark. So they aggregate to
 * the quantity of the line.
 */
export async function readLineEvents(
  dependencies: LineEventReadDependencies,
  occasion: Occasion,
  request: LineEventsRequest,
): Promise<LineEvents | Refusal> {
  const computed = await computeInvoice(dependencies, occasion, (unit) =>
    findLineEventsQuery(unit, request),
  );
  if (isRefusal(computed)) return computed;
  const { query, usageOf, metering, invoice, watermark } = computed;
  // A commitment of the subscription may add a line without usage.
  const line = invoice.lines.find(({ trace }) => trace.usage !== null);
  const { usage, window } = line?.trace ?? { usage: null, window: null };
  if (usage === null) return NO_EVENTS;
  const meter = assertPresent(metering.effectiveMeters.get(usage.meterId), 'the meter of a line');
  const page = await readLineEventsPage(dependencies.events, occasion.environment, {
    meter,
    ends: nearerEnds(meter.ends, watermark.ends),
    window: meter.resetUsage === 'NEVER' ? { ...window, startMs: 0 } : window,
    windowStartOf: windowStarts(meter, window, query.loaded),
    customers: usageOfOwners(usageOf),
    filterValues: usage.filterValues,
    after: query.after,
    limit: request.limit,
  });
  return { ...page, quantity: usage.raw, eventCount: usage.eventCount };
}
