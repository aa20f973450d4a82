import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { migrateClickHouse } from '../../../../clickhouse/migrate.js';
import { createClickHouse } from '../../../../clickhouse/client.js';
import { USAGE_EVENTS_TOPIC } from '../../../../contract/topics.js';
import { describeTopic } from '../../../../event-log/kafka/describe-topic.js';
import { readMigrations } from '../../../../runtime/migrations.js';
import { createApiKey, displayIdOf, hashApiKey } from '../../../../sql/api-key.js';
import { readFunctions } from '../../../../sql/functions.js';
import { migrateDatabase } from '../../../../sql/migrate.js';
import { withDatabase } from '../../../harness/engines.js';
import { withAdmin } from '../../../harness/kafka-tools.js';
import type { FaultEngines } from '../engines/fault-engines.js';
import { ENVIRONMENTS, VALUE_FIELD, type UsageMeter } from '../load/usage-meter.js';
import { PATIENT_CONNECT, withPatientSession } from '../../../harness/patient-session.js';

/** Empty stores of one run, reached past the proxies. */
export type FreshStores = {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  /** A key of each environment. */
  readonly apiKeys: readonly string[];
  drop(): Promise<void>;
};

/** Migrated databases to clone, by their names: worlds that begin together share the making. */
const templates = new Map<string, Promise<void>>();

async function makeTemplate(engines: FaultEngines, name: string, folder: string): Promise<void> {
  await withPatientSession(engines.databaseUrl, (session) =>
    session.query(`CREATE DATABASE ${name}`),
  );
  await migrateDatabase(withDatabase(engines.databaseUrl, name), folder, PATIENT_CONNECT);
}

/** The name of a migrated database, made once for each set of migrations and server. */
async function prepareTemplate(engines: FaultEngines, buildRoot: string): Promise<string> {
  const folder = join(buildRoot, 'sql', 'migrations');
  const functions = readFunctions(join(buildRoot, 'sql', 'functions'));
  const texts = [...readMigrations(folder), ...functions].map(({ checksum }) => checksum);
  const digest = createHash('sha256').update(`${engines.databaseUrl} ${texts.join()}`);
  const name = `template_${digest.digest('hex').slice(0, 16)}`;
  const making = templates.get(name) ?? makeTemplate(engines, name, folder);
  templates.set(name, making);
  await making;
  return name;
}

async function makeTenants(databaseUrl: string): Promise<readonly string[]> {
  return withPatientSession(databaseUrl, async (session) => {
    const apiKeys: string[] = [];
    for (const { tenantId, environmentId } of ENVIRONMENTS) {
      const apiKey = createApiKey('private_key');
      const userId = `user_${environmentId}`;
      const keyHash = hashApiKey(apiKey);
      await session.query(
        'INSERT INTO tenants (id, name) VALUES ($1, $1) ON CONFLICT (id) DO NOTHING',
        [tenantId],
      );
      await session.query(
        `INSERT INTO environments (id, tenant_id, name, type) VALUES ($1, $2, $1, 'production')`,
        [environmentId, tenantId],
      );
      await session.query(
        `INSERT INTO users (id, tenant_id, name, roles) VALUES ($1, $2, $1, '{super_admin}')`,
        [userId, tenantId],
      );
      await session.query(
        `INSERT INTO secrets
           (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
         VALUES ($1, $2, $3, $4, 'Faults', 'private_key', $5, $6)`,
        [`secret_${environmentId}`, tenantId, environmentId, userId, keyHash, displayIdOf(apiKey)],
      );
      apiKeys.push(apiKey);
    }
    return apiKeys;
  });
}

/**
 * Puts a meter in force in the way the billing API does: one call of its transaction's function.
 */
export async function activateMeter(databaseUrl: string, meter: UsageMeter): Promise<void> {
  const environment = ENVIRONMENTS[meter.environment];
  const { aggregation: type } = meter;
  const aggregation = type === 'COUNT' ? { type } : { type, field: VALUE_FIELD };
  const owner = [environment?.tenantId, environment?.environmentId];
  await withPatientSession(databaseUrl, async (session) => {
    // The function refuses a session that has not entered the environment of the meter.
    await session.query(
      `SELECT set_config('minutebook.tenant_id', $1, false),
              set_config('minutebook.environment_id', $2, false)`,
      owner,
    );
    await session.query('SELECT activate_meter_version($1, 1, $2, $3, $4, $5::jsonb, $6::jsonb)', [
      meter.meterId,
      ...owner,
      meter.eventName,
      JSON.stringify(meter.filters),
      JSON.stringify(aggregation),
    ]);
  });
}

const TOPIC_TIMEOUT_MS = 10_000;

/** Deletes the topic; the next program that starts creates it again, empty. */
async function dropTopic(brokers: string): Promise<void> {
  const { topic } = await describeTopic({ brokers, topic: USAGE_EVENTS_TOPIC }, TOPIC_TIMEOUT_MS);
  if (topic === null) return;
  await withAdmin(brokers, (admin, done) => {
    admin.deleteTopic(USAGE_EVENTS_TOPIC, TOPIC_TIMEOUT_MS, done);
  });
}

/** Databases and a log for one run on engines that run already. */
export async function makeFreshStores(
  engines: FaultEngines,
  options: { readonly buildRoot: string; readonly brokers: string | null },
): Promise<FreshStores> {
  const { buildRoot, brokers } = options;
  const name = `run_${randomBytes(6).toString('hex')}`;
  const template = await prepareTemplate(engines, buildRoot);
  const databaseUrl = withDatabase(engines.databaseUrl, name);
  const clickhouseUrl = withDatabase(engines.clickhouseUrl, name);
  const migrations = join(buildRoot, 'clickhouse', 'migrations');
  await Promise.all([
    withPatientSession(engines.databaseUrl, (session) =>
      session.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
    ),
    migrateClickHouse(clickhouseUrl, null, migrations),
    brokers === null ? null : dropTopic(brokers),
  ]);
  return {
    databaseUrl,
    clickhouseUrl,
    apiKeys: await makeTenants(databaseUrl),
    drop: async () => {
      const clickhouse = createClickHouse(withDatabase(engines.clickhouseUrl, ''));
      await clickhouse.command(`DROP DATABASE IF EXISTS ${name} SYNC`);
      await clickhouse.close();
      await withPatientSession(engines.databaseUrl, (session) =>
        session.query(`DROP DATABASE ${name} WITH (FORCE)`),
      );
    },
  };
}
