import { readEventTails } from './access-log-properties.js';
import { HttpConnection } from './http-connection.js';
import { assertRateKept, LoadTally, type Outcome } from './load-tally.js';
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
            connection.send(request.withIds(takeIds(load.eventsPerRequest)), (status) => {
              tally.add(status, sentAt);
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

/** The highest rate of a server that is warm; `accepted` counts the events of the warm-up, too. */
export async function saturateWarm(
  target: Target,
  load: Load,
): Promise<{ readonly outcome: Outcome; readonly accepted: number }> {
  const warmUp = await saturate(target, { ...load, seconds: WARM_UP_SECONDS });
  const outcome = await saturate(target, load);
  return { outcome, accepted: warmUp.acceptedEvents + outcome.acceptedEvents };
}

export type PacedLoad = Load & { readonly requestsPerSecond: number };

/**
 * Sends at a fixed rate whatever the server does: arrival times are set beforehand, and a request
 * that finds no free connection waits with its clock running.
 * @throws Error unless every request was answered 202 and the rate was kept.
 */
export async function atRate(target: Target, load: PacedLoad): Promise<Outcome> {
  const lines = await openLines(target, load);
  const tally = new LoadTally();
  const idle = [...lines];
  const startedAt = performance.now();
  const arrivals = Math.floor(load.seconds * load.requestsPerSecond);
  let arrived = 0;
  let answered = 0;
  let isOver = false;
  const arrivalTime = (index: number): number =>
    startedAt + (index * 1000) / load.requestsPerSecond;
  await new Promise<void>((resolve) => {
    const serve = (line: Line): void => {
      if (arrived >= arrivals || arrivalTime(arrived) > performance.now()) {
        idle.push(line);
        return;
      }
      const dueAt = arrivalTime(arrived);
      arrived += 1;
      const firstId = takeIds(load.eventsPerRequest);
      line.connection.send(line.request.withIds(firstId), (status) => {
        tally.add(status, dueAt);
        answered += 1;
        if (status === 202) load.onAccepted?.(firstId, load.eventsPerRequest);
        // A run that has lost a connection has no figures: what else would arrive does not matter.
        isOver = answered === arrivals || status === 0;
        if (isOver) resolve();
        else serve(line);
      });
    };
    const tick = (): void => {
      if (isOver) return;
      while (idle.length > 0 && arrived < arrivals && arrivalTime(arrived) <= performance.now()) {
        const line = idle.pop();
        if (line !== undefined) serve(line);
      }
      // Not at once: a client that never sleeps takes a core from the server it measures. A request
      // waits up to a millisecond for that, with its clock running.
      setTimeout(tick, 1);
    };
    tick();
  });
  closeLines(lines);
  const seconds = (performance.now() - startedAt) / 1000;
  const outcome = tally.outcome(load.eventsPerRequest, seconds);
  assertRateKept(outcome, load.requestsPerSecond);
  return outcome;
}
