import { DatabaseError } from 'pg';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';

/** SQLSTATE of check_test_clock (0035_occasions.sql); its detail is what the clock shows. */
const OTHER_INSTANT = 'MB001';

/** Whether a transaction was refused because the test clock shows another instant than expected. */
export function isOtherInstant(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === OTHER_INSTANT;
}

/** Somebody would have to move the clock this often during one transaction. */
const REPEATS_MAX = 5;

/**
 * What the test clocks of environments show (docs/domain.md 32.4), as far as this process knows.
 * Every transaction of an environment checks it with the statement that begins it, so that nobody
 * has to ask the server for it first: who has it wrong begins again, and knows it from then on.
 */
export class KnownTestClocks {
  /** Only of environments that have one, which are few. */
  readonly #shown = new Map<string, InstantMs>();

  /**
   * Runs a transaction that checks what it is told: what the test clock of the environment shows,
   * or null when it has none. It runs again as long as that was wrong.
   */
  async checked<T>(
    { tenantId, environmentId }: Environment,
    run: (shown: InstantMs | null) => Promise<T>,
  ): Promise<T> {
    const key = `${tenantId} ${environmentId}`;
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await run(this.#shown.get(key) ?? null);
      } catch (error) {
        if (repeats === REPEATS_MAX || !isOtherInstant(error)) throw error;
        this.#learn(key, error);
      }
    }
  }

  #learn(key: string, { detail = '' }: DatabaseError): void {
    if (detail === '') this.#shown.delete(key);
    else this.#shown.set(key, Number(detail));
  }
}
