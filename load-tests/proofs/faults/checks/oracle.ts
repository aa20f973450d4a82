import type { Ledger } from '../load/ledger.js';
import { FOLDS, isMetered, type EventBody, type UsageMeter } from '../load/usage-meter.js';
import { eventTextOf, type EventText } from './read-log.js';

const MINUTE_MS = 60_000;

/** The customer text of a usage row, by docs/domain.md 7.2. */
function customerKeyOf(body: EventBody): string {
  return body.external_customer_id === undefined
    ? `i:${body.customer_id ?? ''}`
    : `e:${body.external_customer_id}`;
}

/** What the log and the stores must say of an event. */
export function eventTextOfBody(body: EventBody): EventText {
  return eventTextOf({
    name: body.event_name,
    external: body.external_customer_id ?? null,
    internal: body.customer_id ?? null,
    source: body.source,
    timestampMs: Date.parse(body.timestamp),
    properties: body.properties,
  });
}

/**
 * The slow and obvious model: usage of one meter from what the clients sent, keyed by customer,
 * minute and source. Every id counts once, as what it was first.
 */
export function expectedUsage(ledger: Ledger, meter: UsageMeter): ReadonlyMap<string, string> {
  const buckets = new Map<string, EventBody[]>();
  for (const { environment, body } of ledger.sent.values()) {
    if (environment !== meter.environment || !isMetered(meter, body)) continue;
    const atMs = Date.parse(body.timestamp);
    const minuteMs = atMs - (((atMs % MINUTE_MS) + MINUTE_MS) % MINUTE_MS);
    const key = `${customerKeyOf(body)}|${minuteMs}|${body.source}`;
    const bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, [body]);
    else bucket.push(body);
  }
  return new Map([...buckets].map(([key, events]) => [key, FOLDS[meter.aggregation](events)]));
}
