import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../harness/owner.js';
import {
  createBackfillJobs,
  type BackfillAttempt,
} from '../../../aggregator/backfill/backfill-jobs.js';
import { retireUnread } from '../../../aggregator/backfill/retire-unread.js';
import { createCheckpointStore } from '../../../aggregator/checkpoints/checkpoint-store.js';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { assertPresent } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import type { Database } from '../../../sql/pool.js';
import type { Attempt } from '../simulation/world.js';
import type { Statement } from './modelled-operations.js';
import { METERS } from './operations.js';

export const LOG = 'log';
const MEMBER = 'member';
const ENVIRONMENT = { tenantId: 'tenant', environmentId: 'environment' };
const EVENT_NAME = 'request';

const run = sql.type(z.unknown());
const generationRow = z.object({ generation: integerColumn });

type StreamName = { readonly meterId: string; readonly version: number };

/** The meters of the statements: each has a row that says which version is read. */
export async function makeMeters(database: Database): Promise<void> {
  const owner = ownerOf(database);
  const { tenantId, environmentId } = ENVIRONMENT;
  await owner.query(run`INSERT INTO tenants (id, name) VALUES (${tenantId}, 'Tenant')`);
  await owner.query(run`
    INSERT INTO environments (id, tenant_id, name, type)
    VALUES (${environmentId}, ${tenantId}, 'Production', 'production')`);
  for (const meterId of new Set(METERS)) {
    await owner.query(run`
      INSERT INTO meters
        (id, tenant_id, environment_id, name, event_name, filters, aggregation_type, reset_usage,
         version, read_version, metadata, status, created_at, updated_at)
      VALUES (${meterId}, ${tenantId}, ${environmentId}, ${meterId}, ${EVENT_NAME}, '[]', 'COUNT',
              'BILLING_PERIOD', 1, 1, '{}', 'published', now(), now())`);
  }
}

/** Resets everything that the statements change to the state after the migrations. */
async function forget(database: Database): Promise<void> {
  const owner = ownerOf(database);
  await owner.query(run`UPDATE meters SET version = 1, read_version = 1, backfill = NULL`);
  await owner.query(run`DELETE FROM meter_backfills`);
  await owner.query(run`DELETE FROM meter_start_offsets`);
  await owner.query(run`DELETE FROM meter_versions`);
  await owner.query(run`DELETE FROM aggregator_checkpoints`);
  await owner.query(run`DELETE FROM catalog_versions WHERE version > 1`);
  await owner.query(run`UPDATE catalog_counter SET version = 1`);
}

/** The product's own statements on a migrated database, with the names that the model uses. */
export class RealPostgres {
  /** By position of the version in the model: its row here. */
  readonly streams: StreamName[] = [];
  /** The generation here of each generation in the model: the sequence here also skips numbers. */
  readonly generations = new Map<number, number>();
  readonly #attempts = new Map<number, BackfillAttempt>();
  readonly #versions = new Map<string, number>();
  readonly #checkpoints;
  readonly #jobs;

  private constructor(readonly database: Database) {
    this.#checkpoints = createCheckpointStore(database, { log: LOG, memberId: MEMBER });
    this.#jobs = createBackfillJobs(database);
  }

  static async empty(database: Database): Promise<RealPostgres> {
    await forget(database);
    return new RealPostgres(database);
  }

  /** Whether the statement took effect; `generation` is what the model draws if it does. */
  async perform(statement: Statement, generation: number): Promise<boolean> {
    switch (statement.kind) {
      case 'ensure':
        return this.#ensure(statement.partitions);
      case 'take':
        return (await this.#checkpoints.take(statement.partition, statement.gate)) !== null;
      case 'intend':
        return (await this.#checkpoints.intend([statement])).has(statement.partition);
      case 'finish':
        return (await this.#checkpoints.finish([statement])).has(statement.partition);
      case 'activate':
        return this.#activate(statement.version, generation);
      case 'revert':
        return this.#revert(statement.version);
      case 'retire_unread':
        return (await retireUnread(this.database.slonik, 0)).retired > 0;
      case 'claim':
        return this.#claim(statement.version, generation);
      default:
        return this.#goOn(statement.kind, statement.attempt);
    }
  }

  async #ensure(partitions: number): Promise<boolean> {
    const { slonik } = this.database;
    const count = sql.type(z.object({ count: integerColumn }))`
      SELECT count(*) AS count FROM aggregator_checkpoints`;
    const before = await slonik.one(count);
    await this.#checkpoints.ensure(Array.from({ length: partitions }, () => 0));
    // The model does not say who owns a partition; here it is this member.
    await slonik.query(run`UPDATE aggregator_checkpoints SET owner = ${MEMBER}`);
    return (await slonik.one(count)).count > before.count;
  }

  #nextVersion(meterId: string): number {
    const version = (this.#versions.get(meterId) ?? 0) + 1;
    this.#versions.set(meterId, version);
    return version;
  }

  #streamOf(index: number): StreamName {
    return assertPresent(this.streams[index], 'a version of the model');
  }

  async #activate(index: number, generation: number): Promise<boolean> {
    const meterId = assertPresent(METERS[index], 'a meter of the plan');
    const version = this.#nextVersion(meterId);
    this.streams[index] = { meterId, version };
    const { tenantId, environmentId } = ENVIRONMENT;
    const aggregation = JSON.stringify(COUNT_EVENTS);
    await this.database.asEnvironment(ENVIRONMENT, async (connection) => {
      await connection.query(run`UPDATE meters SET version = ${version} WHERE id = ${meterId}`);
      await connection.query(run`
        SELECT activate_meter_version(${meterId}, ${version}, ${tenantId}, ${environmentId},
          ${EVENT_NAME}, '[]'::jsonb, ${aggregation}::jsonb)`);
    });
    const row = await ownerOf(this.database).one(sql.type(generationRow)`
      SELECT generation FROM meter_versions WHERE meter_id = ${meterId} AND version = ${version}`);
    this.generations.set(generation, row.generation);
    return true;
  }

  /** The function raises an error when it refuses; the rollback takes its version back. */
  async #revert(index: number): Promise<boolean> {
    const { meterId, version: stream } = this.#streamOf(index);
    const version = (this.#versions.get(meterId) ?? 0) + 1;
    try {
      await this.database.asEnvironment(ENVIRONMENT, async (connection) => {
        await connection.query(run`UPDATE meters SET version = ${version} WHERE id = ${meterId}`);
        await connection.query(run`
          SELECT revert_meter_version(${meterId}, ${version}, ${stream})`);
      });
    } catch (error) {
      if (error instanceof Error && / is no longer counted/.test(String(error.cause ?? error)))
        return false;
      throw error;
    }
    this.#versions.set(meterId, version);
    return true;
  }

  /** In the model a lease may end at any time. Here this one has ended, and no other has. */
  async #claim(index: number, generation: number): Promise<boolean> {
    const { meterId, version } = this.#streamOf(index);
    await ownerOf(this.database).query(run`
      UPDATE meter_backfills SET claimed_until = now() + interval '1 hour'
        * CASE WHEN meter_id = ${meterId} AND version = ${version} THEN -1 ELSE 1 END`);
    const attempt = await this.#jobs.claim();
    if (attempt === null) return false;
    if (attempt.meterId !== meterId || attempt.version !== version) {
      throw new Error(`claimed version ${attempt.version} of ${attempt.meterId} instead`);
    }
    this.#attempts.set(generation, attempt);
    this.generations.set(generation, attempt.generation);
    return true;
  }

  /** The start offsets that the claim returned, by partition. */
  startOffsetsOfAttempt(
    generation: number,
  ): readonly (readonly [partition: number, liveFrom: number])[] {
    const { startOffsets } = assertPresent(this.#attempts.get(generation), 'an attempt');
    return startOffsets.map(({ partition, liveFrom }) => [partition, liveFrom] as const);
  }

  async #goOn(kind: 'progress' | 'complete' | 'postpone', of: Attempt): Promise<boolean> {
    const attempt = assertPresent(this.#attempts.get(of.generation), 'an attempt');
    const result = { eventsScanned: 0, eventsMatched: 0 };
    if (kind === 'progress') return this.#jobs.progress(attempt, result);
    if (kind === 'complete') return this.#jobs.complete(attempt, result);
    const { meterId, version } = attempt;
    // The statement does not tell whether it took effect; the row does.
    const status = sql.type(z.object({ state: z.string() }))`
      SELECT xmin::text AS state FROM meter_backfills
      WHERE meter_id = ${meterId} AND version = ${version}`;
    const before = await ownerOf(this.database).maybeOne(status);
    await this.#jobs.postpone(attempt, { error: 'given up', pauseSeconds: 0 });
    const after = await ownerOf(this.database).maybeOne(status);
    return before?.state !== after?.state;
  }
}
