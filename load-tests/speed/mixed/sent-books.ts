import type { EventTail } from '../load/access-log-properties.js';
import { JOB, mixEvent, REGIONS, REQUEST, type Region, type Repeat } from './event-plan.js';

/** Numbers of accepted events, one bit each, so that an hour of them fits into some megabytes. */
class NumberSet {
  #bits = new Uint8Array(1 << 16);

  has(number: number): boolean {
    return ((this.#bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  add(number: number): void {
    const at = number >> 3;
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(at + 1, 2 * this.#bits.length));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & 7));
  }
}

/** A repeat is looked for among so many earlier events before the slot gets a new one instead. */
const SEARCH_MAX = 64;
/** As far as a recent repeat reaches back. */
const RECENT = 20_000;
const DELIVERED: ReadonlySet<string> = new Set(['200', '206']);

type Totals = {
  /** Every event that was answered 202, repeats included. */
  accepted: number;
  /** Different ids among them. */
  distinct: number;
  repeats: number;
  conflicts: number;
  unknownCustomer: number;
  /** Of known customers, with a name that no meter counts. */
  unmetered: number;
};

/** What the client knows of its own sending: the counts that the product must arrive at. */
export class SentBooks {
  readonly totals: Totals = {
    accepted: 0,
    distinct: 0,
    repeats: 0,
    conflicts: 0,
    unknownCustomer: 0,
    unmetered: 0,
  };
  /** Events of known customers: by name, requests by customer, jobs by region. */
  readonly byName = new Map([
    [REQUEST, 0],
    [JOB, 0],
  ]);
  readonly requestsOf = new Map<number, number>();
  readonly #jobsIn = new Map<Region, number>();
  /** Requests whose status the filter of a meter takes. */
  delivered = 0;
  /** Requests of known customers that were sent, accepted yet or not: usage cannot count more. */
  requestsOffered = 0;
  readonly #accepted = new NumberSet();
  readonly #isDelivered: readonly boolean[];
  #greatest = 0;

  constructor(private readonly tails: readonly EventTail[]) {
    this.#isDelivered = tails.map((tail) => {
      const { properties } = JSON.parse(`{${tail}`) as { properties: { status: number } };
      return DELIVERED.has(String(properties.status));
    });
  }

  /** Notes a new event that is about to be sent for the first time. */
  offerNew(number: number): void {
    const { customer, name } = mixEvent(number, this.tails.length);
    if (customer !== null && name === REQUEST) this.requestsOffered += 1;
  }

  /** Books a new event that was answered 202. */
  acceptNew(number: number): void {
    this.#accepted.add(number);
    this.#greatest = Math.max(this.#greatest, number);
    this.totals.accepted += 1;
    this.totals.distinct += 1;
    const { customer, name, region, tail } = mixEvent(number, this.tails.length);
    if (customer === null) {
      this.totals.unknownCustomer += 1;
      return;
    }
    const before = this.byName.get(name);
    if (before === undefined) {
      this.totals.unmetered += 1;
      return;
    }
    this.byName.set(name, before + 1);
    if (name === JOB) this.#jobsIn.set(region, (this.#jobsIn.get(region) ?? 0) + 1);
    else {
      this.requestsOf.set(customer, (this.requestsOf.get(customer) ?? 0) + 1);
      if (this.#isDelivered[tail] === true) this.delivered += 1;
    }
  }

  /** Books a repeat that was answered 202. */
  acceptRepeat(isConflict: boolean): void {
    this.totals.accepted += 1;
    this.totals.repeats += 1;
    if (isConflict) this.totals.conflicts += 1;
  }

  /** An event that was accepted before, for a repeat; null when none is near the place. */
  findAccepted({ isRecent, at }: Repeat): number | null {
    const reach = isRecent ? Math.min(RECENT, this.#greatest) : this.#greatest;
    const first = this.#greatest - Math.floor(at * reach);
    for (let number = first; number >= Math.max(0, first - SEARCH_MAX); number -= 1) {
      if (this.#accepted.has(number)) return number;
    }
    return null;
  }

  /** Jobs in these regions. */
  jobsIn(regions: readonly Region[]): number {
    return regions.reduce((sum, region) => sum + (this.#jobsIn.get(region) ?? 0), 0);
  }

  get requests(): number {
    return this.byName.get(REQUEST) ?? 0;
  }

  get jobs(): number {
    return this.jobsIn(REGIONS);
  }

  /** What is counted: their customer and a meter exist. */
  get counted(): number {
    const { distinct, unknownCustomer, unmetered } = this.totals;
    return distinct - unknownCustomer - unmetered;
  }
}
