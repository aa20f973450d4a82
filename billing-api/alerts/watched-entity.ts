import { GROUPS } from '../declarations/catalog/group.resource.js';
import { holdPublished } from '../records/find-record.js';
import type { Unit } from '../records/unit.js';
import { LINE_ITEMS } from '../declarations/subscriptions/line-item.resource.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';

/** By entity_type: finds what is to be watched, and keeps it as it is until the unit ends. */
export const HOLD_WATCHED = {
  subscription: (unit: Unit, id: string) => holdPublished(unit, SUBSCRIPTIONS, id),
  subscription_line_item: (unit: Unit, id: string) => holdPublished(unit, LINE_ITEMS, id),
  group: (unit: Unit, id: string) => holdPublished(unit, GROUPS, id),
};
