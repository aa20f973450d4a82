import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventIdSource, derivedEventId } from './event-ids.js';

const FORM = /^event_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

describe('generated event ids', () => {
  test('are distinct and ascending within a millisecond', () => {
    const create = createEventIdSource();
    const ids = Array.from({ length: 20_000 }, () => create(1_763_640_000_000));
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(FORM);
  });

  test('differ between two sources at the same time', () => {
    const [one, other] = [createEventIdSource(), createEventIdSource()];
    expect(one(1_763_640_000_000)).not.toBe(other(1_763_640_000_000));
  });
});

describe('derived event ids', () => {
  const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };

  test('stay the same for ever: a changed derivation would count retries twice', () => {
    const scope = { environment, idempotencyKey: 'order 17' };
    expect([derivedEventId(scope, 0), derivedEventId(scope, 1)]).toEqual([
      'event_00919GW1TDPCYT2PFK8TD32R88',
      'event_4DXYVH43DRF3K5VRPBGFRR33M4',
    ]);
  });

  test('differ whenever tenant, environment, key or position differ', () => {
    const part = fc.constantFrom('a', 'b', 'ab', 'a1');
    const key = fc.constantFrom('k', '|', '1|k', '0|1', 'a|b|0|k');
    const scope = fc.tuple(part, part, key, fc.nat(2));
    const idOf = ([tenantId, environmentId, idempotencyKey, position]: [
      string,
      string,
      string,
      number,
    ]): string =>
      derivedEventId({ environment: { tenantId, environmentId }, idempotencyKey }, position);
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(idOf(one) === idOf(other)).toBe(isSame);
        expect(idOf(one)).toMatch(FORM);
      }),
    );
  });
});
