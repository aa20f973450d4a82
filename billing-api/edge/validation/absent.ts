import { OPTIONAL_ENUMERATIONS } from '../../generated/operations.js';

const ENUMERATIONS: ReadonlySet<string> = new Set(OPTIONAL_ENUMERATIONS);

/**
 * Whether a member of a body or query counts as one that was not sent. So does the empty text of an
 * optional enumeration, as the document declares them (docs/domain.md 3.1), and of a reference or a
 * key, whose name ends in `_id` or `_key`.
 */
export function isAbsent(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return value === '' && (ENUMERATIONS.has(name) || /_(?:id|key)$/.test(name));
}
