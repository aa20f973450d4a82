import type { Log } from './log.js';
import { messageOf } from './failure.js';

type Closer = { readonly name: string; readonly close: () => Promise<void> };

/**
 * What a program has opened, closed in the opposite order: stop accepting, drain, flush,
 * checkpoint, close. A closer that fails is reported and does not keep the others from closing.
 */
export class Lifecycle {
  readonly #closers: Closer[] = [];
  #closing: Promise<void> | null = null;

  constructor(private readonly log: Log) {}

  /** Registers a thing to close; the last registered is closed first. */
  onClose(name: string, close: () => Promise<void>): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything once; later calls wait for the same closing. */
  close(): Promise<void> {
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

  /** Closes on SIGINT and SIGTERM, then exits with 0; a second signal exits at once with 130. */
  closeOnSignals(): void {
    let signals = 0;
    const handle = (): void => {
      signals += 1;
      if (signals > 1) process.exit(130);
      void this.close().then(() => process.exit(0));
    };
    process.on('SIGINT', handle);
    process.on('SIGTERM', handle);
  }
}
