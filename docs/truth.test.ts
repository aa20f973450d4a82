import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BILLING_JOBS } from '../billing-api/jobs/billing-jobs.js';
import { readOperators, sectionOf } from '../load-tests/harness/pages.js';
import { readMonitoring } from '../load-tests/harness/monitoring-series.js';
import { projectRoot } from '../runtime/project.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

/** The prefixes that resources are declared with. */
function declaredPrefixes(): readonly string[] {
  const folder = join(projectRoot, 'billing-api/declarations');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.resource.ts'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/idPrefix: '(\w+)'/g)])
    .map(([, prefix = '']) => prefix);
}

describe('what pages list is what the code has', () => {
  it('every prefix of ids', () => {
    const page = /^\| built \| (.*) \|$/m.exec(read('docs/http.md'))?.[1] ?? '';
    const listed = page.split(', ').map((entry) => entry.split(' ')[0]);
    const prefixes = declaredPrefixes();
    expect(prefixes.length).toBeGreaterThan(20);
    expect(prefixes.filter((prefix) => !listed.includes(prefix))).toEqual([]);
  });

  it('every job of billing-api', () => {
    const page = sectionOf(readOperators(), '16');
    const names = BILLING_JOBS.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('every alert, with its urgency', () => {
    const rules = [
      ...readMonitoring('alerts.yml').matchAll(/- alert: (\w+)\n[^]*?severity: (\w+)/g),
    ].map(([, name = '', urgency = '']) => ({ name, urgency }));
    const rows = sectionOf(readOperators(), '5.2').split('\n');
    const found = rules.filter(({ name, urgency }) =>
      rows.some((row) => row.startsWith(`| ${name}: `) && row.includes(` | ${urgency} | `)),
    );
    expect(rules.length).toBeGreaterThan(20);
    expect(found).toEqual(rules);
  });
});
