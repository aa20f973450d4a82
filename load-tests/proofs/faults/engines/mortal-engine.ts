import { setTimeout as delay } from 'node:timers/promises';
import { isProcessAlive } from '../../../../runtime/process.js';

/** A running engine, which may be killed at any time. */
export type RunningEngine = {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Half a minute: on a busy machine a killed server takes seconds to give its port back. */
const START_ATTEMPTS = 120;
const START_PAUSE_MS = 250;

/** An engine that can be killed and started again at the same address with its data. */
export class MortalEngine {
  #running: RunningEngine | null = null;
  #starting: Promise<void> | null = null;

  constructor(
    readonly name: string,
    private readonly startOnce: () => Promise<RunningEngine>,
  ) {}

  /**
   * Starts it unless it runs. A predecessor that is still ending is waited for. Whoever wants it
   * started meanwhile waits for the same start: two on one directory would take each other's port.
   */
  start(attempts = START_ATTEMPTS): Promise<void> {
    this.#starting ??= this.#startUntilUp(attempts).finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  /** kill -9, after a start that is under way; resolves when the process has gone. */
  async kill(): Promise<void> {
    await this.#starting;
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    if (isProcessAlive(running.pid)) process.kill(running.pid, 'SIGKILL');
    await running.exited;
  }

  /** SIGSTOP: it holds its connections and answers nothing. */
  freeze(): void {
    if (this.#running !== null) process.kill(this.#running.pid, 'SIGSTOP');
  }

  thaw(): void {
    if (this.#running !== null) process.kill(this.#running.pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }

  async #startUntilUp(attempts: number): Promise<void> {
    for (let attempt = 1; this.#running === null; attempt += 1) {
      try {
        this.#running = await this.startOnce();
      } catch (error) {
        if (attempt === attempts) throw error;
        await delay(START_PAUSE_MS);
      }
    }
  }
}
