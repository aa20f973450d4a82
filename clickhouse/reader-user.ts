import { EVENT_RECORD_VERSION } from '../contract/usage-event.js';
import { QUERY_LIMITS } from './request-queries.js';

/** The API's user on the embedded server. */
export const READER = 'minutebook_reader';

const SCOPE = `splitByChar('|', getSetting('log_comment'))`;
const TENANT = `${SCOPE}[1]`;
const ENVIRONMENT = `${SCOPE}[2]`;

/** A query that names no environment sees nothing, not even the rows of the aggregator's own. */
const OF_COLUMNS = `tenant_id = ${TENANT} AND environment_id = ${ENVIRONMENT} AND ${TENANT} != ''`;

/** Letters whose payload names the environment, also those that are no valid JSON further on. */
const OF_PAYLOAD = [
  `${TENANT} != '' AND (`,
  `startsWith(payload, concat('{"v":${EVENT_RECORD_VERSION},"t":', toJSONString(${TENANT}), `,
  `',"e":', toJSONString(${ENVIRONMENT}), ',')) `,
  `OR (JSONExtractString(payload, 't') = ${TENANT} `,
  `AND JSONExtractString(payload, 'e') = ${ENVIRONMENT}))`,
].join('');

/**
 * The tables that the API reads, with the condition on which its user sees a row: that of the
 * environment which the query's `log_comment` names (request-queries.ts), as `tenant|environment`.
 * That setting exists on every server, unlike settings of our own. Ids have no condition: they are
 * hashes of tenant, environment and id, so whoever asks for one knows them.
 */
export const READER_TABLES: Readonly<Record<string, string | null>> = {
  events_v1: OF_COLUMNS,
  usage_minute_v1: OF_COLUMNS,
  event_duplicates_v1: OF_COLUMNS,
  dead_letters_v1: OF_PAYLOAD,
  expired_events_v1: OF_COLUMNS,
  event_corrections_v1: OF_COLUMNS,
  corrected_minutes_v1: OF_COLUMNS,
  event_ids_v1: null,
};

const { seconds, memoryBytes } = QUERY_LIMITS;

/** The settings profile of the user, for users.xml. It cannot raise its own limits. */
export function readerProfile(threads: number): string {
  return `<${READER}>
      <readonly>2</readonly>
      <max_threads>${threads}</max_threads>
      <max_execution_time>${seconds}</max_execution_time>
      <max_memory_usage>${memoryBytes}</max_memory_usage>
      <cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close>
      <constraints>
        <max_execution_time><min>1</min><max>${seconds}</max></max_execution_time>
        <max_memory_usage><min>1</min><max>${memoryBytes}</max></max_memory_usage>
      </constraints>
    </${READER}>`;
}

/** The user, for users.xml. */
export function readerUser(database: string, passwordHash: string): string {
  const tables = Object.entries(READER_TABLES);
  const filters = tables
    .filter(([, condition]) => condition !== null)
    .map(([table, condition]) => `<${table}><filter>${condition ?? ''}</filter></${table}>`);
  const grants = tables.map(([table]) => `<query>GRANT SELECT ON ${database}.${table}</query>`);
  return `<${READER}>
      <password_sha256_hex>${passwordHash}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>${READER}</profile>
      <quota>default</quota>
      <databases><${database}>
        ${filters.join('\n        ')}
      </${database}></databases>
      <grants>
        ${grants.join('\n        ')}
      </grants>
    </${READER}>`;
}

/** The same on a server of your own, as statements (docs/operations.md 1.3). */
export function readerStatements(database: string): readonly string[] {
  const tables = Object.entries(READER_TABLES);
  return [
    `CREATE USER ${READER} IDENTIFIED BY '…' SETTINGS readonly = 2, max_threads = 4, ` +
      `max_execution_time = ${seconds} MIN 1 MAX ${seconds}, ` +
      `max_memory_usage = ${memoryBytes} MIN 1 MAX ${memoryBytes};`,
    ...tables.map(([table]) => `GRANT SELECT ON ${database}.${table} TO ${READER};`),
    ...tables
      .filter(([, condition]) => condition !== null)
      .map(
        ([table, condition]) =>
          `CREATE ROW POLICY of_environment ON ${database}.${table} USING ${condition ?? ''} TO ${READER};`,
      ),
  ];
}
