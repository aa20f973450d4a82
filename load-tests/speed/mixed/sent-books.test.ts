import { describe, expect, it } from 'vitest';
import { readEventTails } from '../load/access-log-properties.js';
import { JOB, mixEvent, mixEventJson, REGIONS, repeatOf, REQUEST } from './event-plan.js';
import { SentBooks } from './sent-books.js';

type Sent = {
  readonly event_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string | number>>;
};

const tails = await readEventTails();
const SENT_AT_MS = Date.UTC(2026, 10, 23);

function sent(number: number, isConflict = false): Sent {
  return JSON.parse(mixEventJson({ number, tails, sentAtMs: SENT_AT_MS, isConflict })) as Sent;
}

describe('the books of the mixed load', () => {
  it('count what was sent, as a count of the events themselves does', () => {
    const books = new SentBooks(tails);
    const events = Array.from({ length: 20_000 }, (_, number) => {
      books.acceptNew(number);
      return sent(number);
    });
    const isKnown = (event: Sent): boolean => event.external_customer_id.startsWith('customer-');
    const known = events.filter(isKnown);
    const requests = known.filter((event) => event.event_name === REQUEST);
    const jobs = known.filter((event) => event.event_name === JOB);
    expect(new Set(events.map((event) => event.event_id)).size).toBe(20_000);
    expect(books.totals.unknownCustomer).toBe(20_000 - known.length);
    expect(books.totals.unknownCustomer).toBeGreaterThan(50);
    expect(books.requests).toBe(requests.length);
    expect(books.jobs).toBe(jobs.length);
    expect(books.counted).toBe(requests.length + jobs.length);
    expect(books.totals.unmetered).toBe(known.length - books.counted);
    const ofStatus = requests.filter(({ properties }) =>
      [200, 206].includes(Number(properties['status'])),
    );
    expect(books.delivered).toBe(ofStatus.length);
    const [some, others] = [REGIONS.slice(0, 3), REGIONS.slice(3)];
    const inSome = jobs.filter(({ properties }) =>
      some.some((name) => name === properties['region']),
    );
    expect(books.jobsIn(some)).toBe(inSome.length);
    expect(books.jobsIn(others)).toBe(jobs.length - inSome.length);
    const [[customer, count] = [0, 0]] = [...books.requestsOf];
    const name = `customer-${String(customer).padStart(6, '0')}`;
    expect(requests.filter((event) => event.external_customer_id === name)).toHaveLength(count);
  });

  it('repeat only what was accepted, recent or old, and two events in a hundred', () => {
    const books = new SentBooks(tails);
    for (let number = 0; number < 100_000; number += 1) {
      if (repeatOf(number) === null && number % 1_000 < 900) books.acceptNew(number);
    }
    const repeats = Array.from({ length: 100_000 }, (_, slot) => repeatOf(slot)).filter(
      (repeat) => repeat !== null,
    );
    expect(repeats).toHaveLength(2_000);
    const found = repeats.flatMap((repeat) => books.findAccepted(repeat) ?? []);
    expect(found.length).toBeGreaterThan(1_800);
    expect(found.every((number) => repeatOf(number) === null && number % 1_000 < 900)).toBe(true);
    expect(Math.min(...found)).toBeLessThan(2_000);
    expect(found.filter((number) => number > 80_000).length).toBeGreaterThan(800);
  });

  it('give a repeat the same payload, or another one under the same id', () => {
    const { lateMs } = mixEvent(7, tails.length);
    expect(Date.parse(sent(7).timestamp)).toBe(SENT_AT_MS - lateMs);
    expect(sent(7)).toEqual(sent(7));
    const other = sent(7, true);
    expect(other.event_id).toBe(sent(7).event_id);
    expect(other.timestamp).not.toBe(sent(7).timestamp);
    expect(other.properties['region']).not.toBe(sent(7).properties['region']);
  });
});
