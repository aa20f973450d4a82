import { HOUR_MS, type InstantMs, type Interval } from '../../../contract/instant.js';

/**
 * The events of some hours of receipt, by where they are. `accepted` is counted when events are
 * decoded, the other figures when they are read back: they agree when nothing was lost or doubled.
 */
export type Balance = {
  readonly accepted: number;
  readonly counted: number;
  readonly unmatchedCustomer: number;
  readonly unmatchedMeter: number;
  readonly duplicate: number;
  readonly conflict: number;
  /** Removed by an operator (docs/internals/architecture.md D-019). */
  readonly erased: number;
  /** Removed by retention; until then they were counted or unmatched. */
  readonly expired: number;
  /** Taken out of what counts by a correction (docs/domain.md 7.10). */
  readonly withdrawn: number;
  readonly pending: number;
};

export type Reconciliation = {
  readonly hours: readonly (Balance & { readonly hourMs: InstantMs })[];
  readonly totals: Balance;
};

const EMPTY: Balance = {
  accepted: 0,
  counted: 0,
  unmatchedCustomer: 0,
  unmatchedMeter: 0,
  duplicate: 0,
  conflict: 0,
  erased: 0,
  expired: 0,
  withdrawn: 0,
  pending: 0,
};

/** 0 once nothing is pending, unless events were lost or doubled. */
export function differenceOf(balance: Balance): number {
  const { accepted, counted, unmatchedCustomer, unmatchedMeter, duplicate } = balance;
  const { erased, expired, withdrawn, pending } = balance;
  const unmatched = unmatchedCustomer + unmatchedMeter;
  const gone = erased + expired + withdrawn;
  return accepted - counted - unmatched - duplicate - gone - pending;
}

/** The start of the hour that contains an instant. */
export const hourOf = (instant: InstantMs): InstantMs => Math.floor(instant / HOUR_MS) * HOUR_MS;

/** Adds up the figures of several sources by hour. */
export class HourLedger {
  readonly #hours: ReadonlyMap<InstantMs, { -readonly [Member in keyof Balance]: number }>;

  constructor({ startMs, endMs }: Interval) {
    const count = Math.round((endMs - startMs) / HOUR_MS);
    const hours = Array.from({ length: count }, (_, index) => startMs + index * HOUR_MS);
    this.#hours = new Map(hours.map((hourMs) => [hourMs, { ...EMPTY }]));
  }

  /** Adds to the hour that contains the instant; hours outside the range are left out. */
  add(instant: InstantMs, figures: Partial<Balance>): void {
    const hour = this.#hours.get(hourOf(instant));
    if (hour === undefined) return;
    for (const member of Object.keys(EMPTY) as (keyof Balance)[]) {
      hour[member] += figures[member] ?? 0;
    }
  }

  result(): Reconciliation {
    const totals = { ...EMPTY };
    for (const hour of this.#hours.values()) {
      for (const member of Object.keys(EMPTY) as (keyof Balance)[]) totals[member] += hour[member];
    }
    return { hours: [...this.#hours].map(([hourMs, hour]) => ({ hourMs, ...hour })), totals };
  }
}
