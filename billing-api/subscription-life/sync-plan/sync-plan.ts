import { sql } from 'slonik';
import { z } from 'zod';
import { mustGet } from '../../../runtime/failure.js';
import { WORKFLOWS } from '../../declarations/platform/workflow.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { holdPublishedPlan } from '../../owners/lock-plans.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import {
  mustRead,
  mustWrite,
  type ReadUnit,
  type Unit,
  type WriteDependencies,
  writeUnit,
} from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { PlanSyncInput } from './start-plan-sync.js';
import { syncSubscription, type SyncCounts } from './sync-subscription.js';

/** Subscriptions of one look. */
const PAGE = 100;

const idRow = z.object({ id: z.string() });

/**
 * Subscriptions that have older prices than their plan, after one of them. Their periods run, and
 * no pause moves them; those with phases have the prices of their phases.
 */
async function findOutdated(
  { tx }: ReadUnit,
  planId: string,
  after: string | null,
): Promise<readonly string[]> {
  const rows = await tx.any(sql.type(idRow)`
    SELECT id FROM subscriptions
    WHERE plan_id = ${planId} AND status = 'published'
      AND ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'running')}
      AND active_pause_id IS NULL
      AND synced_price_sequence < (
        SELECT plan.price_sequence FROM plans AS plan
        WHERE plan.id = ${planId} AND ${rowIsOfEnvironment('plan')})
      AND NOT EXISTS (
        SELECT FROM subscription_phases AS phase
        WHERE phase.subscription_id = subscriptions.id AND ${rowIsOfEnvironment('phase')})
      AND (${after}::text IS NULL OR id > ${after}) AND ${isOfEnvironment}
    ORDER BY id LIMIT ${PAGE}`);
  return rows.map(({ id }) => id);
}

const COUNTED = {
  line_items_found_for_creation: 'found',
  line_items_created: 'created',
  line_items_terminated: 'terminated',
} as const;

/** Adds what was done to the result of the workflow, in the transaction that does it. */
async function addToResult(unit: Unit, workflowId: string, counts: SyncCounts): Promise<void> {
  const row = await lockRecord(unit, WORKFLOWS, workflowId);
  if (row === null) return;
  const { result: before } = row;
  const sums = Object.entries(COUNTED).map(([name, key]) => {
    const sum = before === null ? 0 : Number(mustGet(new Map(Object.entries(before)), name, name));
    return [name, sum + counts[key]] as const;
  });
  const patch = { result: Object.fromEntries(sums) };
  await updateRecord(unit, WORKFLOWS, { row, patch });
}

/** Syncs one subscription, unless it needs that no more. */
async function syncOne(
  unit: Unit,
  { planId, workflowId }: PlanSyncInput,
  id: string,
): Promise<void> {
  const plan = await holdPublishedPlan(unit.tx, planId);
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (plan === null || row === null) return;
  if (row.synced_price_sequence >= plan.price_sequence) return;
  const { subscription_status: status, active_pause_id: pauseId } = row;
  if (!isIn(SUBSCRIPTION, 'running', status) || pauseId !== null) return;
  const loaded = await loadBilledSubscription(unit, id);
  const counts = await syncSubscription(unit, loaded, plan);
  return addToResult(unit, workflowId, counts);
}

/** Ends the workflow: with what was done, or with why it could not be done. */
async function close(unit: Unit, workflowId: string, failure: Refusal | null): Promise<void> {
  await addToResult(unit, workflowId, { found: 0, created: 0, terminated: 0 });
  const row = await lockRecord(unit, WORKFLOWS, workflowId);
  if (row?.workflow_status !== 'Running') return;
  const outcome =
    failure === null
      ? { workflow_status: 'Completed' as const }
      : {
          workflow_status: 'Failed' as const,
          error_code: failure.code,
          error_message: failure.message,
        };
  const patch = { ...outcome, close_time: Math.max(unit.now, row.start_time) };
  await updateRecord(unit, WORKFLOWS, { row, patch });
}

/** Syncs all that need it. @returns why the first one that could not be synced could not. */
async function syncAll(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  input: PlanSyncInput,
): Promise<Refusal | null> {
  let failure: Refusal | null = null;
  let after: string | null = null;
  let ids: readonly string[];
  do {
    const from: string | null = after;
    ids = await mustRead(dependencies, occasion, (unit) => findOutdated(unit, input.planId, from));
    for (const id of ids) {
      const refused = await writeUnit(dependencies, occasion, (unit) => syncOne(unit, input, id));
      if (isRefusal(refused)) {
        failure ??= new Refusal(refused.code, `subscription ${id}: ${refused.message}`);
      }
    }
    after = ids.at(-1) ?? null;
  } while (ids.length === PAGE);
  return failure;
}

/**
 * Gives the subscriptions of a plan its present prices, each in a transaction of its own. Begun
 * again, it goes on with those that are left. One that cannot be synced does not stop the others;
 * the workflow then fails with its reason.
 * @throws DependencyError when a database fails; then it is to be done again.
 */
export async function syncPlan(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  input: PlanSyncInput,
): Promise<void> {
  const failure = await syncAll(dependencies, occasion, input);
  await mustWrite(dependencies, occasion, (unit) => close(unit, input.workflowId, failure));
}
