import { assertPresent } from '../../runtime/failure.js';
import { FEATURES, type FeatureRow } from '../catalog/features/feature.resource.js';
import type { Caller } from '../records/caller.js';
import { createRecords } from '../records/create-record.js';
import { expandRecords } from '../records/expand-record.js';
import { findRecords } from '../records/find-record.js';
import {
  collect,
  invalid,
  isRefusal,
  notFound,
  type Refusal,
  type RequestItems,
} from '../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
import { keyOf, lockOwners, type Owner } from './entitlement-owner.js';
import {
  entitlementCommandFrom,
  featureRefusal,
  type EntitlementCommand,
} from './entitlement-request.js';
import {
  ENTITLEMENTS,
  entitlementExpansions,
  type CreateEntitlementBody,
  type EntitlementRow,
  type ExpandedEntitlement,
  type NewEntitlement,
} from './entitlement.resource.js';
import { resetRefusals, type ResetWindow } from './reset-rule.js';

/** What entitlements of a request name, by id; owners by `keyOf`. */
type Found = {
  readonly owners: ReadonlyMap<string, Owner | Refusal>;
  readonly features: ReadonlyMap<string, FeatureRow>;
  readonly parents: ReadonlyMap<string, EntitlementRow>;
};

async function findNamed(unit: Unit, commands: readonly EntitlementCommand[]): Promise<Found> {
  const owners = await lockOwners(
    unit,
    commands.map(({ owner }) => owner),
  );
  const requests = commands.map(({ request }) => request);
  const featureIds = requests.map((request) => request.feature_id);
  const parentIds = requests.flatMap((request) => request.parent_entitlement_id ?? []);
  return {
    owners,
    features: await findRecords(unit, FEATURES, featureIds),
    parents: await findRecords(unit, ENTITLEMENTS, parentIds),
  };
}

/** What a subscription's entitlement replaces: one of the same feature, of its plan. */
function parentRefusal(
  { feature_id: featureId, parent_entitlement_id: id }: CreateEntitlementBody,
  owner: Owner,
  { parents }: Found,
): Refusal | null {
  if (id === undefined) return null;
  const problem = (text: string): Refusal => invalid({ parent_entitlement_id: text });
  if (owner.entityType === 'PLAN') return problem('goes with a subscription only, not with a plan');
  const parent = parents.get(id);
  if (parent === undefined) return notFound('entitlement', id);
  if (parent.feature_id !== featureId) return problem('must be an entitlement to the same feature');
  return parent.entity_id === owner.planId
    ? null
    : problem("must be an entitlement of the subscription's plan");
}

/** An entitlement that keeps every rule but that of reset windows, with what it belongs to. */
type Checked = ResetWindow & { readonly command: EntitlementCommand };

function checkOne(command: EntitlementCommand, found: Found): Checked | Refusal {
  const { request, owner: wanted } = command;
  const owner = assertPresent(found.owners.get(keyOf(wanted)), 'the owner of an entitlement');
  if (isRefusal(owner)) return owner;
  const feature = found.features.get(request.feature_id);
  if (feature === undefined) return notFound('feature', request.feature_id);
  const refusal = featureRefusal(feature, request) ?? parentRefusal(request, owner, found);
  return refusal ?? { command, feature, owner, reset: request.usage_reset_period ?? null };
}

function newEntitlement({ command, feature, owner }: Checked): NewEntitlement {
  const { request, startMs, endMs } = command;
  return {
    feature_id: request.feature_id,
    feature_type: feature.type,
    entity_type: owner.entityType,
    entity_id: owner.id,
    ...membersOf(request),
    start_date: startMs,
    end_date: endMs,
  };
}

/** Checks and stores all entitlements in as many statements as one takes. */
async function storeEntitlements(
  unit: Unit,
  commands: readonly EntitlementCommand[],
  { isBulk }: { readonly isBulk: boolean },
): Promise<readonly EntitlementRow[] | Refusal> {
  const found = await findNamed(unit, commands);
  const checked = commands.map((command) => checkOne(command, found));
  const good = checked.filter((one): one is Checked => !isRefusal(one));
  const resets = await resetRefusals(unit, good);
  const items = collect({ items: checked, isBulk }, (one): NewEntitlement | Refusal => {
    if (isRefusal(one)) return one;
    return resets[good.indexOf(one)] ?? newEntitlement(one);
  });
  return isRefusal(items) ? items : createRecords(unit, ENTITLEMENTS, { items, isBulk });
}

/** The members that are stored as they are given. */
function membersOf(request: CreateEntitlementBody) {
  return {
    parent_entitlement_id: request.parent_entitlement_id ?? null,
    is_enabled: request.is_enabled ?? true,
    is_soft_limit: request.is_soft_limit ?? false,
    static_value: request.static_value ?? null,
    usage_limit: request.usage_limit ?? null,
    usage_reset_period: request.usage_reset_period ?? null,
    display_order: request.display_order ?? null,
  };
}

/** POST /entitlements and POST /entitlements/bulk: all of the request, in its order, or none. */
export async function createEntitlements(
  dependencies: WriteDependencies,
  caller: Caller,
  request: RequestItems<CreateEntitlementBody>,
): Promise<readonly ExpandedEntitlement[] | Refusal> {
  const { isBulk } = request;
  const commands = collect(request, entitlementCommandFrom);
  if (isRefusal(commands)) return commands;
  return writeUnit(dependencies, caller, async (unit) => {
    const rows = await storeEntitlements(unit, commands, { isBulk });
    if (isRefusal(rows)) return rows;
    return expandRecords(unit, rows, { expansions: entitlementExpansions, names: 'all' });
  });
}
