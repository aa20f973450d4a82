import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../runtime/project.js';

/** Tables whose rows belong to no single environment, and what limits their statements instead. */
const WITHOUT_ENVIRONMENT: ReadonlyMap<string, string> = new Map([
  ['users', 'belong to a tenant: platform/users/users-store.ts names the tenant'],
  ['environments', 'belong to a tenant: platform/environments/environments-store.ts names it'],
  ['tenants', 'are named by their id: platform/tenants/tenants-store.ts'],
  ['user_passwords', 'are only added to'],
  ['meter_ends', 'are read for meters that the statement has filtered'],
]);

/** What stands for an interpolated expression in the text of a statement. */
const FILTER = '«filter»';
const TABLE = '«table»';
const ROWS = '«rows»';
const VALUE = '«value»';

function textOfExpression(expression: ts.Expression): string {
  const text = expression.getText();
  if (text === 'isOfEnvironment' || text === 'isOfScope(resource)') return FILTER;
  const named = /^rowIsOfEnvironment\('(\w+)'\)$/.exec(text);
  if (named !== null) return `«filter ${named[1] ?? ''}»`;
  if (text.startsWith('sql.unnest(')) return ROWS;
  const isTable = text === 'table' || /^sql\.identifier\(\[.*\btable\b.*\]\)$/i.test(text);
  return isTable ? TABLE : VALUE;
}

function textOfTemplate(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  const spans = template.templateSpans.map(
    ({ expression, literal }) => `${textOfExpression(expression)}${literal.text}`,
  );
  return `${template.head.text}${spans.join('')}`;
}

/** The text of every statement and fragment of slonik in a file. */
function statementsIn(fileName: string, source: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText().startsWith('sql.')) {
      found.push(textOfTemplate(node.template));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true));
  return found;
}

const KEYWORDS =
  'AS|ON|USING|WHERE|SET|JOIN|LEFT|RIGHT|INNER|CROSS|FULL|NATURAL|GROUP|ORDER|HAVING|LIMIT|FOR|UNION|RETURNING';

/**
 * Where rows of a table are read or changed; not `INSERT INTO`, a type, a column of it, or a
 * function whose arguments name the environment.
 */
function mentionPattern(tables: readonly string[]): RegExp {
  return new RegExp(
    `(?<!INSERT INTO )(?<!::)(?<![.\\w])(${tables.join('|')}|(?<=(?<!DISTINCT )(?:FROM|JOIN|UPDATE)\\s+)(?:${TABLE}|${VALUE}))(?![.\\w]|\\(\\s*${VALUE}, ${VALUE})` +
      `(?:\\s+(?:AS\\s+)?(?!(?:${KEYWORDS})\\b)([a-z]\\w*))?`,
    'g',
  );
}

/** The tables of a statement, by the names they have in it, whose rows nothing filters. */
function unfiltered(statement: string, tables: readonly string[]): readonly string[] {
  let bareFilters = statement.split(FILTER).length - 1;
  return [...statement.matchAll(mentionPattern(tables))].flatMap(([, table = '', alias]) => {
    const name = alias ?? table;
    if (statement.includes(`«filter ${name}»`)) return [];
    bareFilters -= 1;
    return bareFilters < 0 ? [name] : [];
  });
}

/** Every table that the migrations isolate, and those whose rows belong to a tenant otherwise. */
function tenantTables(): readonly string[] {
  const folder = join(projectRoot, 'sql/migrations');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const tables = texts.flatMap((text) =>
    [...text.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\n\);/g)]
      .filter(([, , columns = '']) => /^ {2}tenant_id /m.test(columns))
      .map(([, table = '']) => table),
  );
  return [...new Set([...tables, ...WITHOUT_ENVIRONMENT.keys()])];
}

/** Production files of the API that use slonik. */
function sourceFiles(): readonly { readonly file: string; readonly source: string }[] {
  return readdirSync(join(projectRoot, 'billing-api'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .filter((file) => !/\.test\.ts$|\/(testing|generated)\//.test(file))
    .map((file) => ({ file, source: readFileSync(join(projectRoot, file), 'utf8') }))
    .filter(({ source }) => source.includes("from 'slonik'"));
}

describe('the statements of the API', () => {
  const all = tenantTables();
  const tables = all.filter((table) => !WITHOUT_ENVIRONMENT.has(table));

  test('filter every table of a tenant by the environment, beside row-level security', () => {
    expect(tables.length).toBeGreaterThanOrEqual(14);
    const statements = sourceFiles().flatMap(({ file, source }) =>
      statementsIn(file, source).map((text) => ({ file, text })),
    );
    expect(statements.length).toBeGreaterThan(50);
    const open = statements.flatMap(({ file, text }) =>
      unfiltered(text, tables).map((table) => `${file}: ${table}`),
    );
    expect(open).toEqual([]);
  });

  const CASES: readonly [statement: string, missing: readonly string[]][] = [
    ['sql.type(r)`SELECT * FROM prices WHERE id = 1`', ['prices']],
    ['sql.type(r)`SELECT * FROM prices WHERE ${isOfEnvironment}`', []],
    ['sql.type(r)`SELECT prices.id FROM prices p`', ['p']],
    ['sql.type(r)`SELECT 1 FROM plans, prices WHERE ${isOfEnvironment}`', ['prices']],
    [
      "sql.type(r)`SELECT 1 FROM plans JOIN prices AS p ON true WHERE ${rowIsOfEnvironment('p')}`",
      ['plans'],
    ],
    ['sql.fragment`EXISTS (SELECT FROM plans)`', ['plans']],
    ['sql.type(r)`UPDATE ${table} SET a = 1`', [TABLE]],
    ['sql.type(r)`DELETE FROM ${name}`', [VALUE]],
    ['sql.type(r)`INSERT INTO prices (id) VALUES (1)`', []],
    ['sql.type(r)`SELECT 1 IS DISTINCT FROM ${right}`', []],
  ];
  test.for(CASES)('are found without the filter: %s', ([statement, missing]) => {
    const found = statementsIn('a.ts', `const a = ${statement};`);
    expect(found.flatMap((text) => unfiltered(text, ['plans', 'prices']))).toEqual(missing);
  });
});
