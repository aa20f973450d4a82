import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startBrowser } from '../../load-tests/harness/browser.js';
import { buildPages } from '../../load-tests/harness/build-pages.js';
import { projectRoot } from '../../runtime/project.js';
import { test } from '../testing/billing-test.js';

const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';" +
  "base-uri 'none';form-action 'none';frame-ancestors 'none';" +
  "require-trusted-types-for 'script';trusted-types vue";
const SITE = join(projectRoot, 'dist', 'pages');
const BUILD_MS = 240_000;

beforeAll(buildPages, BUILD_MS);

function namesOf(ending: string): readonly string[] {
  return readdirSync(SITE, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(ending));
}

/** What a page of the site must not do: say anything to the console, or ask another server. */
function faultsOf(page: Page, origin: string): readonly string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(request.url());
  });
  return faults;
}

describe('the pages', () => {
  test('are there under their addresses, with the Markdown behind each, under one policy', async ({
    api,
  }) => {
    for (const [path, type, words] of [
      ['/docs', 'text/html', 'Minutebook'],
      ['/docs/', 'text/html', 'Minutebook'],
      ['/docs/internals/glossary', 'text/html', '<h1'],
      ['/docs/internals/glossary.md', 'text/markdown', '# Glossary'],
      ['/docs/internals/measurements', 'text/html', '<h1'],
      ['/docs/internals/measurements.md', 'text/markdown', '# Measurements'],
      ['/docs/llms.txt', 'text/plain', '](/docs/internals/glossary.md): '],
    ] as const) {
      const page = await fetch(`${api.url}${path}`);
      const { headers } = page;
      expect([path, page.status, headers.get('content-security-policy')]).toEqual([
        path,
        200,
        POLICY,
      ]);
      expect([path, headers.get('content-type')]).toEqual([path, expect.stringContaining(type)]);
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(await page.text()).toContain(words);
    }
  });

  test('have nothing inside that their policy forbids, and an address for each section', () => {
    const pages = namesOf('.html');
    expect(pages.length).toBeGreaterThan(20);
    for (const name of pages) {
      const text = readFileSync(join(SITE, name), 'utf8');
      const inside = [...text.matchAll(/<script(?![^>]* src=)[^>]*>|<[^>]* (style|on\w+)="/g)];
      expect([name, inside.map(([match]) => match)]).toEqual([name, []]);
      const headings = [...text.matchAll(/<h[23][^>]*tabindex[^>]*>/g)].map(([match]) => match);
      expect([name, headings.filter((tag) => !tag.includes(' id="'))]).toEqual([name, []]);
    }
  });

  test('are listed for programs, each with its Markdown', async ({ api }) => {
    const list = await (await fetch(`${api.url}/docs/llms.txt`)).text();
    const listed = [...list.matchAll(/\]\(\/docs\/(\S+\.md)\)/g)].map(([, name = '']) => name);
    const own = namesOf('.md').filter((name) => name !== 'index.md');
    expect([...listed].sort()).toEqual([...own].sort());
  });

  test('answer 404 with a page for an unknown address, and keep no file out of their folder', async ({
    api,
  }) => {
    for (const path of ['/docs/nothing', '/docs/%2e%2e/%2e%2e/package.json', '/docs/a/b.md']) {
      const page = await fetch(`${api.url}${path}`);
      expect([path, page.status]).toEqual([path, 404]);
      expect(await page.text()).not.toContain('"dependencies"');
    }
    const page = await fetch(`${api.url}/docs/nothing`);
    expect(page.headers.get('content-type')).toContain('text/html');
  });

  test('keep for a year what has another name after each change, and check the rest', async ({
    api,
  }) => {
    const [script = ''] = namesOf('.js').filter((name) => name.startsWith('assets/app.'));
    for (const [name, caching] of [
      [script, 'public, max-age=31536000, immutable'],
      ['assets/colours.css', 'no-cache'],
    ] as const) {
      const { status, headers } = await fetch(`${api.url}/docs/${name}`);
      expect([status, headers.get('cache-control')]).toEqual([200, caching]);
    }
  });

  test('are searched and read in a browser that is allowed nothing else', async ({ api }) => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      const faults = faultsOf(page, api.url);
      await page.goto(`${api.url}/docs/internals/glossary`);
      await page.getByRole('button', { name: /Search/ }).click();
      await page.locator('.VPLocalSearchBox input').fill('watermark');
      await page.locator('.VPLocalSearchBox .result').first().click();
      await page.locator('.VPLocalSearchBox').waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toMatch(/^\/docs\/./);
      expect(await page.locator('h1').count()).toBe(1);
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
