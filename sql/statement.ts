import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql, type QuerySqlToken, type ValueExpression } from 'slonik';
import type { ZodTypeAny } from 'zod';
import { assertThat } from '../runtime/failure.js';
import { projectRoot } from '../runtime/project.js';

/**
 * Values by parameter name in camelCase: string, number, boolean, bigint, null, a Buffer for bytea,
 * or a slonik token (`sql.array`, `sql.jsonb`, `sql.unnest`, …).
 */
export type StatementParameters = Readonly<Record<string, ValueExpression | Buffer>>;

type Template = { readonly texts: readonly string[]; readonly names: readonly string[] };

/**
 * Matches a parameter `:snake_case`, and text in which a colon does not begin one: strings, quoted
 * names, comments, dollar quotes and casts.
 */
const TOKENS =
  /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$\w*\$)[\s\S]*?\1|::|:([a-z][a-z0-9_]*)/g;

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Splits a statement at its parameters; `texts` has one element more than `names`. */
export function parseStatement(text: string): Template {
  const texts: string[] = [];
  const names: string[] = [];
  let start = 0;
  for (const match of text.matchAll(TOKENS)) {
    const name = match[2];
    if (name === undefined) continue;
    texts.push(text.slice(start, match.index));
    names.push(camelCase(name));
    start = match.index + match[0].length;
  }
  texts.push(text.slice(start));
  return { texts, names };
}

/** The text of `sql/queries/<name>.sql`, as for a session outside the pool. */
export function queryText(name: string): string {
  const text = readFileSync(join(projectRoot, 'sql', 'queries', `${name}.sql`), 'utf8');
  return text.trim().replace(/;$/, '');
}

const templates = new Map<string, Template>();

function loadTemplate(name: string): Template {
  const known = templates.get(name);
  if (known !== undefined) return known;
  const template = parseStatement(queryText(name));
  templates.set(name, template);
  return template;
}

function bind(template: Template, parameters: StatementParameters): readonly ValueExpression[] {
  return template.names.map((name) => {
    const value = parameters[name];
    assertThat(value !== undefined, `the statement needs the parameter ${name}`);
    return Buffer.isBuffer(value) ? sql.binary(value) : value;
  });
}

/**
 * A statement from `sql/queries/<name>.sql` with the schema of its rows. A parameter is written
 * `:meter_id` in the file and passed as `{ meterId }`. Values are bound parameters, never part of
 * the text.
 *
 *     const findMeter = statement('find-meter', z.object({ id: z.string() }));
 *     const meter = await connection.maybeOne(findMeter({ meterId }));
 *
 * @throws Error when the file is missing. The returned function throws AssertionFailed for a
 *   missing or unknown parameter.
 */
export function statement<Schema extends ZodTypeAny>(
  name: string,
  row: Schema,
): (parameters?: StatementParameters) => QuerySqlToken<Schema> {
  const template = loadTemplate(name);
  // slonik accepts only frozen arrays with `raw`, as a template literal makes them.
  const texts = Object.freeze([...template.texts]);
  const strings = Object.freeze(Object.assign([...texts], { raw: texts }));
  return (parameters = {}) => {
    const surplus = Object.keys(parameters).filter((key) => !template.names.includes(key));
    assertThat(surplus.length === 0, `${name}.sql has no parameter ${surplus.join(', ')}`);
    return sql.type(row)(strings, ...bind(template, parameters));
  };
}
