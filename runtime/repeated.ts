import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from './failure.js';
import type { Log } from './log.js';
import type { Rest } from './rest.js';

export type Repeated = {
  /** What it does, for the log: "the last uses of API keys could not be written". */
  readonly failure: string;
  /** Pause after a run, before the next. A `Rest` lengthens it while there is nothing to do. */
  readonly everyMs: number | Rest;
  /** Before the first run; none when absent. */
  readonly firstDelayMs?: number;
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
};

/**
 * Does the same again and again, never twice at once. A run that fails is logged, and the next one
 * comes as if it had not. It keeps no process alive.
 * @returns a function that stops it: the signal of the work aborts, and a run in progress is waited
 *   for.
 */
export function startRepeated({
  failure,
  everyMs,
  firstDelayMs = 0,
  work,
  log,
}: Repeated): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    await pause(firstDelayMs);
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, failure);
      });
      await (typeof everyMs === 'number' ? pause(everyMs) : everyMs.pause(signal));
    }
  };
  const running = run();
  return () => {
    stop.abort();
    return running;
  };
}
