import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import type { SecretBox } from '../../../runtime/secret-box.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { CONNECTIONS } from '../../declarations/exports/connection.resource.js';
import {
  SCHEDULED_TASKS,
  type ChangeScheduledTaskBody,
  type CreateScheduledTaskBody,
  type Exported,
  type JobConfig,
  type JobConfigBody,
  type RunScheduledTaskBody,
  type ScheduledTaskRow,
} from '../../declarations/exports/scheduled-task.resource.js';
import { TASKS, type TaskRow } from '../../declarations/exports/task.resource.js';
import { lastClosedWindow, type ExportInterval } from '../../domain/outward/export-windows.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../../records/change-record.js';
import { isEqual, isFlag } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { holdPublished, lockRecord, readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { endpointProblem } from './endpoint-problem.js';
import { authorOf, type Occasion } from '../../records/occasion.js';
import { accept, invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import { readOperation, writeOperation } from '../../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';

/** What operations on scheduled tasks need. */
export type TaskDependencies = WriteDependencies & {
  /** Null where no key is configured. */
  readonly secretBox: SecretBox | null;
  /** Whether files may go to addresses in a private network. */
  readonly arePrivateTargetsAllowed: boolean;
};

/** As the job that exports one window is queued; the windows of a task take turns. */
export const EXPORT_WINDOW = {
  name: 'export-window',
  keyOf: ({ scheduledTaskId }: { readonly scheduledTaskId: string }): string => scheduledTaskId,
  onceWhileWaiting: false,
};

/** Which metadata a file can have columns of (docs/domain.md 33.6). */
const FIELDS_OF: Readonly<Record<Exported, readonly string[]>> = {
  events: [],
  invoice: [],
  credit_topups: [],
  credit_usage: ['customer', 'wallet'],
  usage_analytics: ['customer'],
};

function configOf(
  reader: MemberReader,
  config: JobConfigBody,
  {
    entityType,
    ...rules
  }: { readonly entityType: Exported } & Pick<TaskDependencies, 'arePrivateTargetsAllowed'>,
): JobConfig {
  const { endpoint_url: endpoint = null, export_metadata_fields: fields = [] } = config;
  if (endpoint !== null) {
    const problem = endpointProblem(endpoint, rules.arePrivateTargetsAllowed);
    reader.note('job_config.endpoint_url', problem);
  }
  for (const [index, field] of fields.entries()) {
    if (FIELDS_OF[entityType].includes(field.entity_type)) continue;
    const place = `job_config.export_metadata_fields.${index}.entity_type`;
    reader.note(place, `is not among those of ${entityType}`);
  }
  return {
    bucket: config.bucket,
    region: config.region,
    key_prefix: config.key_prefix ?? null,
    endpoint_url: endpoint,
    use_path_style: config.use_path_style ?? false,
    compression: config.compression ?? 'none',
    encryption: config.encryption ?? 'AES256',
    export_metadata_fields: fields.map(({ entity_type, field_key, column_name }) => ({
      entity_type,
      field_key,
      column_name: column_name ?? field_key,
    })),
  };
}

function intervalOf(reader: MemberReader, interval: CreateScheduledTaskBody['interval']) {
  if (interval !== 'custom') return interval;
  reader.note('interval', 'custom is reserved; give 15MIN, 30MIN, hourly or daily');
  return 'daily';
}

/** POST /tasks/scheduled. */
export async function createScheduledTask(
  dependencies: TaskDependencies,
  occasion: Occasion,
  body: CreateScheduledTaskBody,
): Promise<ScheduledTaskRow | Refusal> {
  const { connection_id, entity_type: entityType, enabled = false } = body;
  const { arePrivateTargetsAllowed } = dependencies;
  const reader = new MemberReader();
  const interval: ExportInterval = intervalOf(reader, body.interval);
  const rules = { entityType, arePrivateTargetsAllowed };
  const job_config = configOf(reader, body.job_config, rules);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    await holdPublished(unit, CONNECTIONS, connection_id);
    return createRecord(unit, SCHEDULED_TASKS, {
      connection_id,
      entity_type: entityType,
      interval,
      enabled,
      job_config,
      queued_until: null,
      metadata: {},
    });
  });
}

/** Which scheduled tasks a list wants. */
export type ScheduledTaskConditions = {
  readonly connectionId: string | undefined;
  readonly entityType: string | undefined;
  readonly interval: string | undefined;
  readonly enabled: boolean | undefined;
};

/** GET /tasks/scheduled. */
export function listScheduledTasks(
  dependencies: ReadDependencies,
  occasion: Occasion,
  wanted: { readonly request: SearchBodyRequest } & ScheduledTaskConditions,
): Promise<Page<ScheduledTaskRow> | Refusal> {
  const conditions = [
    ...isEqual('connection_id', wanted.connectionId),
    ...isEqual('entity_type', wanted.entityType),
    ...isEqual('interval', wanted.interval),
    ...isFlag('enabled', wanted.enabled),
  ] as const;
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, SCHEDULED_TASKS, { request: wanted.request, conditions }),
  );
}

/** GET /tasks/scheduled/{id}. */
export const readScheduledTask = readOperation((unit, id: string) =>
  readRecord(unit, SCHEDULED_TASKS, id),
);

/** PUT /tasks/scheduled/{id}: what was missed while it was disabled is made up. */
export const changeScheduledTask = writeOperation(
  (
    unit,
    { target, body }: { readonly target: ChangeTarget; readonly body: ChangeScheduledTaskBody },
  ) => changeRecord(unit, SCHEDULED_TASKS, { target, change: () => ({ enabled: body.enabled }) }),
);

/** DELETE /tasks/scheduled/{id}. */
export const removeScheduledTask = writeOperation((unit, id: string) =>
  removeRecord(unit, SCHEDULED_TASKS, { id, guards: [] }),
);

const taskRow = z.object({ id: z.string() });

/**
 * Queues the export of a window. One that was queued before is the same row, and writes the same
 * file again, unless it is still waiting.
 */
export async function queueWindow(
  unit: Unit,
  scheduled: Pick<ScheduledTaskRow, 'id' | 'entity_type'>,
  { startMs, endMs }: Interval,
): Promise<string> {
  const { tenantId, environmentId } = unit.environment;
  const at = sql.fragment`${formatInstant(unit.now)}::timestamptz`;
  const author = authorOf(unit.actor);
  const { id } = await unit.tx.one(sql.type(taskRow)`
    INSERT INTO tasks (id, tenant_id, environment_id, task_type, entity_type, task_status,
      scheduled_task_id, start_time, end_time, created_at, created_by, updated_at, updated_by)
    VALUES (${unit.newId(TASKS.idPrefix)}, ${tenantId}, ${environmentId}, 'EXPORT',
      ${scheduled.entity_type}, 'PENDING', ${scheduled.id}, ${formatInstant(startMs)}::timestamptz,
      ${formatInstant(endMs)}::timestamptz, ${at}, ${author}, ${at}, ${author})
    ON CONFLICT (tenant_id, environment_id, scheduled_task_id, start_time, end_time)
      DO UPDATE SET task_status = 'PENDING', attempts = 0, updated_at = ${at}, updated_by = ${author}
    RETURNING id`);
  await enqueue(unit, EXPORT_WINDOW, { input: { taskId: id, scheduledTaskId: scheduled.id } });
  return id;
}

const LONGEST_MS = 365 * 24 * 3_600_000;

/** The window of a run by hand (docs/domain.md 33.2). */
function windowOf(
  body: RunScheduledTaskBody,
  { interval }: ScheduledTaskRow,
  now: number,
): (Interval & { readonly mode: 'custom' | 'last_closed' }) | Refusal {
  const reader = new MemberReader();
  const startMs = reader.instant('start_time', body.start_time);
  const endMs = reader.instant('end_time', body.end_time);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  if (startMs === null && endMs === null) {
    return { ...lastClosedWindow(interval, now), mode: 'last_closed' };
  }
  if (startMs === null || endMs === null) {
    const member = startMs === null ? 'start_time' : 'end_time';
    return invalid({ [member]: 'must be given with the other one, or both left out' });
  }
  if (endMs <= startMs) return invalid({ end_time: 'must be later than start_time' });
  if (endMs > now) return invalid({ end_time: 'must not be in the future' });
  if (endMs - startMs <= LONGEST_MS) return { startMs, endMs, mode: 'custom' };
  return invalid({ start_time: 'must be at most 365 days before end_time' });
}

/** A run that was begun by hand. */
export type StartedRun = Interval & {
  readonly taskId: string;
  readonly mode: 'custom' | 'last_closed';
};

/** POST /tasks/scheduled/{id}/run: exports a window now. */
export const runScheduledTask = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: RunScheduledTaskBody },
  ): Promise<StartedRun> => {
    const row = await lockRecord(unit, SCHEDULED_TASKS, id);
    if (row === null) throw new Refused(notFound(SCHEDULED_TASKS.name, id));
    if (row.status !== 'published' || !row.enabled) {
      const state = row.status === 'published' ? 'disabled' : row.status;
      throw new Refused(
        new Refusal('invalid_operation', `the scheduled task is ${state}; nothing of it runs`),
      );
    }
    const window = accept(windowOf(body, row, unit.now));
    return { ...window, taskId: await queueWindow(unit, row, window) };
  },
);

/** GET /tasks. */
export function listTasks(
  dependencies: ReadDependencies,
  occasion: Occasion,
  wanted: {
    readonly request: SearchBodyRequest;
    readonly scheduledTaskId: string | undefined;
    readonly status: string | undefined;
    readonly entityType: string | undefined;
  },
): Promise<Page<TaskRow> | Refusal> {
  const conditions = [
    ...isEqual('scheduled_task_id', wanted.scheduledTaskId),
    ...isEqual('task_status', wanted.status),
    ...isEqual('entity_type', wanted.entityType),
  ] as const;
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, TASKS, { request: wanted.request, conditions }),
  );
}

/** GET /tasks/{id}. */
export const readTask = readOperation((unit, id: string) => readRecord(unit, TASKS, id));
