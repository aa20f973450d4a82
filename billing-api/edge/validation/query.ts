import { parse, type ParsedUrlQuery } from 'node:querystring';
import { isAbsent } from './absent.js';

/** The query of a request without the members that count as absent (docs/domain.md 3.1). */
export function parseQuery(text: string): ParsedUrlQuery {
  const given = Object.entries(parse(text));
  return Object.fromEntries(given.filter(([name, value]) => !isAbsent(name, value)));
}
