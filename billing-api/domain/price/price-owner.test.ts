import { describe, expect, it } from 'vitest';
import { requestedOwnerOf, type PriceOwnerBody } from './price-owner.js';

describe('requestedOwnerOf (9.2)', () => {
  it.each<[PriceOwnerBody, string | null]>([
    [{ entity_id: 'x' }, null],
    [{ entity_id: 'x', entity_type: 'ADDON' }, 'ADDON'],
    [{ plan_id: 'x' }, 'PLAN'],
    [{ addon_id: 'x' }, 'ADDON'],
    [{ subscription_id: 'x' }, 'SUBSCRIPTION'],
    [{ entity_id: 'x', plan_id: 'x' }, 'PLAN'],
  ])('reads %o as owner x of type %s', (request, entityType) => {
    expect(requestedOwnerOf(request)).toEqual({ entityId: 'x', entityType });
  });

  it.each<[string, PriceOwnerBody]>([
    ['owner_missing', {}],
    ['owner_missing', { entity_type: 'PLAN' }],
    ['owner_contradictory', { entity_id: 'x', plan_id: 'y' }],
    ['owner_contradictory', { plan_id: 'x', addon_id: 'x' }],
    ['owner_contradictory', { plan_id: 'x', entity_type: 'ADDON' }],
    ['owner_contradictory', { entity_id: 'x', entity_type: 'ADDON', plan_id: 'x' }],
  ])('refuses %s: %o', (reason, request) => {
    expect(requestedOwnerOf(request)).toMatchObject({ reason, member: 'entity_id' });
  });
});
