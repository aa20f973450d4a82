import { sql } from 'slonik';
import { z } from 'zod';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { PLANS } from '../../declarations/catalog/plan.resource.js';
import { WORKFLOWS, type WorkflowRow } from '../../declarations/platform/workflow.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { lockForChange } from '../../records/change-record.js';
import type { Occasion } from '../../records/occasion.js';
import { Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';

/** The type of workflow that brings subscriptions to the prices of their plan. */
const PLAN_SYNC = 'plan_price_sync';

/** What the job needs to know of a sync. */
export type PlanSyncInput = { readonly planId: string; readonly workflowId: string };

/** As the job is queued; it is declared with the other jobs. */
export const SYNC_PLAN = {
  name: 'sync-plan',
  keyOf: ({ planId }: PlanSyncInput): string => planId,
  onceWhileWaiting: true,
};

function isRunning({ tx }: Unit, planId: string): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM workflows
    WHERE workflow_type = ${PLAN_SYNC} AND entity_id = ${planId}
      AND workflow_status = 'Running' AND ${isOfEnvironment}`);
}

async function start(unit: Unit, planId: string): Promise<WorkflowRow> {
  // Two calls at once take turns here, and the second one sees the workflow of the first.
  await lockForChange(unit, PLANS, { id: planId });
  if (await isRunning(unit, planId)) {
    throw new Refused(
      new Refusal('invalid_operation', 'the subscriptions of the plan are being synced'),
    );
  }
  const workflow = await createRecord(unit, WORKFLOWS, {
    run_id: unit.newId('run'),
    workflow_type: PLAN_SYNC,
    workflow_status: 'Running',
    entity: 'plan',
    entity_id: planId,
    start_time: unit.now,
    close_time: null,
    result: null,
    error_code: null,
    error_message: null,
  });
  await enqueue(unit, SYNC_PLAN, { input: { planId, workflowId: workflow.id } });
  return workflow;
}

/**
 * POST /plans/{id}/sync/subscriptions: begins to give the subscriptions of a plan its present
 * prices. The job does it after this is committed; the workflow tells when it is done.
 */
export function startPlanSync(
  dependencies: WriteDependencies,
  occasion: Occasion,
  planId: string,
): Promise<WorkflowRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) => start(unit, planId));
}
