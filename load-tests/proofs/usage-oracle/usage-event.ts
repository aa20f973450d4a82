/** An event as it was sent, with what the service knows of its receipt. */
export type OracleEvent = {
  readonly eventId: string;
  readonly eventName: string;
  readonly externalCustomerId: string | null;
  readonly customerId: string | null;
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** Rank of the time of receipt: equal for events received at the same millisecond. */
  readonly receipt: number;
  readonly properties: ReadonlyMap<string, string>;
};

/** A customer that exists. */
export type OracleCustomer = { readonly id: string; readonly externalId: string };

/** What `property` holds, null when the event does not have it. */
export function propertyOf(event: OracleEvent, name: string): string | null {
  return event.properties.get(name) ?? null;
}
