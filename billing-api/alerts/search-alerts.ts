import {
  ALERT_LOGS,
  type AlertDto,
  type AlertLogRow,
} from '../declarations/alerts/alert-log.resource.js';
import { isEqual } from '../records/conditions.js';
import type { Occasion } from '../records/occasion.js';
import type { SearchBody } from '../records/record-dto.js';
import type { Refusal } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import { readUnit, type ReadDependencies } from '../records/unit.js';

/** @example {"entity_type": "wallet", "alert_status": "in_alarm"} */
export interface SearchAlertsBody extends SearchBody {
  entity_type?: AlertDto['entity_type'];
  entity_id?: string;
  alert_type?: AlertDto['alert_type'];
  alert_status?: AlertDto['alert_status'];
}

/** POST /alerts/search: the changes of states, latest first unless sorted otherwise. */
export function searchAlerts(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchAlertsBody,
): Promise<Page<AlertLogRow> | Refusal> {
  const conditions = [
    ...isEqual('entity_type', body.entity_type),
    ...isEqual('entity_id', body.entity_id),
    ...isEqual('alert_type', body.alert_type),
    ...isEqual('alert_status', body.alert_status),
  ];
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, ALERT_LOGS, { request: body, conditions }),
  );
}
