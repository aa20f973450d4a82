import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { MeterDefinition } from '../../contract/meter.js';
import { integerColumn, meterFiltersColumn } from '../../sql/columns.js';
import { aggregationColumns, aggregationFromRow } from '../../sql/meter-aggregation.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import type { Catalog } from '../protocol/state.js';
import { CatalogIndex, type MeterChange } from './catalog-index.js';
import { createNewestVersion } from './newest-version.js';

/** Recovery sometimes needs an older version. A version never changes. */
const VERSIONS_KEPT = 8;
/**
 * Rows, or versions, of one statement. Nothing else goes on while these rows are checked and
 * indexed, which takes up to 0.1 ms each (measured with 20,000 meters on a loaded machine).
 */
const PAGE_ROWS = 50;
/** From a version that is further away than this, the meters are all read again. */
const DISTANCE_MAX = 5_000;

/** The columns of a meter that is read to count events on it. */
export const meterRow = z.object({
  meter_id: z.string(),
  version: z.number(),
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  ...aggregationColumns,
  generation: integerColumn,
});

const pageMetersOfCatalog = statement('page-meters-of-catalog', meterRow);
const changesOfCatalog = statement(
  'changes-of-catalog',
  meterRow.extend({ is_in_force: z.boolean() }),
);

export function meterFromRow(row: z.output<typeof meterRow>): MeterDefinition {
  return {
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    meterId: row.meter_id,
    version: row.version,
    eventName: row.event_name,
    filters: row.filters,
    aggregation: aggregationFromRow(row),
    generation: row.generation,
  };
}

type Pool = Pick<Database, 'slonik'>;
type HeldCatalog = { readonly version: number; readonly meters: CatalogIndex };

async function readAll(database: Pool, version: number): Promise<HeldCatalog> {
  let meters = CatalogIndex.EMPTY;
  let behindGeneration = 0;
  for (;;) {
    const rows = await database.slonik.any(
      pageMetersOfCatalog({ version, behindGeneration, rowsMax: PAGE_ROWS }),
    );
    meters = meters.with(
      rows.map((row): MeterChange => ({ definition: meterFromRow(row), isInForce: true })),
    );
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return { version, meters };
    behindGeneration = last.generation;
  }
}

/** One step from a version towards another, in either direction: a change can be undone. */
async function step(database: Pool, from: HeldCatalog, version: number): Promise<HeldCatalog> {
  const isForward = version > from.version;
  const earlier = Math.min(version, from.version);
  const later = Math.max(version, from.version);
  const rows = await database.slonik.any(changesOfCatalog({ earlier, later }));
  const changes = rows.map((row): MeterChange => ({
    definition: meterFromRow(row),
    isInForce: row.is_in_force === isForward,
  }));
  return { version, meters: from.meters.with(changes) };
}

async function stepTo(database: Pool, from: HeldCatalog, version: number): Promise<HeldCatalog> {
  let at = from;
  while (at.version !== version) {
    const distance = version - at.version;
    const next = at.version + Math.max(-PAGE_ROWS, Math.min(PAGE_ROWS, distance));
    at = await step(database, at, next);
  }
  return at;
}

/**
 * Reads the meters of catalog versions from PostgreSQL: all of them once, page by page, and from
 * then on the changes since a version that is held. One version is read at a time, once for all
 * partitions of the process.
 */
export function createCatalogReader(database: Pool, now: () => number) {
  const catalogs = new LRUCache<number, HeldCatalog>({ max: VERSIONS_KEPT });
  // Each partition waits for one version at most, so the queue is short.
  const queue = new PQueue({ concurrency: 1 });
  const newest = createNewestVersion(database, now);

  /** The held catalog from which the fewest versions lead to this one. */
  function nearest(version: number): HeldCatalog | null {
    let best: HeldCatalog | null = null;
    let distanceMax = DISTANCE_MAX;
    for (const held of catalogs.values()) {
      const distance = Math.abs(held.version - version);
      if (distance > distanceMax) continue;
      best = held;
      distanceMax = distance;
    }
    return best;
  }

  async function read(version: number): Promise<HeldCatalog> {
    const known = catalogs.get(version);
    if (known !== undefined) return known;
    const from = nearest(version);
    const catalog =
      from === null ? await readAll(database, version) : await stepTo(database, from, version);
    catalogs.set(version, catalog);
    return catalog;
  }

  async function load(version: number): Promise<Catalog> {
    return catalogs.get(version) ?? (await queue.add(() => read(version)));
  }

  return {
    /** The catalog of a version. @throws DependencyError. */
    load,
    /** The newest catalog, at most a tenth of a second old and never older than `versionMin`. */
    latest: async (versionMin: number): Promise<Catalog> => load(await newest.read(versionMin)),
    /**
     * The newest catalog, and for half a second nobody begins to change a meter. For a batch that
     * was refused again and again, because meters changed before it was intended.
     */
    held: async (versionMin: number): Promise<Catalog> => load(await newest.hold(versionMin)),
  };
}

export type CatalogReader = ReturnType<typeof createCatalogReader>;
