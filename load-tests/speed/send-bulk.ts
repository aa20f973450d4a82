import { readEventTails } from './load/access-log-properties.js';
import { HttpConnection } from './load/http-connection.js';
import { PreparedRequest } from './load/prepared-request.js';
import type { Target } from './load/drive.js';

export const EVENTS_PER_REQUEST = 500;
const CONNECTIONS = 8;

export type BulkRun = {
  readonly events: number;
  /** One of so many events is a duplicate of an earlier one. */
  readonly repeatEvery?: number;
  readonly onSent?: (events: number) => void;
};

/** Sends so many events in bulk, as fast as they are acknowledged; returns the seconds it took. */
export async function sendBulk(target: Target, run: BulkRun): Promise<number> {
  const requests = Math.ceil(run.events / EVENTS_PER_REQUEST);
  let next = 0;
  const startedAt = performance.now();
  const send = async (): Promise<void> => {
    const connection = await HttpConnection.open(target.port, target.host);
    const request = new PreparedRequest({
      path: '/v1/events/bulk',
      eventsPerRequest: EVENTS_PER_REQUEST,
      host: target.host,
      apiKey: target.apiKey,
      tails: await readEventTails(),
      ...(run.repeatEvery === undefined ? {} : { repeatEvery: run.repeatEvery }),
    });
    while (next < requests) {
      // 50 is how far the first repeat reaches back; ids below it are never sent otherwise.
      const firstId = next * EVENTS_PER_REQUEST;
      next += 1;
      const status = await new Promise<number>((resolve) => {
        connection.send(request.withIds(firstId), resolve);
      });
      if (status !== 202) throw new Error(`a bulk request was answered ${status}`);
      run.onSent?.(next * EVENTS_PER_REQUEST);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  return (performance.now() - startedAt) / 1000;
}

/** How many of the first `events` ids repeat an earlier one: those at the end of each stretch. */
export function repeatsIn(events: number, repeatEvery: number): number {
  return Math.floor(events / repeatEvery);
}
