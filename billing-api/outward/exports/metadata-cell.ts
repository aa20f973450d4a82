/** A value as a cell has it: times and decimals as they are answered, nested values as JSON. */
export function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What the first of these metadata that has the key says of it. */
export function metadataCell(
  sources: readonly Readonly<Record<string, unknown>>[],
  key: string,
): string | null {
  const found = sources.find((source) => Object.hasOwn(source, key));
  return found === undefined ? null : cellOf(found[key]);
}
