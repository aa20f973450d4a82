import { ALERT_LOGS, type AlertLogRow } from '../../declarations/alerts/alert-log.resource.js';
import type { SystemEventName } from '../../domain/lifecycle/system-event-names.js';
import { createRecord } from '../../records/create-record.js';
import type { Unit } from '../../records/unit.js';

/** An alert whose state has changed, and how that is told. */
export type AlertChange = Pick<
  AlertLogRow,
  'entity_type' | 'entity_id' | 'alert_type' | 'alert_status' | 'alert_info'
> & {
  readonly event: SystemEventName;
  /** What stands beside `alert` in the payload. */
  readonly beside?: Readonly<Record<string, unknown>>;
};

/** Logs that the state of an alert has changed, and tells of it (docs/domain.md 31). */
export async function logAlert(unit: Unit, change: AlertChange): Promise<void> {
  const { event, beside = {}, ...values } = change;
  await createRecord(unit, ALERT_LOGS, values);
  const { entity_type: entityType, entity_id: entityId, alert_info: alert } = values;
  unit.events.push({ name: event, entityType, entityId, payload: { ...beside, alert } });
}
