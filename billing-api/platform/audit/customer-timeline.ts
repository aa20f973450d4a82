import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import type { DateTime, PageRequest, ListDto } from '../../records/record-dto.js';
import { readOperation } from '../../records/operation.js';
import type { ReadUnit } from '../../records/unit.js';
import { auditRow, type AuditRow } from './audit-entry.js';
import { timelineLink, timelineText } from './timeline-text.js';

/** Something that happened to a customer. */
export interface TimelineItemDto {
  /** Of the entry of the audit trail, which says everything about it. */
  id: string;
  at: DateTime;
  /** @example "subscription" */
  entity_type: string;
  entity_id: string;
  /** created, updated, archived, deleted, or the name of a move (docs/domain.md 5). */
  action: string;
  /** In one line. */
  summary: string;
  /** Where the record is read, or the subscription that it belongs to. */
  link: string | null;
  actor_kind: 'request' | 'job' | 'operator';
  /** The name of the job or of the operator; null for a request. */
  actor_name: string | null;
}

export interface TimelineDto extends ListDto<TimelineItemDto> {}

function itemOf({ id, entity_type: entityType, action, before, after, ...row }: AuditRow) {
  return {
    id,
    at: formatInstant(row.created_at),
    entity_type: entityType,
    entity_id: row.entity_id,
    action,
    summary: timelineText({ entityType, action, before, after }),
    link: timelineLink(entityType, row.entity_id, after),
    actor_kind: row.actor_kind,
    actor_name: row.actor_name,
  };
}

/**
 * Entries of the customer, of what names it, of the subscriptions that it pays, and of what names
 * one of these or of its own.
 */
function entriesOf(id: string) {
  const paid = sql.fragment`
    SELECT subscription.id FROM subscriptions AS subscription
    WHERE ${rowIsOfEnvironment('subscription')} AND subscription.invoicing_customer_id = ${id}`;
  return sql.fragment`(
    (entry.entity_type = 'customer' AND entry.entity_id = ${id})
    OR entry.after ->> 'customer_id' = ${id}
    OR entry.after ->> 'subscription_id' = ANY (ARRAY(
      SELECT subscription.id FROM subscriptions AS subscription
      WHERE subscription.customer_id = ${id} AND ${rowIsOfEnvironment('subscription')}))
    OR entry.after ->> 'subscription_id' = ANY (ARRAY(${paid}))
    OR (entry.entity_type = 'subscription' AND entry.entity_id = ANY (ARRAY(${paid}))))`;
}

const totalRow = z.object({ total: z.coerce.number().int() });

async function timelineOf(
  { tx }: ReadUnit,
  id: string,
  { limit = 50, offset = 0 }: PageRequest,
): Promise<TimelineDto> {
  const rows = await tx.any(sql.type(auditRow)`
    SELECT entry.* FROM audit_entries AS entry
    WHERE ${rowIsOfEnvironment('entry')} AND ${entriesOf(id)}
    ORDER BY entry.created_at, entry.entry_number LIMIT ${limit} OFFSET ${offset}`);
  const { total } = await tx.one(sql.type(totalRow)`
    SELECT count(*) AS total FROM audit_entries AS entry
    WHERE ${rowIsOfEnvironment('entry')} AND ${entriesOf(id)}`);
  return { items: rows.map(itemOf), pagination: { total, limit, offset } };
}

/** GET /customers/{id}/timeline: everything that happened to a customer, the first thing first. */
export const readTimeline = readOperation(
  async (
    unit,
    { id, page }: { readonly id: string; readonly page: PageRequest },
  ): Promise<TimelineDto> => {
    await readRecord(unit, CUSTOMERS, id);
    return timelineOf(unit, id, page);
  },
);
