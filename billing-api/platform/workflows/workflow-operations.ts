import { isEqual } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { SearchBody } from '../../records/record-dto.js';
import { isRefusal, notFound, type Refusal, Refused } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import {
  WORKFLOWS,
  type WorkflowDto,
  type WorkflowRow,
} from '../../declarations/platform/workflow.resource.js';

/** @example {"workflow_status": "Failed"} */
export interface SearchWorkflowsBody extends SearchBody {
  workflow_id?: string;
  workflow_type?: string;
  workflow_status?: WorkflowDto['status'];
  entity?: string;
  entity_id?: string;
}

/** GET /workflows/{workflow_id}: its only run, or the one that is named. */
export function readWorkflow(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { id, runId }: { readonly id: string; readonly runId: string | undefined },
): Promise<WorkflowRow | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, WORKFLOWS, id);
    const isAnyRun = runId === undefined || runId === 'latest';
    if (isRefusal(row) || isAnyRun || runId === row.run_id) return row;
    throw new Refused(notFound('run', runId));
  });
}

/** POST /workflows/search. */
export function searchWorkflows(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchWorkflowsBody,
): Promise<Page<WorkflowRow> | Refusal> {
  const conditions = [
    ...isEqual('id', body.workflow_id),
    ...isEqual('workflow_type', body.workflow_type),
    ...isEqual('workflow_status', body.workflow_status),
    ...isEqual('entity', body.entity),
    ...isEqual('entity_id', body.entity_id),
  ];
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, WORKFLOWS, { request: body, conditions }),
  );
}
