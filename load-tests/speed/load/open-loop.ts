import type { HttpConnection } from './http-connection.js';

/** One request of a schedule, and who is told of its answer; status 0 is a lost connection. */
export type ScheduledRequest = {
  readonly bytes: Buffer;
  /** `dueAtMs` is when the request was to be sent, on the clock of `performance.now()`. */
  readonly onStatus: (status: number, dueAtMs: number) => void;
};

export type Schedule = {
  readonly requestsPerSecond: number;
  readonly seconds: number;
  /** Told which of the connections the request goes out on. */
  readonly next: (connection: number) => ScheduledRequest;
  /** In place of a connection that was lost; without it the first loss ends the stretch. */
  readonly reopen?: () => Promise<HttpConnection>;
  /** Ends the stretch before its time. */
  readonly signal?: AbortSignal;
};

/** How many requests the plan had, and how many of them were sent before the stretch was over. */
export type Offered = { readonly planned: number; readonly sentInTime: number };

/** Requests that may be missing at the end of the stretch, as a part of those planned. */
const NOT_SENT_MAX = 0.01;

/**
 * Sends at a fixed rate whatever the server does: times are set beforehand, and a request that
 * finds no free connection waits with its clock running. Resolves once all are answered.
 */
export async function sendOnSchedule(
  connections: readonly HttpConnection[],
  schedule: Schedule,
): Promise<Offered> {
  const { requestsPerSecond, seconds, next, signal } = schedule;
  const lines = [...connections];
  const idle = lines.map((_, index) => index);
  const planned = Math.floor(seconds * requestsPerSecond);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let [sent, sentInTime, answered] = [0, 0, 0];
  let isOver = false;
  const dueAtOf = (index: number): number => startedAt + (index * 1000) / requestsPerSecond;
  const isDue = (): boolean => sent < planned && dueAtOf(sent) <= performance.now();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    const isDone = (): boolean =>
      signal?.aborted === true ? answered === sent : answered === planned;
    const onLost = (index: number): void => {
      // A stretch that has lost a connection has no figures: what else would arrive is no matter.
      if (schedule.reopen === undefined) return end();
      void schedule.reopen().then((connection) => {
        lines[index] = connection;
        serve(index);
      }, end);
    };
    const serve = (index: number): void => {
      if (signal?.aborted === true || !isDue()) {
        idle.push(index);
        return;
      }
      const dueAt = dueAtOf(sent);
      sent += 1;
      if (performance.now() <= endsAt) sentInTime += 1;
      const request = next(index);
      lines[index]?.send(request.bytes, (status) => {
        request.onStatus(status, dueAt);
        answered += 1;
        if (isDone()) end();
        else if (status === 0) onLost(index);
        else serve(index);
      });
    };
    const tick = (): void => {
      if (isOver) return;
      if (isDone()) return end();
      while (signal?.aborted !== true && idle.length > 0 && isDue()) {
        // Each in its turn: the server closes a connection that sends nothing for ten seconds.
        const index = idle.shift();
        if (index !== undefined) serve(index);
      }
      // Not at once: a client that never sleeps takes a core from the server it measures. A request
      // waits up to a millisecond for that, with its clock running.
      setTimeout(tick, 1);
    };
    tick();
  });
  for (const line of lines) line.close();
  return { planned, sentInTime };
}

/** A stretch in which less was sent than planned: what it measured belongs to another rate. */
export class RateNotOffered extends Error {
  constructor({ planned, sentInTime }: Offered, seconds: number) {
    const rate = (requests: number): string => (requests / seconds).toFixed(0);
    super(
      `${rate(planned)} requests a second were planned and ${rate(sentInTime)} sent: no figure`,
    );
    this.name = 'RateNotOffered';
  }
}

/** @throws RateNotOffered when less than 99 % of the planned requests were sent in time. */
export function assertOffered(offered: Offered, seconds: number): void {
  if (offered.sentInTime >= (1 - NOT_SENT_MAX) * offered.planned) return;
  throw new RateNotOffered(offered, seconds);
}
