import {
  LINE_ITEMS,
  lineItemToDto,
  type LineItemDto,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { findSymbolsOfPrices } from '../../catalog/price-units/price-units-store.js';
import { findPrices } from '../../catalog/prices/prices-store.js';
import { mustGet } from '../../../runtime/failure.js';
import { endsAfter, isDue, isEqual, isOneOfAsked } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { pageToDto, searchRecords } from '../../records/search-records.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../../records/unit.js';
import type { LineItemListDto, SearchLineItemsBody } from './line-items-dto.js';

/** Line items as they are answered, with their prices. */
export async function answeredLines(
  unit: ReadUnit,
  rows: readonly LineItemRow[],
): Promise<(row: LineItemRow) => LineItemDto> {
  const prices = await findPrices(
    unit.tx,
    rows.map(({ price_id: id }) => id),
  );
  const symbols = await findSymbolsOfPrices(unit, prices.values());
  return (row) => lineItemToDto(row, mustGet(prices, row.price_id, 'the price of a line'), symbols);
}

function conditionsOf(body: SearchLineItemsBody) {
  const reader = new MemberReader();
  const at = reader.instant('active_at', body.active_at);
  const active = at === null ? [] : [...isDue(['start_date'], at), ...endsAfter('end_date', at)];
  return (
    reader.refusal() ?? [
      ...isOneOfAsked('subscription_id', body.subscription_ids),
      ...isOneOfAsked('price_id', body.price_ids),
      ...isOneOfAsked('meter_id', body.meter_ids),
      ...isEqual('entity_type', body.entity_type),
      ...active,
    ]
  );
}

/** POST /subscriptions/lineitems/search. */
export function searchLines(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchLineItemsBody,
): Promise<LineItemListDto | Refusal> {
  const conditions = conditionsOf(body);
  if (isRefusal(conditions)) return Promise.resolve(conditions);
  return readUnit(dependencies, occasion, async (unit) => {
    const page = await searchRecords(unit, LINE_ITEMS, { request: body, conditions });
    return pageToDto(page, await answeredLines(unit, page.items));
  });
}

/** One line item as it is answered, in the unit that has written it. */
export async function answeredLine(unit: ReadUnit, row: LineItemRow): Promise<LineItemDto> {
  return (await answeredLines(unit, [row]))(row);
}
