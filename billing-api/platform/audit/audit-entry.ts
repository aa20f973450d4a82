import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import type { DateTime, PageRequest, ListDto } from '../../records/record-dto.js';
import type { Actor } from '../../records/occasion.js';

const answered = z.record(z.unknown());

/** What may have been done to a record: the plain actions, and the moves of all life cycles. */
export const AUDIT_ACTIONS = [
  'created',
  'updated',
  'archived',
  'deleted',
  'activate',
  'end_trial',
  'pause',
  'resume',
  'cancel',
  'finalize',
  'skip',
  'reopen',
  'void',
  'expect',
  'process',
  'succeed',
  'overpay',
  'fail',
  'refund',
  'settle_again',
  'refund_in_part',
  'freeze',
  'unfreeze',
  'convert',
  'terminate',
  'complete',
  'execute',
  'apply',
  'retry',
  'begin',
  'prepare',
  'begin_revert',
  'revert',
] as const;

export const auditRow = z.object({
  id: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  action: z.string(),
  before: answered.nullable(),
  after: answered,
  actor_kind: z.enum(['request', 'job', 'operator'] as const satisfies Actor['kind'][]),
  actor_name: z.string().nullable(),
  run_id: z.string().nullable(),
  user_id: z.string().nullable(),
  api_key_id: z.string().nullable(),
  request_id: z.string().nullable(),
  created_at: instantColumn,
});
export type AuditRow = z.output<typeof auditRow>;

/** One change of one record: what it was, what it became, and who made it. */
export interface AuditEntryDto {
  id: string;
  /** @example "price_unit" */
  entity_type: string;
  entity_id: string;
  /** created, updated, archived, deleted, or the name of a move (docs/domain.md 5). */
  action: string;
  /** The record with all of its columns, before; null for a new one. */
  before: { [member: string]: unknown } | null;
  /** The same after the change. */
  after: { [member: string]: unknown };
  /** A request, a job that was due, or an operator of the installation. */
  actor_kind: 'request' | 'job' | 'operator';
  /** The name of the job or of the operator; null for a request. */
  actor_name: string | null;
  /** Which run of the job; null for others. */
  run_id: string | null;
  /** On whose behalf the request was made; null for a job and an operator. */
  user_id: string | null;
  /** Null when the caller came with a token, and for a job and an operator. */
  api_key_id: string | null;
  /** The X-Request-ID of the request; null for a job and an operator. */
  request_id: string | null;
  created_at: DateTime;
}

export interface AuditListDto extends ListDto<AuditEntryDto> {}

/** @example {"entity_type": "customer", "action": "updated", "limit": 10} */
export interface SearchAuditBody extends PageRequest {
  /** Changed at or after. */
  start_time?: DateTime;
  /** Changed before. */
  end_time?: DateTime;
  /** @maxLength 100 */
  entity_type?: string;
  /** @maxLength 255 */
  entity_id?: string;
  /** Changed by a request, a job or an operator. */
  actor_kind?: 'request' | 'job' | 'operator';
  /** @maxLength 255 */
  user_id?: string;
  /** What was done, or the name of a move of a life cycle (docs/domain.md 5). */
  action?: (typeof AUDIT_ACTIONS)[number];
}

export function auditEntryToDto(row: AuditRow): AuditEntryDto {
  return { ...row, created_at: formatInstant(row.created_at) };
}
