import { WORKFLOWS, type WorkflowRow } from '../../declarations/platform/workflow.resource.js';
import { createRecord } from '../../records/create-record.js';
import type { Unit } from '../../records/unit.js';

/** What a workflow does, and with which record. */
export type BegunWork = { readonly type: string; readonly entity: string; readonly id: string };

/** Stores a workflow that runs from now on; its job is queued by the caller. */
export function beginWorkflow(unit: Unit, { type, entity, id }: BegunWork): Promise<WorkflowRow> {
  return createRecord(unit, WORKFLOWS, {
    run_id: unit.newId('run'),
    workflow_type: type,
    workflow_status: 'Running',
    entity,
    entity_id: id,
    start_time: unit.now,
    close_time: null,
    result: null,
    error_code: null,
    error_message: null,
  });
}
