/** The items by their keys: keys in the order of their first items, items in their order. */
export function groupBy<K, T>(
  items: Iterable<T>,
  keyOf: (item: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The counts of the items added up by their keys, which are in the order of their first items. */
export function sumBy<K, T>(
  items: Iterable<T>,
  keyOf: (item: T) => K,
  countOf: (item: T) => number,
): ReadonlyMap<K, number> {
  const sums = new Map<K, number>();
  for (const item of items) {
    const key = keyOf(item);
    // Absent means zero: this is the first item of the key.
    sums.set(key, (sums.get(key) ?? 0) + countOf(item));
  }
  return sums;
}
