import { build, type Histogram } from 'hdr-histogram-js';
import { HttpConnection } from './http-connection.js';
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
  /** Told of every request that was answered 202, as the answer arrives: its ids and how many. */
  readonly onAccepted?: (firstId: number, events: number) => void;
};

export type Outcome = {
  readonly requestsPerSecond: number;
  readonly eventsPerSecond: number;
  /** Answers by status; 0 is a lost connection. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly acceptedEvents: number;
  /** Microseconds; of an open-loop run from the arrival time that was fixed beforehand. */
  readonly latencyMicros: Histogram;
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

class Tally {
  readonly statuses: Record<string, number> = {};
  readonly latencyMicros = build({ highestTrackableValue: 120_000_000, useWebAssembly: false });
  #answers = 0;

  add(status: number, sinceMs: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    this.#answers += 1;
    this.latencyMicros.recordValue(Math.max(1, Math.round((performance.now() - sinceMs) * 1000)));
  }

  outcome(eventsPerRequest: number, seconds: number): Outcome {
    const requestsPerSecond = this.#answers / seconds;
    return {
      requestsPerSecond,
      eventsPerSecond: requestsPerSecond * eventsPerRequest,
      statuses: this.statuses,
      acceptedEvents: (this.statuses[202] ?? 0) * eventsPerRequest,
      latencyMicros: this.latencyMicros,
    };
  }
}

async function openLines(target: Target, load: Load): Promise<readonly Line[]> {
  const shape = { ...load, host: target.host, apiKey: target.apiKey };
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

/** Sends as fast as answers come, on every connection: the highest rate. */
export async function saturate(target: Target, load: Load): Promise<Outcome> {
  const lines = await openLines(target, load);
  const tally = new Tally();
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

/**
 * Sends at a fixed rate whatever the server does: arrival times are set beforehand, and a request
 * that finds no free connection waits with its clock running.
 */
export async function atRate(
  target: Target,
  load: Load & { readonly requestsPerSecond: number },
): Promise<Outcome> {
  const lines = await openLines(target, load);
  const tally = new Tally();
  const idle = [...lines];
  const startedAt = performance.now();
  const arrivals = Math.floor(load.seconds * load.requestsPerSecond);
  let arrived = 0;
  let answered = 0;
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
        if (status === 202) load.onAccepted?.(firstId, load.eventsPerRequest);
        answered += 1;
        if (answered === arrivals) resolve();
        else serve(line);
      });
    };
    const tick = (): void => {
      if (answered === arrivals) return;
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
  return tally.outcome(load.eventsPerRequest, (performance.now() - startedAt) / 1000);
}
