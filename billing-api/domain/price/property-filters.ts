/** The limits of filters on a meter, which hold wherever usage is narrowed by properties. */
const KEYS_MAX = 100;
export const PROPERTY_KEY_LENGTH_MAX = 255;
const TEXTS_MAX = 1_000;

/**
 * What is wrong with filters by property key, or null. Every key is a condition on every event that
 * a query reads, so the number of keys decides what the query costs. A key without texts would
 * match no event at all.
 */
export function propertyFiltersProblem(
  filters: Readonly<Record<string, readonly string[]>>,
): string | null {
  const entries = Object.entries(filters);
  if (entries.length > KEYS_MAX) return `give at most ${KEYS_MAX} property keys`;
  for (const [key, texts] of entries) {
    if (key === '' || texts.length === 0)
      return 'name each property and give it at least one text, as in {"region": ["eu", "us"]}';
    if (key.length > PROPERTY_KEY_LENGTH_MAX) {
      return `give property keys of at most ${PROPERTY_KEY_LENGTH_MAX} characters`;
    }
    if (texts.length > TEXTS_MAX) {
      return `give every property key at most ${TEXTS_MAX} texts`;
    }
  }
  return null;
}
