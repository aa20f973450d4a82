import { METERS, findMeter, type MeterRow } from '../store/meters.js';
import { isEqual, searchTable, type Page } from '../store/search.js';
import { readAs } from '../store/transaction.js';
import type { Caller } from './caller.js';
import type { Reading } from './dependencies.js';
import { isRefusal, notFound, type Refusal } from './refusal.js';
import { readSearch, type SearchBodyRequest } from './search-request.js';

/** GET /meters/{id}, whatever its status. */
export async function readMeter(
  { database }: Reading,
  caller: Caller,
  id: string,
): Promise<MeterRow | Refusal> {
  const meter = await readAs(database, caller.environment, (tx) => findMeter(tx, id));
  return meter ?? notFound('meter', id);
}

/** GET /meters. */
export async function listMeters(
  { database }: Reading,
  caller: Caller,
  request: SearchBodyRequest & { readonly event_name?: string | undefined },
): Promise<(Page<MeterRow> & { readonly limit: number; readonly offset: number }) | Refusal> {
  const command = readSearch(request, { members: METERS.members, expandable: [] });
  if (isRefusal(command)) return command;
  const extra = isEqual('event_name', request.event_name);
  const page = await readAs(database, caller.environment, (tx) =>
    searchTable(tx, METERS, { command, extra }),
  );
  return { ...page, limit: command.limit, offset: command.offset };
}
