import { assertPresent, zip } from '../../runtime/failure.js';
import { FEATURES, type FeatureRow } from '../declarations/catalog/feature.resource.js';
import { keyOf, lockOwners, type OwnerRecord } from '../owners/lock-owners.js';
import type { Occasion } from '../records/occasion.js';
import { createRecords } from '../records/create-record.js';
import { expandRecords } from '../records/expand-record.js';
import { findRecords, holdRecords } from '../records/find-record.js';
import {
  accept,
  collect,
  invalid,
  isRefusal,
  notFound,
  type Refusal,
  type RequestItems,
} from '../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
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
} from '../declarations/entitlements/entitlement.resource.js';
import { resetRefusals } from './reset-rule.js';
import { twinRefusals } from './twin-rule.js';

/** What entitlements of a request name, by id; owners by `keyOf`. */
type Found = {
  readonly owners: ReadonlyMap<string, OwnerRecord | Refusal>;
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
  const parentIds = requests
    .map((request) => request.parent_entitlement_id)
    .filter((id) => id !== undefined);
  return {
    owners,
    // Held, so that none of them is archived before the unit ends.
    features: await holdRecords(unit, FEATURES, featureIds),
    parents: await findRecords(unit, ENTITLEMENTS, parentIds),
  };
}

/**
 * What a subscription's entitlement replaces: one of the same feature, of its plan. On a plan or an
 * addon it is kept and has no effect (docs/http.md 18).
 */
function parentRefusal(
  { feature_id: featureId, parent_entitlement_id: id }: CreateEntitlementBody,
  owner: OwnerRecord,
  { parents }: Found,
): Refusal | null {
  if (id === undefined) return null;
  const problem = (text: string): Refusal => invalid({ parent_entitlement_id: text });
  const parent = parents.get(id);
  if (parent === undefined) return notFound('entitlement', id);
  if (parent.feature_id !== featureId) return problem('must be an entitlement to the same feature');
  return owner.entityType !== 'SUBSCRIPTION' || parent.entity_id === owner.row.plan_id
    ? null
    : problem("must be an entitlement of the subscription's plan");
}

/** An entitlement that keeps every rule but that of reset windows, with what it belongs to. */
type Checked = {
  readonly command: EntitlementCommand;
  readonly feature: FeatureRow;
  readonly owner: OwnerRecord;
};

function checkOne(command: EntitlementCommand, found: Found): Checked | Refusal {
  const { request, owner: wanted } = command;
  const owner = assertPresent(found.owners.get(keyOf(wanted)), 'the owner of an entitlement');
  if (isRefusal(owner)) return owner;
  const feature = found.features.get(request.feature_id);
  if (feature === undefined) return notFound('feature', request.feature_id);
  const refusal = featureRefusal(feature, request) ?? parentRefusal(request, owner, found);
  return refusal ?? { command, feature, owner };
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
): Promise<readonly EntitlementRow[]> {
  const found = await findNamed(unit, commands);
  const items = accept(
    collect({ items: commands, isBulk }, (command) => {
      const checked = accept(checkOne(command, found));
      return newEntitlement(checked);
    }),
  );
  const stored = await createRecords(unit, ENTITLEMENTS, { items, isBulk });
  const resets = await resetRefusals(unit, stored);
  const twins = await twinRefusals(unit, zip(stored, commands));
  return accept(
    collect({ items: stored, isBulk }, (row) => twins.get(row.id) ?? resets.get(row.id) ?? row),
  );
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
  occasion: Occasion,
  request: RequestItems<CreateEntitlementBody>,
): Promise<readonly ExpandedEntitlement[] | Refusal> {
  const { isBulk } = request;
  const commands = collect(request, entitlementCommandFrom);
  if (isRefusal(commands)) return commands;
  return writeUnit(dependencies, occasion, async (unit) => {
    const rows = await storeEntitlements(unit, commands, { isBulk });
    return expandRecords(unit, rows, { expansions: entitlementExpansions, names: 'all' });
  });
}
