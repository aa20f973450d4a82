import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../runtime/project.js';

/** The text of `clickhouse/queries/<name>.sql`. @throws when there is none. */
export function queryFile(name: string): string {
  return readFileSync(join(projectRoot, 'clickhouse', 'queries', `${name}.sql`), 'utf8');
}

/** The server takes at most 131 072 bytes in one parameter; these many characters stay below. */
const PARAMETER_PIECES = /[\s\S]{1,30000}/gu;

/**
 * Texts of any length as several parameters each, and the statement that puts them together again.
 * Only names that are made here enter the statement.
 */
export function withLongTexts(
  statement: string,
  texts: Readonly<Record<string, string>>,
): { readonly statement: string; readonly parameters: Readonly<Record<string, string>> } {
  const parameters: Record<string, string> = {};
  let whole = statement;
  for (const [name, text] of Object.entries(texts)) {
    const names = (text.match(PARAMETER_PIECES) ?? ['']).map((piece, index) => {
      parameters[`${name}${index}`] = piece;
      return `{${name}${index}:String}`;
    });
    whole = whole.replaceAll(`{${name}:String}`, `concat('', ${names.join(', ')})`);
  }
  return { statement: whole, parameters };
}
