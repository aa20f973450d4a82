import type { OracleFilter, OracleMeter } from './meter.js';
import { propertyOf, type OracleCustomer, type OracleEvent } from './usage-event.js';

/** The first accepted event of every id, in the order of acceptance (docs/domain.md 7.1). */
export function withoutDuplicates(accepted: readonly OracleEvent[]): readonly OracleEvent[] {
  const seen = new Set<string>();
  return accepted.filter((event) => {
    const isFirst = !seen.has(event.eventId);
    seen.add(event.eventId);
    return isFirst;
  });
}

/** Whose event it is, null while that customer does not exist (docs/domain.md 7.2). */
export function customerOf(
  event: OracleEvent,
  customers: readonly OracleCustomer[],
): OracleCustomer | null {
  const found =
    event.externalCustomerId !== null
      ? customers.find(({ externalId }) => externalId === event.externalCustomerId)
      : customers.find(({ id }) => id === event.customerId);
  return found ?? null;
}

function passes(event: OracleEvent, { key, values }: OracleFilter): boolean {
  const text = propertyOf(event, key);
  return text !== null && values.includes(text);
}

/** Event name and every filter agree (docs/domain.md 7.3). */
export function matches(
  meter: Pick<OracleMeter, 'eventName' | 'filters'>,
  event: OracleEvent,
): boolean {
  const isNamed = event.eventName.trim() === meter.eventName.trim();
  return isNamed && meter.filters.every((filter) => passes(event, filter));
}
