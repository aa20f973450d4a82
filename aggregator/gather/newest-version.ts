import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

/**
 * How old the newest version may be; the poll reads one indexed row. A batch with an older one is
 * refused and intended again, which ten new meters a second would do to most batches at 500 ms.
 */
const POLL_MS = 100;
/**
 * How long no meter changes when a batch was refused twice. To read what is new and to intend takes
 * some 20 ms on a quiet machine, and 300 on one that has eight times as much to do as it can.
 */
const HOLD_SECONDS = 0.5;

const versionRow = z.object({ version: integerColumn });
const latestVersion = statement('latest-catalog-version', versionRow);
const holdCatalog = statement('hold-catalog', versionRow);

/** Calls that come while the work is under way share its end. */
function together(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

/** The newest version of the catalog, asked once for all partitions of the process. */
export function createNewestVersion({ slonik }: Pick<Database, 'slonik'>, now: () => number) {
  let latest = { version: 0, readAtMs: Number.NEGATIVE_INFINITY };
  let heldAtMs = Number.NEGATIVE_INFINITY;

  function note(version: number, readAtMs: number): void {
    if (version >= latest.version) latest = { version, readAtMs };
  }

  const ask = together(async () => {
    const readAtMs = now();
    const { version } = await slonik.one(latestVersion());
    note(version, readAtMs);
  });

  const hold = together(async () => {
    const { version } = await slonik.one(holdCatalog({ seconds: HOLD_SECONDS }));
    heldAtMs = now();
    note(version, heldAtMs);
  });

  return {
    /** At most a tenth of a second old, and never below `versionMin`. @throws DependencyError. */
    read: async (versionMin: number): Promise<number> => {
      if (now() - latest.readAtMs > POLL_MS || latest.version < versionMin) await ask();
      // An answer that was under way may be older than the meter that refused the intent.
      if (latest.version < versionMin) await ask();
      return latest.version;
    },
    /**
     * The newest of all, and nobody begins a newer one for half a second (an activation that was
     * under way, or has waited for two, still does). @throws DependencyError.
     */
    hold: async (versionMin: number): Promise<number> => {
      if (now() - heldAtMs >= (HOLD_SECONDS * 1000) / 2) await hold();
      if (latest.version < versionMin) await ask();
      return latest.version;
    },
  };
}
