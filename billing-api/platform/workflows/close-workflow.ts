import { WORKFLOWS } from '../../declarations/platform/workflow.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecord } from '../../records/find-record.js';
import type { Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';

/** How a workflow has ended. */
export type WorkflowOutcome =
  | { readonly workflow_status: 'Completed'; readonly result: Readonly<Record<string, string>> }
  | {
      readonly workflow_status: 'Failed';
      readonly error_code: string;
      readonly error_message: string;
    };

/** As a workflow ends that was refused. */
export function failedBy({ code, message }: Refusal): WorkflowOutcome {
  return { workflow_status: 'Failed', error_code: code, error_message: message };
}

/** Ends a workflow that still runs. */
export async function closeWorkflow(
  unit: Unit,
  workflowId: string,
  outcome: WorkflowOutcome,
): Promise<void> {
  const row = await lockRecord(unit, WORKFLOWS, workflowId);
  if (row?.workflow_status !== 'Running') return;
  const patch = { ...outcome, close_time: Math.max(unit.now, row.start_time) };
  await updateRecord(unit, WORKFLOWS, { row, patch });
}
