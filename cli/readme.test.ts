import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOperators } from '../load-tests/harness/pages.js';
import { SETTINGS } from '../runtime/config.js';
import { createMetrics } from '../runtime/metrics.js';
import { projectRoot } from '../runtime/project.js';
import { walkThrough } from './walk-through.js';

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');
const dependenciesPage = readFileSync(join(projectRoot, 'docs/internals/packages.md'), 'utf8');
const operations = readOperators();
const packageJson = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies' | 'optionalDependencies',
  Record<string, string>
>;

describe('the README', () => {
  it('shows the walk-through that npm start prints', () => {
    const lines = walkThrough('http://127.0.0.1:8080', 'sk_x').trim().split('\n').slice(1);
    for (const line of lines) expect(readme).toContain(line);
  });

  it('is short', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(121);
  });
});

describe('the page of dependencies', () => {
  it('gives the reason for every dependency', () => {
    const { dependencies, devDependencies, optionalDependencies } = packageJson;
    const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    const missing = names.filter(
      (name) => !name.startsWith('@types/') && !dependenciesPage.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });
});

describe('the pages for operators', () => {
  // Columns: name, default, read by, meaning.
  const rows = [...operations.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|[^|]*\| (.*) \|$/gm)];

  it('documents every setting with its meaning, and no other', () => {
    const documented = rows.map(([, name, , means]) => [name, means]);
    const settings = Object.entries(SETTINGS).map(([name, { means }]) => [name, means]);
    expect(documented).toEqual(settings);
  });

  it('gives the default of every setting that has one', () => {
    const documented = rows.map(([, name, value]) => [name, value?.split(' ')[0]]);
    for (const [name, { schema }] of Object.entries(SETTINGS)) {
      const standard = schema.parse(undefined);
      if (standard !== undefined) expect(documented).toContainEqual([name, String(standard)]);
    }
  });

  it('lists every metric of the product, and no other', () => {
    const documented = [...operations.matchAll(/^\| `(minutebook_\w+)(?:\{\S+\})?` \|/gm)].map(
      ([, name]) => name,
    );
    const named = new Set(documented);
    const { registry } = createMetrics();
    const ours = registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('minutebook_'));
    expect([...named].sort()).toEqual([...ours].sort());
  });
});
