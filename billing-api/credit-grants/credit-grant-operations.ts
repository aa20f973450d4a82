import { readOwner, type OwnerReference } from '../owners/read-owner.js';
import { isIn } from '../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import type { Occasion } from '../records/occasion.js';
import { isEqual } from '../records/conditions.js';
import { createRecord } from '../records/create-record.js';
import { findRecord, readRecord } from '../records/find-record.js';
import { isRefusal, Refusal, Refused } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import { readOperation } from '../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../records/unit.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import { readCreditGrant } from './credit-grant-rules.js';
import {
  CREDIT_GRANTS,
  type CreateCreditGrantBody,
  type CreditGrantRow,
} from '../declarations/credit-grants/credit-grant.resource.js';

/** A subscription that is cancelled applies no grant any more. */
async function refuseCancelled(unit: Unit, grant: CreditGrantRow): Promise<void> {
  if (grant.subscription_id === null) return;
  const subscription = await findRecord(unit, SUBSCRIPTIONS, grant.subscription_id);
  if (subscription === null) return;
  const { subscription_status: status } = subscription;
  if (isIn(SUBSCRIPTION, 'alive', status)) return;
  throw new Refused(
    new Refusal('invalid_operation', `the subscription is ${status}: it takes no credit grants`),
  );
}

/** POST /creditgrants. */
export async function createCreditGrant(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateCreditGrantBody,
): Promise<CreditGrantRow | Refusal> {
  const grant = readCreditGrant(body);
  if (isRefusal(grant)) return grant;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await createRecord(unit, CREDIT_GRANTS, grant);
    await refuseCancelled(unit, row);
    return row;
  });
}

/** GET /creditgrants/{id}, whatever its status. */
export const readCreditGrantById = readOperation((unit, id: string) =>
  readRecord(unit, CREDIT_GRANTS, id),
);

/** GET /plans/{id}/creditgrants and GET /addons/{id}/creditgrants. */
export function listCreditGrantsOf(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { id, kind, ...request }: SearchBodyRequest & OwnerReference,
): Promise<Page<CreditGrantRow> | Refusal> {
  const conditions = isEqual(kind === 'plan' ? 'plan_id' : 'addon_id', id);
  return readUnit(dependencies, occasion, async (unit) => {
    await readOwner(unit, { id, kind });
    return searchRecords(unit, CREDIT_GRANTS, { request, conditions });
  });
}
