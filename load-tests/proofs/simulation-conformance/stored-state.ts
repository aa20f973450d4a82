import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../harness/owner.js';
import { integerColumn } from '../../../sql/columns.js';
import { definitionsIn } from '../simulation/scenario.js';
import type { World } from '../simulation/world.js';
import { PARTITIONS } from './operations.js';
import { LOG, type RealPostgres } from './real-postgres.js';

/** Rows of the event path in the terms of the model, so that both sides can be compared. */
export type StoredState = {
  readonly catalog: number;
  readonly partitions: readonly unknown[];
  readonly versions: readonly unknown[];
  /** By meter: the position of the version that readers see. */
  readonly inSight: Readonly<Record<string, number>>;
  /** By catalog version, from 1 on: generations of the active live streams. */
  readonly inForce: readonly (readonly number[])[];
};

const checkpointRow = z.object({
  partition: z.number(),
  epoch: integerColumn,
  next_offset: integerColumn,
  intent_end: integerColumn.nullable(),
  catalog_version: integerColumn,
  min_version: integerColumn,
  fold_version: z.number(),
  digest: z.string().nullable(),
  last_batch_start: integerColumn.nullable(),
  last_batch_rows: z.number().nullable(),
  appended_ms: integerColumn.nullable(),
});
const versionRow = z.object({
  meter_id: z.string(),
  version: z.number(),
  generation: integerColumn,
  activated_in: integerColumn,
  retired_in: integerColumn.nullable(),
  read_generations: z.array(z.string().transform(Number)),
  is_unread: z.boolean(),
  start_offsets: z.record(z.number()).nullable(),
  backfill: z.string().nullable(),
  attempts: z.number().nullable(),
});

const ascending = (left: number, right: number): number => left - right;

/** What the model says must be stored. */
export function stateOfModel({ partitions, meters }: World): StoredState {
  const { versions, catalogs, inSight } = meters;
  return {
    catalog: meters.version,
    partitions: partitions.map(({ row }) => row),
    versions: versions.map((version) => ({
      generation: version.definition.generation,
      activatedIn: version.activatedIn,
      retiredIn: version.retiredIn,
      readGenerations: [...version.readGenerations].sort(ascending),
      isUnread: version.isUnread,
      startOffsets: version.startOffsets,
      backfill: version.backfill,
      attempts: version.backfill === 'none' ? 0 : version.attempts,
    })),
    inSight,
    inForce: catalogs.map(({ meters: index }) =>
      definitionsIn(index)
        .map(({ generation }) => generation)
        .sort(ascending),
    ),
  };
}

async function partitionsOf({ database }: RealPostgres): Promise<readonly unknown[]> {
  const rows = await ownerOf(database).any(sql.type(checkpointRow)`
    SELECT partition, epoch, next_offset, intent_end, catalog_version, min_version, fold_version,
      digest, last_batch_start, last_batch_rows,
      (extract(epoch FROM last_batch_appended_at) * 1000)::bigint AS appended_ms
    FROM aggregator_checkpoints WHERE log = ${LOG}`);
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const row = rows.find((one) => one.partition === partition);
    if (row === undefined) return null;
    const { intent_end: end, last_batch_start: start, last_batch_rows: batchRows } = row;
    const { catalog_version: catalogVersion, fold_version: foldVersion, digest } = row;
    return {
      epoch: row.epoch,
      nextOffset: row.next_offset,
      intent: end === null ? null : { end, catalogVersion, foldVersion, digest },
      minVersion: row.min_version,
      catalogVersion,
      lastBatch:
        start === null
          ? null
          : { start, rows: batchRows, erased: 0, appendedAtMs: row.appended_ms },
    };
  });
}

/** What is stored, with the generations and versions as the model numbers them. */
export async function stateOfDatabase(real: RealPostgres): Promise<StoredState> {
  const owner = ownerOf(real.database);
  const byGeneration = new Map([...real.generations].map(([model, stored]) => [stored, model]));
  const numberOf = (generation: number): number => byGeneration.get(generation) ?? -generation;
  const rows = await owner.any(sql.type(versionRow)`
    SELECT meter_id, version, generation, activated_in, retired_in,
      read_generations::text[] AS read_generations, unread_since IS NOT NULL AS is_unread,
      (SELECT json_object_agg(partition, live_from) FROM meter_start_offsets AS start
       WHERE start.meter_id = stream.meter_id AND start.version = stream.version) AS start_offsets,
      backfill.status AS backfill, backfill.attempts
    FROM meter_versions AS stream LEFT JOIN meter_backfills AS backfill USING (meter_id, version)
    WHERE reverts_to IS NULL`);
  const versions = real.streams.map(({ meterId, version }) => {
    const row = rows.find((one) => one.meter_id === meterId && one.version === version);
    if (row === undefined) return null;
    return {
      generation: numberOf(row.generation),
      activatedIn: row.activated_in,
      retiredIn: row.retired_in,
      readGenerations: row.read_generations.map(numberOf).sort(ascending),
      isUnread: row.is_unread,
      startOffsets: Array.from(
        { length: PARTITIONS },
        (_, partition) => row.start_offsets?.[partition] ?? 0,
      ),
      backfill: row.backfill ?? 'none',
      attempts: row.attempts ?? 0,
    };
  });
  const counter = sql.type(z.object({ version: integerColumn }))`
    SELECT version FROM catalog_counter`;
  const { version: catalog } = await owner.one(counter);
  return {
    catalog,
    partitions: await partitionsOf(real),
    versions,
    inSight: await pointersOf(real),
    inForce: Array.from({ length: catalog }, (_, index) =>
      rows
        .filter(({ activated_in: from }) => from <= index + 1)
        .filter(({ retired_in: to }) => to === null || to > index + 1)
        .map(({ generation }) => numberOf(generation))
        .sort(ascending),
    ),
  };
}

const pointerRow = z.object({ meter_id: z.string(), version: z.number() });

async function pointersOf({ database, streams }: RealPostgres): Promise<StoredState['inSight']> {
  const rows = await ownerOf(database).any(sql.type(pointerRow)`
    SELECT id AS meter_id, visible_meter_version(id) AS version FROM meters
    WHERE visible_meter_version(id) IS NOT NULL ORDER BY id`);
  return Object.fromEntries(
    rows.map((row) => [
      row.meter_id,
      streams.findIndex(
        ({ meterId, version }) => meterId === row.meter_id && version === row.version,
      ),
    ]),
  );
}
