import { sql } from 'slonik';
import type { Occasion } from '../../records/occasion.js';
import {
  allOf,
  isBefore,
  isEqual,
  isNotBefore,
  isOfEnvironment,
} from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { countMatches, type Page } from '../../records/search-records.js';
import { readTimeRange } from '../../records/search-request.js';
import { mustRead, type ReadDependencies } from '../../records/unit.js';
import { auditRow, type AuditRow, type SearchAuditBody } from './audit-entry.js';

const ENTRIES = { table: 'audit_entries', scope: 'environment' } as const;

/** POST /audit/search: the latest changes first. */
export async function searchAudit(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchAuditBody,
): Promise<Page<AuditRow> | Refusal> {
  const range = readTimeRange(body);
  if (isRefusal(range)) return range;
  const { limit = 50, offset = 0 } = body;
  const where = allOf([
    ...isNotBefore('created_at', range.from),
    ...isBefore('created_at', range.before),
    ...isEqual('entity_type', body.entity_type),
    ...isEqual('entity_id', body.entity_id),
    ...isEqual('actor_kind', body.actor_kind),
    ...isEqual('user_id', body.user_id),
    ...isEqual('action', body.action),
  ]);
  return mustRead(dependencies, occasion, async (unit) => {
    const items = await unit.tx.any(sql.type(auditRow)`
      SELECT * FROM audit_entries WHERE ${where} AND ${isOfEnvironment}
      ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`);
    const page = { limit, offset, itemCount: items.length };
    return { items, pagination: await countMatches(unit, { resource: ENTRIES, where }, page) };
  });
}
