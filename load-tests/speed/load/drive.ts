import { assertPresent } from '../../../runtime/failure.js';
import { readEventTails } from './access-log-properties.js';
import { HttpConnection } from './http-connection.js';
import { LoadTally, type Outcome } from './load-tally.js';
import { assertOffered, sendOnSchedule } from './open-loop.js';
import { PreparedRequest, type RequestShape } from './prepared-request.js';

export type Target = {
  readonly port: number;
  readonly host: string;
  readonly apiKey: string;
};

export type Load = {
  readonly path: RequestShape['path'];
  readonly eventsPerRequest: number;
  readonly connections: number;
  readonly seconds: number;
  /** Whether some events are watched: of a customer of their own, each in its own minute. */
  readonly hasCanaries?: boolean;
  /** Told of every request that was answered 202, as the answer arrives: its ids and how many. */
  readonly onAccepted?: (firstId: number, events: number) => void;
};

type Line = { readonly connection: HttpConnection; readonly request: PreparedRequest };

/** Ids never repeat within a run of the program, nor between runs a minute apart. */
let nextId = Math.floor(Date.now() / 1000) * 10_000;
nextId = (nextId % 10_000_000_000) * 1_000;

function takeIds(count: number): number {
  const first = nextId;
  nextId += count;
  return first;
}

async function openLines(target: Target, load: Load): Promise<readonly Line[]> {
  const { host, apiKey } = target;
  const shape = { ...load, host, apiKey, tails: await readEventTails() };
  return Promise.all(
    Array.from({ length: load.connections }, async () => ({
      connection: await HttpConnection.open(target.port, target.host),
      request: new PreparedRequest(shape),
    })),
  );
}

function closeLines(lines: readonly Line[]): void {
  for (const { connection } of lines) connection.close();
}

/**
 * Sends as fast as answers come, on every connection: the highest rate.
 * @throws Error unless every request was answered 202.
 */
export async function saturate(target: Target, load: Load): Promise<Outcome> {
  const lines = await openLines(target, load);
  const tally = new LoadTally();
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1000;
  await Promise.all(
    lines.map(
      ({ connection, request }) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            const sentAt = performance.now();
            if (sentAt >= endsAt) return resolve();
            const firstId = takeIds(load.eventsPerRequest);
            connection.send(request.withIds(firstId), (status) => {
              tally.add(status, sentAt);
              if (status === 202) load.onAccepted?.(firstId, load.eventsPerRequest);
              if (status === 0) resolve();
              else next();
            });
          };
          next();
        }),
    ),
  );
  closeLines(lines);
  return tally.outcome(load.eventsPerRequest, (performance.now() - startedAt) / 1000);
}

/** Long enough for code to be compiled and buffers to have grown. */
const WARM_UP_SECONDS = 2;

/** The highest rate of a server that is warm; `onAccepted` hears of the warm-up, too. */
export async function saturateWarm(target: Target, load: Load): Promise<Outcome> {
  await saturate(target, { ...load, seconds: WARM_UP_SECONDS });
  return saturate(target, load);
}

export type PacedLoad = Load & { readonly requestsPerSecond: number };

/**
 * Sends at a fixed rate whatever the server does (`sendOnSchedule`); latencies count from the times
 * that were set beforehand.
 * @throws Error unless every request was answered 202 and the rate was offered.
 */
export async function atRate(target: Target, load: PacedLoad): Promise<Outcome> {
  const lines = await openLines(target, load);
  const tally = new LoadTally();
  const { eventsPerRequest, requestsPerSecond, seconds, onAccepted } = load;
  const startedAt = performance.now();
  const offered = await sendOnSchedule(
    lines.map(({ connection }) => connection),
    {
      requestsPerSecond,
      seconds,
      next: (connection) => {
        const firstId = takeIds(eventsPerRequest);
        const { request } = assertPresent(lines[connection], 'a connection of the load');
        return {
          bytes: request.withIds(firstId),
          onStatus: (status, dueAt) => {
            tally.add(status, dueAt);
            if (status === 202) onAccepted?.(firstId, eventsPerRequest);
          },
        };
      },
    },
  );
  const outcome = tally.outcome(eventsPerRequest, (performance.now() - startedAt) / 1000);
  assertOffered(offered, seconds);
  return outcome;
}
