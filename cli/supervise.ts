import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';

/** A running process, which may end at any time. */
export type Running = {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
};

export type Supervised = {
  /** The process id of the current instance, or null while there is none. */
  readonly pid: () => number | null;
  /** Ends the instance and starts no new one. */
  readonly stop: () => Promise<void>;
};

const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** After an instance that ran this long, the pause before a restart is short again. */
const HEALTHY_MS = 30_000;

/**
 * Keeps one instance of a process running: starts it, and restarts it after growing pauses when it
 * ends unexpectedly. When the first start fails, its error is thrown.
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
      logger.warn({ name, pid: current.pid }, 'restarted');
    } catch (error) {
      logger.error({ name, error: messageOf(error) }, 'could not be restarted');
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
