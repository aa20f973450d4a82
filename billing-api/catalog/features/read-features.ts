import { FEATURES, findFeature, type FeatureRow } from './features-store.js';
import { findMeters, type MeterRow } from '../meters/meters-store.js';
import { hasText, isEqual, isOneOf } from '../../records/conditions.js';
import { searchTable, type Page } from '../../records/search-table.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../../records/search-request.js';

export type FeatureSearchRequest = SearchBodyRequest & {
  readonly feature_ids?: readonly string[] | undefined;
  readonly meter_ids?: readonly string[] | undefined;
  readonly lookup_key?: string | undefined;
  readonly lookup_keys?: readonly string[] | undefined;
  readonly name_contains?: string | undefined;
  readonly type?: string | undefined;
};
type Expandable = 'meter' | 'group';

export type FeaturePage = Page<FeatureRow> & {
  readonly command: SearchCommand<Expandable>;
  readonly meters: ReadonlyMap<string, MeterRow>;
};

/** GET /features/{id} with its meter, whatever its status. */
export function readFeature(
  { database }: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<{ feature: FeatureRow; meters: ReadonlyMap<string, MeterRow> } | Refusal> {
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const feature = await findFeature(transaction, id);
    if (feature === null) return notFound('feature', id);
    const meterIds = feature.meter_id === null ? [] : [feature.meter_id];
    return { feature, meters: await findMeters(transaction, meterIds) };
  });
}

/** POST /features/search. */
export async function searchFeatures(
  { database }: ReadDependencies,
  caller: Caller,
  request: FeatureSearchRequest,
): Promise<FeaturePage | Refusal> {
  const expandable: readonly Expandable[] = ['meter', 'group'];
  const command = readSearch(request, { members: FEATURES.members, expandable });
  if (isRefusal(command)) return command;
  const extra = [
    ...isOneOf('id', request.feature_ids),
    ...isOneOf('meter_id', request.meter_ids),
    ...isEqual('lookup_key', request.lookup_key),
    ...isOneOf('lookup_key', request.lookup_keys),
    ...hasText('name', request.name_contains),
    ...isEqual('type', request.type),
  ];
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const page = await searchTable(transaction, FEATURES, { command, extra });
    const ids = command.expand.has('meter') ? page.rows.flatMap((row) => row.meter_id ?? []) : [];
    return { ...page, command, meters: await findMeters(transaction, ids) };
  });
}
