import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.js';
import { ConfigError } from './config.js';
import { DependencyError, messageOf } from './failure.js';
import { MigrationRefused } from './migrations.js';

/** One Ctrl-C may arrive twice: from the terminal and from the parent process. */
const SAME_PRESS_MS = 1_000;

type Closer = { readonly name: string; readonly close: () => Promise<void> };

/**
 * Closes what a program has opened, in the opposite order: stop accepting, drain, flush,
 * checkpoint, close. A failure is logged and does not prevent the rest from being closed.
 */
export class Lifecycle {
  readonly #closers: Closer[] = [];
  #closing: Promise<void> | null = null;
  #isStopping = false;

  constructor(private readonly log: Log) {}

  /** Registers something to close. What is registered last is closed first. */
  onClose(name: string, close: () => Promise<void>): void {
    this.#closers.push({ name, close });
  }

  /** Whether the program is about to close, so that nobody should send it anything more. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Closes everything once; later calls wait for the same closing. */
  close(): Promise<void> {
    this.#isStopping = true;
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const closer of this.#closers.reverse()) {
      try {
        await closer.close();
      } catch (error) {
        this.log.error(
          { closing: closer.name, error: messageOf(error) },
          'could not close cleanly',
        );
      }
    }
  }

  /**
   * Closes on SIGINT and SIGTERM, then exits with 0. A second signal after more than a second exits
   * at once with 130.
   * @param stopDelayMs how long the program goes on serving after SIGTERM, while it already says it
   *   is stopping: a load balancer notices when it asks the next time. Not after SIGINT, which
   *   comes from somebody at a terminal.
   */
  closeOnSignals(stopDelayMs = 0): void {
    let firstAtMs: number | null = null;
    const handle = (signal: NodeJS.Signals): void => {
      const nowMs = performance.now();
      if (firstAtMs !== null && nowMs - firstAtMs > SAME_PRESS_MS) process.exit(130);
      if (firstAtMs !== null) return;
      firstAtMs = nowMs;
      this.#isStopping = true;
      const delayMs = signal === 'SIGTERM' ? stopDelayMs : 0;
      this.log.info({ signal, delayMs }, 'stopping');
      const delayed = delayMs === 0 ? Promise.resolve() : delay(delayMs);
      void delayed.then(() => this.close()).then(() => process.exit(0));
    };
    process.on('SIGINT', handle);
    process.on('SIGTERM', handle);
  }
}

/** Whether an operator can mend what failed, by what the message says; anything else is a bug. */
export function isForOperator(error: unknown): boolean {
  const kinds = [ConfigError, DependencyError, MigrationRefused];
  return kinds.some((kind) => error instanceof kind);
}

/**
 * Ends the program with status 1 and one line in the log: why. What an operator can mend is one
 * sentence; a bug has its stack, for whoever mends that.
 */
export function endProgram(error: unknown, log: Log): never {
  const stack = error instanceof Error && !isForOperator(error) ? { stack: error.stack } : {};
  log.fatal({ error: messageOf(error), ...stack }, 'stopped');
  process.exit(1);
}

/** Does what `endProgram` does with an error that no part of the program caught: that is a bug. */
export function endOnUncaughtErrors(log: Log): void {
  process.on('uncaughtException', (error) => endProgram(error, log));
}
