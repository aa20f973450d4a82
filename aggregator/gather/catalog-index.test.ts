import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { hashText } from '../../runtime/hash-text.js';
import { indexMeters, meterKey } from '../fold/meter-index.js';
import { CatalogIndex } from './catalog-index.js';

const environment = { tenantId: 't', environmentId: 'e' };
const EVENT_NAMES = ['request', 'render', 'upload'];

const meter = (generation: number, name: number): MeterDefinition => ({
  environment,
  meterId: `m${name % 5}`,
  version: generation,
  eventName: EVENT_NAMES[name % EVENT_NAMES.length] ?? '',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation,
});

type Index = Pick<CatalogIndex, 'get'>;

function generationsOf(index: Index): readonly (readonly number[])[] {
  return EVENT_NAMES.map((eventName) =>
    (index.get(meterKey(environment, eventName)) ?? []).map(
      ({ definition }) => definition.generation,
    ),
  );
}

const definitions = Array.from({ length: 20 }, (_, generation) => meter(generation, generation));

describe('the meters of a catalog version', () => {
  it('are those of an index built anew, after any changes in any order', () => {
    const changes = fc.array(
      fc.record({ at: fc.nat({ max: definitions.length - 1 }), isInForce: fc.boolean() }),
    );
    fc.assert(
      fc.property(changes, fc.nat(), (made, cut) => {
        const listed = made.flatMap(({ at, isInForce }) => {
          const definition = definitions[at];
          return definition === undefined ? [] : [{ definition, isInForce }];
        });
        const half = CatalogIndex.EMPTY.with(listed.slice(0, cut % (listed.length + 1)));
        const before = generationsOf(half);
        const whole = half.with(listed.slice(cut % (listed.length + 1)));
        const inForce = definitions.filter(
          (one) => listed.findLast(({ definition }) => definition === one)?.isInForce === true,
        );
        expect(generationsOf(whole)).toEqual(generationsOf(indexMeters(inForce, hashText)));
        expect(generationsOf(half)).toEqual(before);
      }),
    );
  });
});
