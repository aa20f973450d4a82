import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import type { MeterFilter } from '../../contract/meter.js';
import { integerColumn } from '../../sql/columns.js';
import type {
  BackfillAttempt,
  BackfillRange,
  BackfillResult,
  BackfillWatch,
} from './backfill-jobs.js';

const scannedRow = z.object({ scanned: integerColumn });
const matchedRow = z.object({ matched: integerColumn });

/**
 * The rule of `meterMatches` (contract/meter.ts) in SQL: the property exists and its text is
 * listed.
 */
function filterCondition(filters: readonly MeterFilter[]): {
  readonly text: string;
  readonly parameters: QueryParameters;
} {
  const parameters: Record<string, string | readonly string[]> = {};
  const conditions = filters.map(({ key, values }, index) => {
    parameters[`key_${index}`] = key;
    parameters[`values_${index}`] = values;
    return (
      `mapContains(properties, {key_${index}:String}) AND ` +
      `has({values_${index}:Array(String)}, properties[{key_${index}:String}])`
    );
  });
  return { text: ['1', ...conditions].join(' AND '), parameters };
}

const OF_RANGE = `tenant_id = {tenant_id:String} AND environment_id = {environment_id:String}
  AND event_name = {event_name:String} AND log_id = {log_id:String}
  AND log_partition = {log_partition:UInt32} AND log_offset < {live_from:UInt64}`;

function parametersOf(attempt: BackfillAttempt, range: BackfillRange): QueryParameters {
  return {
    tenant_id: attempt.environment.tenantId,
    environment_id: attempt.environment.environmentId,
    event_name: attempt.eventName,
    log_id: range.log,
    log_partition: range.partition,
    live_from: range.liveFrom,
    meter_id: attempt.meterId,
    generation: attempt.generation,
  };
}

async function backfillRange(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  range: BackfillRange,
): Promise<number> {
  const filter = filterCondition(attempt.filters);
  const parameters = { ...parametersOf(attempt, range), ...filter.parameters };
  await clickhouse.command(
    `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation,
       minute, source, group_key, event_count)
     SELECT tenant_id, environment_id, customer_key, {meter_id:String}, {generation:UInt64},
       toDateTime64(toStartOfMinute(timestamp), 0, 'UTC') AS minute_start, source, '', count()
     FROM events_v1
     WHERE ${OF_RANGE} AND ${filter.text}
     GROUP BY tenant_id, environment_id, customer_key, minute_start, source`,
    parameters,
    `mb:backfill:${attempt.meterId}:${attempt.generation}:${randomUUID()}`,
  );
  const rows = await clickhouse.query(
    `SELECT count() AS scanned FROM events_v1 WHERE ${OF_RANGE}`,
    parametersOf(attempt, range),
    scannedRow,
  );
  return rows[0]?.scanned ?? 0;
}

/**
 * Applies a meter to the stored events below its vector, under the attempt's own generation. Nobody
 * reads these rows until the attempt is completed; one that fails is abandoned, so an insert whose
 * outcome is unknown does no harm.
 * @throws DependencyError when ClickHouse fails or an outcome is unknown; the reason of the signal.
 */
export async function backfillMeter(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  watch: BackfillWatch,
): Promise<BackfillResult> {
  let eventsScanned = 0;
  for (const range of attempt.vector) {
    watch.signal.throwIfAborted();
    watch.progress(attempt, { eventsScanned, eventsMatched: 0 });
    eventsScanned += await backfillRange(clickhouse, attempt, range);
  }
  const rows = await clickhouse.query(
    `SELECT sum(event_count) AS matched FROM usage_minute_v1
     WHERE tenant_id = {tenant_id:String} AND environment_id = {environment_id:String}
       AND meter_id = {meter_id:String} AND generation = {generation:UInt64}`,
    {
      tenant_id: attempt.environment.tenantId,
      environment_id: attempt.environment.environmentId,
      meter_id: attempt.meterId,
      generation: attempt.generation,
    },
    matchedRow,
  );
  return { eventsScanned, eventsMatched: rows[0]?.matched ?? 0 };
}
