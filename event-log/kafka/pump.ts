import type { RdKafkaConsumer, RdKafkaError, RdKafkaMessage } from './rdkafka.js';

/** Longest wait for a first record; commands wait for it too. */
const FIRST_WAIT_MS = 25;
/** Records that are there already are handed over without waiting for more. */
const DRAIN_WAIT_MS = 1;
/** A thousand small records are handed over in about 10 ms; of large ones, fewer at a time. */
const DRAIN_RECORDS_MAX = 1_000;
const DRAIN_BYTES = 4 * 1024 * 1024;
/** After an error the driver is left alone for a moment. */
const ERROR_DELAY_MS = 50;

export type PumpTarget = {
  readonly onMessages: (messages: readonly RdKafkaMessage[]) => void;
  readonly onError: (error: RdKafkaError) => void;
  /** Whether any partition wants records now. */
  readonly isWanted: () => boolean;
};

/**
 * The one caller of the consumer: hands over records while somebody wants them, and runs commands
 * (assign, pause, …) in between, never during a call. So a command knows that no record fetched
 * before it is under way.
 */
export class ConsumerPump {
  #commands: (() => void)[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;
  /** Records to take at once, 0 to wait for the first one. */
  #drainRecords = 0;

  constructor(
    private readonly consumer: RdKafkaConsumer,
    private readonly target: PumpTarget,
  ) {}

  /** Runs a command between two calls; its error is the caller's. */
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

  /** Goes on after a pause in which no partition wanted records. */
  start(): void {
    this.#running ??= this.#loop().finally(() => {
      this.#running = null;
      // A command may have come after the last look.
      if (this.#commands.length > 0) this.start();
    });
  }

  /** Ends after the call that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #loop(): Promise<void> {
    // Callers of start are still in the middle of their own work.
    await Promise.resolve();
    for (;;) {
      for (const command of this.#commands.splice(0)) command();
      if (this.#isClosed || !this.target.isWanted()) return;
      this.#drainRecords = drainAfter(await this.#consume(this.#drainRecords));
    }
  }

  /** One record as soon as there is one, or those that are there already. */
  #consume(recordsMax: number): Promise<readonly RdKafkaMessage[]> {
    this.consumer.setDefaultConsumeTimeout(recordsMax > 0 ? DRAIN_WAIT_MS : FIRST_WAIT_MS);
    return new Promise((resolve) => {
      this.consumer.consume(Math.max(1, recordsMax), (error, messages) => {
        if (error) {
          this.target.onError(error);
          setTimeout(resolve, ERROR_DELAY_MS, []);
          return;
        }
        if (messages.length > 0) this.target.onMessages(messages);
        resolve(messages);
      });
    });
  }
}

/** How many to take next: as many as will weigh about as much as is good, judging by the last. */
function drainAfter(messages: readonly RdKafkaMessage[]): number {
  if (messages.length === 0) return 0;
  const bytes = messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 1);
  const fitting = Math.floor((DRAIN_BYTES * messages.length) / bytes);
  return Math.min(DRAIN_RECORDS_MAX, Math.max(1, fitting));
}
