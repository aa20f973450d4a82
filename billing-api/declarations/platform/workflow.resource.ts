import { z } from 'zod';
import { instant, json, nullable, oneOf, text } from '../../records/columns.js';
import type { DateTime, ListDto } from '../../records/record-dto.js';
import { instantToDto } from '../../records/record-dto.js';
import { defineResource, type RecordOf } from '../../records/resource.js';

const WORKFLOW_STATUSES = [
  'Running',
  'Completed',
  'Failed',
  'Canceled',
  'Terminated',
  'ContinuedAsNew',
  'TimedOut',
  'Unknown',
] as const;

/** Work that a request has begun and a job does; it is polled until it is not Running any more. */
export const WORKFLOWS = defineResource({
  name: 'workflow',
  idPrefix: 'wf',
  table: 'workflows',
  columns: {
    run_id: text,
    workflow_type: text,
    workflow_status: oneOf(WORKFLOW_STATUSES),
    entity: text,
    entity_id: text,
    start_time: instant,
    close_time: nullable(instant),
    result: nullable(json(z.record(z.string(), z.union([z.string(), z.number()])))),
    error_code: nullable(text),
    error_message: nullable(text),
  },
  removal: null,
});
export type WorkflowRow = RecordOf<typeof WORKFLOWS>;

/** Why a workflow has failed. */
export interface WorkflowErrorDto {
  code: string;
  message: string;
}

/** What a workflow has made, by member: ids, or how many. */
export interface WorkflowResultDto {
  [name: string]: string | number;
}

export interface WorkflowDto {
  workflow_id: string;
  run_id: string;
  workflow_type: string;
  status: (typeof WORKFLOW_STATUSES)[number];
  /** What it works on, such as `invoice`. */
  entity: string;
  entity_id: string;
  start_time: DateTime;
  close_time: DateTime | null;
  /**
   * From start to close; null while it is Running.
   * @isInt
   */
  duration_ms: number | null;
  /**
   * A recalculation: `invoice_id` and `recalculated_invoice_id`. A sync of a plan: how many lines
   * it found, made and ended. A sync of an invoice: `invoice_id`, `method`, `provider_invoice_id`
   * and `provider_status`.
   */
  result: WorkflowResultDto | null;
  error: WorkflowErrorDto | null;
}

export interface WorkflowListDto extends ListDto<WorkflowDto> {}

export function workflowToDto(row: WorkflowRow): WorkflowDto {
  const { start_time: start, close_time: close, error_code: code, error_message: message } = row;
  return {
    workflow_id: row.id,
    run_id: row.run_id,
    workflow_type: row.workflow_type,
    status: row.workflow_status,
    entity: row.entity,
    entity_id: row.entity_id,
    start_time: new Date(start).toISOString(),
    close_time: instantToDto(close),
    duration_ms: close === null ? null : close - start,
    result: row.result,
    error: code === null || message === null ? null : { code, message },
  };
}

/** A workflow that has begun. */
export interface StartedWorkflowDto {
  message: string;
  run_id: string;
  /** Poll GET /workflows/{workflow_id} until it is not Running any more. */
  workflow_id: string;
}

export function startedWorkflowToDto(row: WorkflowRow, message: string): StartedWorkflowDto {
  return { message, run_id: row.run_id, workflow_id: row.id };
}
