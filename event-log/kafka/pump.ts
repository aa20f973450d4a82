import type { RdKafkaConsumer, RdKafkaError, RdKafkaMessage } from './rdkafka.js';

/** How long one call waits for a first record. Commands wait that long as well. */
const FIRST_WAIT_MS = 25;
/** How long a call waits when records are there already. */
const DRAIN_WAIT_MS = 1;
/** A thousand small records take about 10 ms; large ones are bounded by their bytes. */
const DRAIN_RECORDS_MAX = 1_000;
const DRAIN_BYTES = 4 * 1024 * 1024;
/** The pause after an error of the driver. */
const ERROR_DELAY_MS = 50;

export type PumpTarget = {
  readonly onMessages: (messages: readonly RdKafkaMessage[]) => void;
  readonly onError: (error: RdKafkaError) => void;
  /** Whether any partition wants records now. */
  readonly isWanted: () => boolean;
};

/**
 * The only caller of the consumer. It hands over records while a partition wants them and runs
 * commands (assign, pause, …) between two calls, never during one. So a command can rely on it that
 * all records fetched before it have been handed over.
 */
export class ConsumerPump {
  #commands: (() => void)[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;
  /** How many records the next call takes; 0 to wait for the first one. */
  #drainRecords = 0;

  constructor(
    private readonly consumer: RdKafkaConsumer,
    private readonly target: PumpTarget,
  ) {}

  /** Runs a command between two calls. Rejects with the error of the command. */
  run<T>(command: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#commands.push(() => {
        try {
          resolve(command());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      this.start();
    });
  }

  /** Starts the loop, which ends when no partition wants records. */
  start(): void {
    this.#running ??= this.#loop().finally(() => {
      this.#running = null;
      // A command may have been added after the loop ended.
      if (this.#commands.length > 0) this.start();
    });
  }

  /** Ends the loop after the running call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #loop(): Promise<void> {
    // The caller of `start` must finish its own step first.
    await Promise.resolve();
    for (;;) {
      for (const command of this.#commands.splice(0)) command();
      if (this.#isClosed || !this.target.isWanted()) return;
      this.#drainRecords = await this.#consume(this.#drainRecords);
    }
  }

  /**
   * Waits for one record, or takes those that are there already. @returns how many to take next;
   * not the records, since the loop might keep the last ones it saw alive (run-partition.ts).
   */
  #consume(recordsMax: number): Promise<number> {
    this.consumer.setDefaultConsumeTimeout(recordsMax > 0 ? DRAIN_WAIT_MS : FIRST_WAIT_MS);
    return new Promise((resolve) => {
      this.consumer.consume(Math.max(1, recordsMax), (error, messages) => {
        if (error) {
          this.target.onError(error);
          setTimeout(resolve, ERROR_DELAY_MS, 0);
          return;
        }
        if (messages.length > 0) this.target.onMessages(messages);
        resolve(drainAfter(messages));
      });
    });
  }
}

/** How many records of the size of the last ones make up `DRAIN_BYTES`. */
function drainAfter(messages: readonly RdKafkaMessage[]): number {
  if (messages.length === 0) return 0;
  const bytes = messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 1);
  const fitting = Math.floor((DRAIN_BYTES * messages.length) / bytes);
  return Math.min(DRAIN_RECORDS_MAX, Math.max(1, fitting));
}
