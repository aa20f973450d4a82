import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { MeterDefinition } from '../../contract/meter.js';
import { integerColumn, meterFiltersColumn } from '../../sql/columns.js';
import { aggregationColumns, aggregationFromRow } from '../../sql/meter-aggregation.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { indexMeters } from '../fold/meter-index.js';
import { hashText } from '../../runtime/hash-text.js';
import type { Catalog } from '../protocol/state.js';

/** A changed meter must be used within two seconds; the poll reads one indexed row. */
const POLL_MS = 500;
/** Recovery sometimes needs an older version. A version never changes. */
const VERSIONS_KEPT = 8;

const versionRow = z.object({ version: integerColumn });
const meterRow = z.object({
  meter_id: z.string(),
  version: z.number(),
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  ...aggregationColumns,
  generation: integerColumn,
});

const latestVersion = statement('latest-catalog-version', versionRow);
const metersOfCatalog = statement('meters-of-catalog', meterRow);

function meterFromRow(row: z.output<typeof meterRow>): MeterDefinition {
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

/** Reads the meters of a catalog version from PostgreSQL and caches them. */
export function createCatalogReader(database: Database, now: () => number) {
  const catalogs = new LRUCache<number, Catalog>({ max: VERSIONS_KEPT });
  let latest = { version: 0, readAtMs: Number.NEGATIVE_INFINITY };

  async function load(version: number): Promise<Catalog> {
    const known = catalogs.get(version);
    if (known !== undefined) return known;
    const rows = await database.slonik.any(metersOfCatalog({ version }));
    const catalog = { version, meters: indexMeters(rows.map(meterFromRow), hashText) };
    catalogs.set(version, catalog);
    return catalog;
  }

  return {
    /** The catalog of a version. @throws DependencyError. */
    load,
    /** The newest catalog, at most half a second old and never older than `versionMin`. */
    latest: async (versionMin: number): Promise<Catalog> => {
      if (now() - latest.readAtMs > POLL_MS || latest.version < versionMin) {
        const { version } = await database.slonik.one(latestVersion());
        latest = { version, readAtMs: now() };
      }
      return load(latest.version);
    },
  };
}

export type CatalogReader = ReturnType<typeof createCatalogReader>;
