import { ADDONS } from '../../declarations/catalog/addon.resource.js';
import { ADDON_ASSOCIATION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { notReferenced } from '../../records/change-record.js';
import { isInGroup } from '../../records/conditions.js';
import { expandedAnswers } from '../../records/standard/answers.js';
import { oneOfTexts } from '../../records/standard/search-members.js';
import { answeredRoutes } from '../../records/standard/standard-routes.js';
import { addonExpansions } from './addon-expansions.js';

const from = 'catalog/addons/addon-expansions.js';
const answers = expandedAnswers(ADDONS, {
  types: { one: { name: 'ExpandedAddonDto', from }, list: { name: 'AddonListDto', from } },
  expansions: addonExpansions,
  none: { prices: [], entitlements: [] },
});

/** A subscription that has the addon, or is to have it, needs it (docs/domain.md 4). */
const notAssociated = notReferenced(
  {
    table: 'addon_associations',
    column: 'addon_id',
    having: isInGroup('addon_status', ADDON_ASSOCIATION, 'alive'),
  },
  'has an association with a subscription; take the addon off the subscription first',
);

/** Named first in .config/tsoa.json, or else a key could be taken for a list below an addon. */
export const ADDON_ROUTES = answeredRoutes(ADDONS, answers, {
  path: 'addons',
  tag: 'Addons',
  entity: 'addon',
  record: 'An addon without its expandable members.',
  create: { example: { name: 'Extra storage', lookup_key: 'extra-storage' } },
  search: { by: { addon_ids: oneOfTexts('id'), lookup_keys: oneOfTexts('lookup_key') } },
  readBy: { path: 'lookup/{lookup_key}', column: 'lookup_key' },
  read: { summary: 'Read an addon with its prices and entitlements' },
  change: {
    body: 'Members that are present are changed.',
    example: { name: 'Extra storage, 100 GB' },
  },
  remove: {
    description: 'Fails while a subscription has the addon.',
    guards: [notAssociated],
    answers: 'message',
  },
});
