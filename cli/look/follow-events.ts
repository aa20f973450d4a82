import { setTimeout as delay } from 'node:timers/promises';
import type { EventDto, EventListDto } from '../../billing-api/events/event-dto.js';
import type { ApiClient } from './api-client.js';

/** Which events; null means all. */
export type EventChoice = {
  readonly customer: string | null;
  readonly name: string | null;
};

const POLL_MS = 1_000;
/**
 * Events of one moment become visible in any order, because partitions are counted independently.
 * So each look goes back behind the newest event that is known.
 */
const OVERLAP_MS = 30_000;
const PAGE_SIZE = 1_000;
/** More events in one look than anybody reads; the rest of them is left out. */
const PAGES_MAX = 5;

function pathOf(choice: EventChoice, query: Readonly<Record<string, string>>): string {
  const { customer, name } = choice;
  const parameters = new URLSearchParams({
    ...query,
    ...(customer === null ? {} : { external_customer_id: customer }),
    ...(name === null ? {} : { event_name: name }),
  });
  return `/events?${parameters.toString()}`;
}

/** The newest events by timestamp, oldest first. */
export async function newestEvents(
  api: Pick<ApiClient, 'get'>,
  choice: EventChoice,
  eventsMax: number,
): Promise<readonly EventDto[]> {
  const path = pathOf(choice, { page_size: String(eventsMax) });
  return (await api.get<EventListDto>(path)).events.toReversed();
}

/** All events from an instant on, oldest first; of very many the newest. */
async function eventsSince(
  api: Pick<ApiClient, 'get'>,
  choice: EventChoice,
  start: string,
): Promise<readonly EventDto[]> {
  const found: EventDto[] = [];
  let key: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const behind: Readonly<Record<string, string>> = key === null ? {} : { iter_last_key: key };
    const query = { start_time: start, page_size: String(PAGE_SIZE), ...behind };
    const answer: EventListDto = await api.get<EventListDto>(pathOf(choice, query));
    found.push(...answer.events);
    key = answer.iter_last_key;
    if (key === null) break;
  }
  return found.toReversed();
}

const idsOf = (events: readonly EventDto[]): Set<string> => new Set(events.map(({ id }) => id));

const newestOf = (events: readonly EventDto[], otherwiseMs: number): number =>
  Math.max(otherwiseMs, ...events.map(({ timestamp }) => Date.parse(timestamp)));

/**
 * Calls `onEvent` with the newest events and then with each that becomes visible, once, until the
 * signal aborts. An event whose timestamp lies more than 30 s behind the newest one known is left
 * out, and one of the future is shown when its time comes.
 */
export async function followEvents(
  api: Pick<ApiClient, 'get'>,
  request: {
    readonly choice: EventChoice;
    readonly eventsMax: number;
    readonly signal: AbortSignal;
    readonly pollMs?: number;
  },
  onEvent: (event: EventDto) => void,
): Promise<void> {
  const { choice, eventsMax, signal, pollMs = POLL_MS } = request;
  const first = await newestEvents(api, choice, eventsMax);
  first.forEach(onEvent);
  let known = idsOf(first);
  let newestMs = first.length === 0 ? Date.now() : newestOf(first, 0);
  let isFirst = true;
  while (!signal.aborted) {
    const start = new Date(newestMs - OVERLAP_MS).toISOString();
    const since = await eventsSince(api, choice, start);
    if (isFirst) {
      // Nobody asked for those that are older than the first one shown.
      const older = since.findIndex(({ id }) => id === first[0]?.id);
      for (const { id } of since.slice(0, Math.max(0, older))) known.add(id);
      isFirst = false;
    }
    since.filter(({ id }) => !known.has(id)).forEach(onEvent);
    known = idsOf(since);
    newestMs = newestOf(since, newestMs);
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
