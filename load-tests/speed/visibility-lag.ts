import { setTimeout as delay } from 'node:timers/promises';
import { build, type Histogram } from 'hdr-histogram-js';
import type { ApiClient } from '../../cli/look/api-client.js';
import { atRate, type PacedLoad, type Target } from './load/drive.js';
import { CANARY_CUSTOMER, isCanary, minuteOfCanary } from './load/load-identity.js';
import type { Plot } from './section.js';

/**
 * The pause between two questions whether a watched event is visible yet. Each question costs the
 * product some milliseconds. An event is found up to one pause late, and that counts against us.
 */
const POLL_MS = 50;
const VISIBLE_TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;

type Windows = {
  readonly results: readonly { readonly window_start: string; readonly value: string }[];
};

/**
 * Events that were accepted and not yet seen, each with a minute to itself: when that minute shows
 * an event, it is this one.
 */
class Waiting {
  /** When each was accepted, by its minute. */
  readonly #acceptedAt = new Map<number, number>();
  readonly lags = build({ highestTrackableValue: 600_000, useWebAssembly: false });
  accepted = 0;
  seen = 0;

  add(minuteMs: number): void {
    this.#acceptedAt.set(minuteMs, performance.now());
    this.accepted += 1;
  }

  get isEmpty(): boolean {
    return this.#acceptedAt.size === 0;
  }

  /** The minutes that hold all of them, end excluded. */
  get range(): readonly [startMs: number, endMs: number] {
    const minutes = [...this.#acceptedAt.keys()];
    const [first = 0] = minutes;
    let [least, greatest] = [first, first];
    for (const minute of minutes) {
      least = Math.min(least, minute);
      greatest = Math.max(greatest, minute);
    }
    return [least, greatest + MINUTE_MS];
  }

  /** Notes how many events the minute shows. @throws Error when it is more than one. */
  see(minuteMs: number, events: number): void {
    if (events > 1) throw new Error(`${events} events in a minute that was sent one`);
    const acceptedAt = this.#acceptedAt.get(minuteMs);
    if (events === 0 || acceptedAt === undefined) return;
    this.#acceptedAt.delete(minuteMs);
    this.seen += 1;
    this.lags.recordValue(Math.max(1, Math.round(performance.now() - acceptedAt)));
  }
}

async function look(api: ApiClient, meterId: string, waiting: Waiting): Promise<void> {
  const [startMs, endMs] = waiting.range;
  const { results } = await api.post<Windows>('/events/usage/meter', {
    meter_id: meterId,
    external_customer_id: CANARY_CUSTOMER,
    start_time: new Date(startMs).toISOString(),
    end_time: new Date(endMs).toISOString(),
    window_size: 'MINUTE',
  });
  for (const { window_start: start, value } of results) {
    waiting.see(Date.parse(start), Number(value));
  }
}

export type Visibility = {
  /** Milliseconds from the answer 202 to the first answer of usage that shows the event. */
  readonly lags: Histogram;
  readonly plot: Plot['series'];
};

/**
 * Sends at a steady rate and asks all the while for the minutes of watched events.
 * @throws Error when one of them is never seen.
 */
export async function watchVisibility(
  at: { readonly target: Target; readonly api: ApiClient; readonly meterId: string },
  load: PacedLoad,
): Promise<Visibility> {
  const waiting = new Waiting();
  const accepted: (readonly [number, number])[] = [];
  const seen: (readonly [number, number])[] = [];
  let isSending = true;
  const startedAt = performance.now();
  const seconds = (): number => Number(((performance.now() - startedAt) / 1000).toFixed(2));
  const sending = atRate(at.target, {
    ...load,
    hasCanaries: true,
    onAccepted: (firstId, events) => {
      load.onAccepted?.(firstId, events);
      for (let id = firstId; id < firstId + events; id += 1) {
        if (isCanary(id)) waiting.add(minuteOfCanary(id));
      }
    },
  }).finally(() => (isSending = false));
  // Its failure is reported when the watch has ended.
  sending.catch(() => undefined);
  while (isSending || !waiting.isEmpty) {
    if (!waiting.isEmpty) await look(at.api, at.meterId, waiting);
    accepted.push([seconds(), waiting.accepted]);
    seen.push([seconds(), waiting.seen]);
    if (performance.now() - startedAt > VISIBLE_TIMEOUT_MS) break;
    await delay(POLL_MS);
  }
  await sending;
  if (!waiting.isEmpty) throw new Error(`${waiting.accepted - waiting.seen} were never seen`);
  const plot = [
    { name: 'accepted', points: accepted },
    { name: 'visible', points: seen },
  ];
  return { lags: waiting.lags, plot };
}
