import { describe, expect, test } from 'vitest';
import type { EventDto, EventListDto } from '../../billing-api/events/event-dto.js';
import type { ApiClient } from './api-client.js';
import { followEvents } from './follow-events.js';
import { sampleEvent } from './testing/samples.js';

const at = (id: string, second: number): EventDto =>
  sampleEvent({ id, timestamp: new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString() });

/**
 * Lists what is visible in each round, as the interface does: newest first, in pages of the asked
 * size. A round ends with the last page.
 */
function product(rounds: readonly (readonly EventDto[])[]): Pick<ApiClient, 'get'> & {
  readonly paths: string[];
} {
  const paths: string[] = [];
  let round = 0;
  const get = (path: string): Promise<unknown> => {
    paths.push(path);
    const query = new URL(path, 'http://product').searchParams;
    const start = query.get('start_time') ?? '';
    const visible = (rounds[Math.min(round, rounds.length - 1)] ?? [])
      .filter(({ timestamp }) => timestamp >= start)
      .toSorted((left, right) => (left.timestamp < right.timestamp ? 1 : -1));
    const from = visible.findIndex(({ id }) => id === query.get('iter_last_key')) + 1;
    const events = visible.slice(from, from + Number(query.get('page_size')));
    const hasMore = from + events.length < visible.length;
    if (!hasMore && start !== '') round += 1;
    const answer: EventListDto = {
      events,
      has_more: hasMore,
      iter_first_key: null,
      total_count: null,
      offset: 0,
      iter_last_key: hasMore ? (events.at(-1)?.id ?? null) : null,
    };
    return Promise.resolve(answer);
  };
  return { paths, get: get as ApiClient['get'] };
}

/** The ids that are shown until there were this many. */
async function shown(
  api: Pick<ApiClient, 'get'>,
  eventsMax: number,
  count: number,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const stop = new AbortController();
  const request = {
    choice: { customer: 'acme', name: null },
    eventsMax,
    signal: stop.signal,
    pollMs: 1,
  };
  await followEvents(api, request, ({ id }) => {
    if (ids.push(id) >= count) stop.abort();
  });
  return ids;
}

describe('following events', () => {
  test('shows the newest first, then each new one once, also when it comes late', async () => {
    const old = [at('a', 1), at('b', 2), at('c', 3)];
    const api = product([old, old, [...old, at('d', 30)], [...old, at('late', 20), at('d', 30)]]);
    expect(await shown(api, 2, 4)).toEqual(['b', 'c', 'd', 'late']);
    expect(api.paths[0]).toBe('/events?page_size=2&external_customer_id=acme');
  });

  test('begins with an environment without events', async () => {
    const now = sampleEvent({ id: 'now', timestamp: new Date().toISOString() });
    expect(await shown(product([[], [], [now]]), 20, 1)).toEqual(['now']);
  });

  test('reads all pages of what has come', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => at(`e${index}`, 1 + index / 1_000));
    const ids = await shown(product([[at('a', 0)], [at('a', 0), ...many]]), 20, 2_501);
    expect(new Set(ids).size).toBe(2_501);
    expect(ids[1]).toBe('e0');
  });
});
