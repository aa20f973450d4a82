import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';

/** A process that somebody else may end at any time. */
export type Running = {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
};

export type Supervised = {
  /** The process id of the present instance, or null while there is none. */
  readonly pid: () => number | null;
  /** Ends the instance and starts no other. */
  readonly stop: () => Promise<void>;
};

const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** One that lived this long was healthy: the next restart is quick again. */
const HEALTHY_MS = 30_000;

/**
 * Keeps one instance of a process alive: starts it, and starts it again when it ends without having
 * been asked to, with growing pauses. The first start must succeed, else its error is thrown.
 */
export async function supervise(
  name: string,
  start: () => Promise<Running>,
  logger: Log,
): Promise<Supervised> {
  let isStopping = false;
  let current: Running | null = await start();

  async function restart(pauseMs: number): Promise<void> {
    await delay(pauseMs);
    if (isStopping) return;
    try {
      current = await start();
      logger.warn({ name, pid: current.pid }, 'started again');
    } catch (error) {
      logger.error({ name, error: messageOf(error) }, 'could not be started again');
    }
  }

  async function watch(): Promise<void> {
    let pauseMs = PAUSE_FIRST_MS;
    while (!isStopping) {
      const startedAt = Date.now();
      await current?.exited;
      if (isStopping) return;
      current = null;
      logger.warn({ name }, 'ended unexpectedly');
      pauseMs = Date.now() - startedAt > HEALTHY_MS ? PAUSE_FIRST_MS : pauseMs;
      await restart(pauseMs);
      pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
    }
  }

  const watching = watch();
  return {
    pid: () => current?.pid ?? null,
    stop: async () => {
      isStopping = true;
      await current?.stop();
      await watching;
    },
  };
}
