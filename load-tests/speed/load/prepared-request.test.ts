import { describe, expect, it } from 'vitest';
import { readEventTails } from './access-log-properties.js';
import { CANARY_CUSTOMER } from './load-identity.js';
import { PreparedRequest } from './prepared-request.js';

type SentEvent = {
  readonly event_id: string;
  readonly external_customer_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string | number>>;
};

function eventsOf(request: Buffer): readonly SentEvent[] {
  const text = request.toString();
  const bodyAt = text.indexOf('\r\n\r\n') + 4;
  const body = text.slice(bodyAt);
  const length = Number(/Content-Length: (\d+)/.exec(text)?.[1]);
  expect(Buffer.byteLength(body)).toBe(length);
  return (JSON.parse(body) as { readonly events: readonly SentEvent[] }).events;
}

const tails = await readEventTails();
const SHAPE = {
  path: '/v1/events/bulk',
  eventsPerRequest: 500,
  host: 'localhost',
  apiKey: 'none',
} as const;

describe('a prepared request', () => {
  it('has ids without order, many customers and the properties of a real log', () => {
    const request = new PreparedRequest({ ...SHAPE, tails });
    const events = [0, 500, 1_000].flatMap((firstId) => eventsOf(request.withIds(firstId)));
    const ids = events.map(({ event_id: id }) => id);
    expect(new Set(ids).size).toBe(1_500);
    expect(ids.every((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))).toBe(true);
    expect(ids.toSorted()).not.toEqual(ids);
    expect(new Set(events.map((event) => event.external_customer_id)).size).toBeGreaterThan(1_000);
    const texts = events.map(({ properties }) => JSON.stringify(properties));
    // A real log repeats its values often, and never in a fixed order.
    expect(new Set(texts).size).toBeGreaterThan(400);
  });

  it('repeats an earlier event as it was, whether soon or long ago', () => {
    const request = new PreparedRequest({ ...SHAPE, tails, repeatEvery: 100 });
    const sent = new Map<string, string>();
    let repeats = 0;
    for (let firstId = 0; firstId < 50_000; firstId += 500) {
      for (const event of eventsOf(request.withIds(firstId))) {
        const text = JSON.stringify(event);
        const known = sent.get(event.event_id);
        if (known !== undefined) {
          repeats += 1;
          expect(text).toBe(known);
        }
        sent.set(event.event_id, text);
      }
    }
    expect(repeats).toBe(500);
  });

  it('gives each watched event a minute to itself', () => {
    const request = new PreparedRequest({ ...SHAPE, tails, hasCanaries: true });
    const watched = [0, 500]
      .flatMap((firstId) => eventsOf(request.withIds(firstId)))
      .filter((event) => event.external_customer_id === CANARY_CUSTOMER);
    expect(watched).toHaveLength(20);
    expect(new Set(watched.map(({ timestamp }) => timestamp.slice(0, 16))).size).toBe(20);
  });
});
