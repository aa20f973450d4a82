import { describe, expect, it } from 'vitest';
import { requestedOwnerOf } from './price-owner.js';
import type { PriceRequest } from './price-request.js';

describe('requestedOwnerOf (9.2)', () => {
  it.each<[PriceRequest, string | null]>([
    [{ entityId: 'x' }, null],
    [{ entityId: 'x', entityType: 'ADDON' }, 'ADDON'],
    [{ planId: 'x' }, 'PLAN'],
    [{ addonId: 'x' }, 'ADDON'],
    [{ subscriptionId: 'x' }, 'SUBSCRIPTION'],
    [{ entityId: 'x', planId: 'x' }, 'PLAN'],
  ])('reads %o as owner x of type %s', (request, entityType) => {
    expect(requestedOwnerOf(request)).toEqual({ entityId: 'x', entityType });
  });

  it.each<[string, PriceRequest]>([
    ['owner_missing', {}],
    ['owner_missing', { entityType: 'PLAN' }],
    ['owner_contradictory', { entityId: 'x', planId: 'y' }],
    ['owner_contradictory', { planId: 'x', addonId: 'x' }],
    ['owner_contradictory', { planId: 'x', entityType: 'ADDON' }],
    ['owner_contradictory', { entityId: 'x', entityType: 'ADDON', planId: 'x' }],
  ])('refuses %s: %o', (reason, request) => {
    expect(requestedOwnerOf(request)).toMatchObject({ reason, member: 'entity_id' });
  });
});
