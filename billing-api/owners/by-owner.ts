/** Rows by the plan, addon or subscription that they belong to. */
export function byOwner<Row extends { readonly entity_id: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.entity_id);
    if (group === undefined) groups.set(row.entity_id, [row]);
    else group.push(row);
  }
  return groups;
}
