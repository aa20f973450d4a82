import type { MeterDefinition } from '../../contract/meter.js';
import { hashText } from '../../runtime/hash-text.js';
import { compareMeters, indexMeter, meterKey, type IndexedMeter } from '../fold/meter-index.js';

/** A meter that a catalog version has and the version before it had not, or the other way round. */
export type MeterChange = { readonly definition: MeterDefinition; readonly isInForce: boolean };

type Bucket = ReadonlyMap<string, readonly IndexedMeter[]>;

/** 100,000 meters make about 100 in each bucket, the part that a changed meter makes new. */
const BUCKETS = 1_024;

/** FNV-1a: quick, and spreads similar texts. */
function bucketOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
}

/** The group of a key after a change; a change that was made already changes nothing. */
function changedGroup(
  group: readonly IndexedMeter[],
  { definition, isInForce }: MeterChange,
): readonly IndexedMeter[] {
  const others = group.filter((meter) => meter.definition.generation !== definition.generation);
  if (!isInForce) return others;
  const all = [...others, indexMeter(definition, hashText)];
  return all.sort((left, right) => compareMeters(left.definition, right.definition));
}

/**
 * The meters of one catalog version (`MeterIndex`). It never changes. The next version shares all
 * buckets with it but those whose meters changed, so that many versions cost little more than one,
 * and a new one costs the same beside few or many meters.
 */
export class CatalogIndex {
  static readonly EMPTY = new CatalogIndex(Array.from({ length: BUCKETS }, () => new Map()));

  private constructor(private readonly buckets: readonly Bucket[]) {}

  get(key: string): readonly IndexedMeter[] | undefined {
    return this.buckets[bucketOf(key)]?.get(key);
  }

  with(changes: readonly MeterChange[]): CatalogIndex {
    const buckets = this.buckets.slice();
    const changed = new Map<number, Map<string, readonly IndexedMeter[]>>();
    for (const change of changes) {
      const { environment, eventName } = change.definition;
      const key = meterKey(environment, eventName);
      const at = bucketOf(key);
      const bucket = changed.get(at) ?? new Map(buckets[at]);
      changed.set(at, bucket);
      const group = changedGroup(bucket.get(key) ?? [], change);
      if (group.length === 0) bucket.delete(key);
      else bucket.set(key, group);
    }
    for (const [at, bucket] of changed) buckets[at] = bucket;
    return new CatalogIndex(buckets);
  }
}
