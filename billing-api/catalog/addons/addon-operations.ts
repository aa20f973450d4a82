import { ADDON_ASSOCIATION } from '../../domain/lifecycle/subscription-lifecycle.js';
import type { Occasion } from '../../records/occasion.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { isEqual, isOneOf, isInGroup } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord } from '../../records/expand-record.js';
import { findPublished, findRecord } from '../../records/find-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { addonExpansions, type ExpandedAddon } from './addon-expansions.js';
import {
  ADDONS,
  type AddonRow,
  type ChangeAddonBody,
  type CreateAddonBody,
  type SearchAddonsBody,
} from '../../declarations/catalog/addon.resource.js';

/** POST /addons. */
export async function createAddon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateAddonBody,
): Promise<ExpandedAddon | Refusal> {
  const reader = new MemberReader();
  const addon = {
    name: reader.name('name', body.name),
    description: body.description ?? null,
    lookup_key: body.lookup_key,
    metadata: reader.metadata(body.metadata),
  };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await createRecord(unit, ADDONS, addon);
    // Nothing belongs to a new addon yet.
    return isRefusal(row) ? row : { row, expansions: { prices: [], entitlements: [] } };
  });
}

/** GET /addons/{id}, whatever its status, and GET /addons/lookup/{lookup_key}. */
export function readAddon(
  dependencies: ReadDependencies,
  occasion: Occasion,
  reference: { readonly id: string } | { readonly lookupKey: string },
): Promise<ExpandedAddon | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const isById = 'id' in reference;
    const row = isById
      ? await findRecord(unit, ADDONS, reference.id)
      : (await findPublished(unit, ADDONS, isEqual('lookup_key', reference.lookupKey)))[0];
    if (row === undefined || row === null) {
      return notFound('addon', isById ? reference.id : reference.lookupKey);
    }
    return expandRecord(unit, row, addonExpansions(unit));
  });
}

/** POST /addons/search. */
export function searchAddons(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchAddonsBody,
): Promise<Page<ExpandedAddon> | Refusal> {
  const conditions = [...isOneOf('id', body.addon_ids), ...isOneOf('lookup_key', body.lookup_keys)];
  return readUnit(dependencies, occasion, (unit) =>
    searchExpanded(unit, ADDONS, { request: body, conditions, expansions: addonExpansions(unit) }),
  );
}

/** PUT /addons/{id}. */
export async function changeAddon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeAddonBody },
): Promise<ExpandedAddon | Refusal> {
  const reader = new MemberReader();
  const patch = givenOf({
    name: reader.changedName('name', body.name),
    description: body.description,
    metadata: reader.changedMetadata(body.metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await changeRecord(unit, ADDONS, { target, change: () => patch });
    return isRefusal(row) ? row : expandRecord(unit, row, addonExpansions({ now: unit.now }));
  });
}

/** A subscription that has the addon, or is to have it, needs it (docs/domain.md 4). */
const notAssociated = notReferenced(
  {
    table: 'addon_associations',
    column: 'addon_id',
    having: isInGroup('addon_status', ADDON_ASSOCIATION, 'alive'),
  },
  'has an association with a subscription that is not cancelled',
);

/** DELETE /addons/{id}: archives the addon; its prices and entitlements stay as they are. */
export function archiveAddon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<AddonRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, ADDONS, { id, guards: [notAssociated] }),
  );
}
