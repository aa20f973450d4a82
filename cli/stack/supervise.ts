import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';

/** A running process, which may end at any time. */
export type Running = {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
  /** Whether it answers, within a time of its own; absent where nobody asks. Never rejects. */
  readonly isAnswering?: () => Promise<boolean>;
};

export type Supervised = {
  /** The process id of the current instance, or null while there is none. */
  readonly pid: () => number | null;
  /** Ends the instance and starts no new one. */
  readonly stop: () => Promise<void>;
};

/** How an instance is asked whether it answers. */
export type Asking = { readonly everyMs: number; readonly failuresMax: number };

const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** After an instance that ran this long, the pause before a restart is short again. */
const HEALTHY_MS = 30_000;
/** One that refuses is found out after 15 s, one that is silent after a minute. */
const ASKING: Asking = { everyMs: 5_000, failuresMax: 3 };

type Supervision = {
  readonly logger: Log;
  /** Tests ask more often. */
  readonly asking?: Asking;
};

/** Whether the instance has failed to answer so many times in a row; false when it has ended. */
async function isSilent({ exited, isAnswering }: Running, asking: Asking): Promise<boolean> {
  if (isAnswering === undefined) {
    await exited;
    return false;
  }
  const ended = exited.then(() => true);
  for (let failures = 0; failures < asking.failuresMax;) {
    const pause = new AbortController();
    const paused = delay(asking.everyMs, false, { signal: pause.signal }).catch(() => true);
    const hasEnded = await Promise.race([ended, paused]);
    pause.abort();
    if (hasEnded) return false;
    failures = (await isAnswering()) ? 0 : failures + 1;
  }
  return true;
}

/**
 * Keeps one instance of a process running: starts it, and restarts it after growing pauses when it
 * ends unexpectedly. One that does not answer any more is killed and started again; an engine loses
 * nothing by that which it has acknowledged. When the first start fails, its error is thrown.
 */
export async function supervise(
  name: string,
  start: () => Promise<Running>,
  { logger, asking = ASKING }: Supervision,
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

  /** Waits until the instance has ended, and kills it when it is silent. */
  async function untilEnded(instance: Running): Promise<void> {
    if ((await isSilent(instance, asking)) && !isStopping) {
      logger.error({ name, pid: instance.pid }, 'does not answer: it is killed and started again');
      process.kill(instance.pid, 'SIGKILL');
    }
    await instance.exited;
  }

  async function watch(): Promise<void> {
    let pauseMs = PAUSE_FIRST_MS;
    while (!isStopping) {
      const startedAt = Date.now();
      if (current !== null) await untilEnded(current);
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
