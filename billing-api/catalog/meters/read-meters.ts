import { METERS, findMeter, type MeterRow } from './meters-store.js';
import { isEqual } from '../../records/conditions.js';
import { searchTable, type Page } from '../../records/search-table.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import { readSearch, type SearchBodyRequest } from '../../records/search-request.js';

/** GET /meters/{id}, whatever its status. */
export async function readMeter(
  { database }: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<MeterRow | Refusal> {
  const meter = await readUnit({ database }, caller.environment, ({ tx }) => findMeter(tx, id));
  return meter ?? notFound('meter', id);
}

/** GET /meters. */
export async function listMeters(
  { database }: ReadDependencies,
  caller: Caller,
  request: SearchBodyRequest & { readonly event_name?: string | undefined },
): Promise<(Page<MeterRow> & { readonly limit: number; readonly offset: number }) | Refusal> {
  const command = readSearch(request, { members: METERS.members, expandable: [] });
  if (isRefusal(command)) return command;
  const extra = isEqual('event_name', request.event_name);
  const page = await readUnit({ database }, caller.environment, ({ tx }) =>
    searchTable(tx, METERS, { command, extra }),
  );
  return { ...page, limit: command.limit, offset: command.offset };
}
