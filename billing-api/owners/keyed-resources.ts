import { ADDONS } from '../declarations/catalog/addon.resource.js';
import { FEATURES } from '../declarations/catalog/feature.resource.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { PRICES } from '../declarations/catalog/price.resource.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import type { KeyedResource } from '../edge/lookup-keys.js';

/** Records that can be named by their lookup keys wherever their ids are taken. */
export const KEYED_RESOURCES: readonly KeyedResource[] = [
  {
    table: PLANS.table,
    idPrefix: PLANS.idPrefix,
    collection: 'plans',
    entityType: 'PLAN',
    members: ['plan_id', 'plan_ids', 'target_plan_id'],
  },
  {
    table: ADDONS.table,
    idPrefix: ADDONS.idPrefix,
    collection: 'addons',
    entityType: 'ADDON',
    members: ['addon_id', 'addon_ids'],
  },
  {
    table: SUBSCRIPTIONS.table,
    idPrefix: SUBSCRIPTIONS.idPrefix,
    collection: 'subscriptions',
    entityType: 'SUBSCRIPTION',
    members: ['subscription_id', 'subscription_ids'],
  },
  {
    table: FEATURES.table,
    idPrefix: FEATURES.idPrefix,
    collection: 'features',
    members: ['feature_id', 'feature_ids'],
  },
  {
    table: PRICES.table,
    idPrefix: PRICES.idPrefix,
    collection: 'prices',
    members: ['price_id', 'price_ids'],
    keysOf: ['line_item_commitments', 'line_item_coupons'],
  },
];
