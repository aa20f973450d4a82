/**
 * Writes billing-api/generated: the routes and the OpenAPI document of the controllers. Runs before
 * the TypeScript compiler, which needs the routes. Does nothing when no source has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = join(root, 'billing-api', 'generated');
const stamp = join(output, 'sources.sha256');

/** Files whose text decides the result: controllers, DTOs, settings, the fragment, this script. */
function sourceFiles() {
  const api = join(root, 'billing-api');
  const sources = readdirSync(api, { recursive: true })
    .filter((name) => /\.(ts|json)$/.test(name) && !/\.test\.ts$|^generated/.test(name))
    .map((name) => join(api, name));
  return [...sources, join(root, '.config', 'tsoa.json'), fileURLToPath(import.meta.url)].sort();
}

function hashOfSources() {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

/** tsoa calls every integer int32; ours reach 2^53. */
function withoutInt32(value) {
  if (Array.isArray(value)) return value.map(withoutInt32);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !(name === 'format' && member === 'int32'),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutInt32(member)]));
}

/** Headers that the edge reads for every operation of a path. */
function addHeaders(item) {
  for (const [method, operation] of Object.entries(item)) {
    const names = method === 'get' ? ['RequestId'] : ['RequestId', 'IdempotencyKey'];
    if ('409' in operation.responses && ['get', 'put'].includes(method)) names.push('IfMatch');
    const headers = names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
    operation.parameters = [...(operation.parameters ?? []), ...headers];
    // An empty list would say that no key is needed.
    delete operation.security;
  }
}

/** What each operation answers when it succeeds: recorded from a run, checked by a test. */
function addExamples(path, item) {
  const examples = readJson('openapi-examples.json');
  for (const [method, operation] of Object.entries(item)) {
    const example = examples[`${method.toUpperCase()} ${path}`];
    const success = operation.responses['201'] ?? operation.responses['200'];
    if (example === undefined) throw new Error(`${method} ${path} has no example`);
    const [content] = Object.values(success.content);
    content.example = example;
  }
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, 'billing-api', 'edge', name), 'utf8'));
}

/** Adds what the controllers do not know: the event routes, servers and shared descriptions. */
function completeSpec() {
  const file = join(output, 'openapi.json');
  const spec = withoutInt32(JSON.parse(readFileSync(file, 'utf8')));
  const fragment = readJson('openapi-fragment.json');
  // Controllers carry the /v1 of their routes; the servers end in it.
  const paths = Object.entries(spec.paths).map(([path, item]) => [path.replace(/^\/v1/, ''), item]);
  for (const [path, item] of paths) {
    addHeaders(item);
    addExamples(path, item);
  }
  const ours = Object.fromEntries(paths);
  // A path may have operations of both, such as GET and POST /events.
  const served = Object.entries(fragment.paths).map(([path, item]) => [
    path,
    { ...item, ...ours[path] },
  ]);
  const merged = {
    ...spec,
    ...fragment.document,
    paths: Object.fromEntries([...paths, ...served].sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      ...spec.components,
      parameters: fragment.components.parameters,
      responses: fragment.components.responses,
      schemas: { ...spec.components.schemas, ...fragment.components.schemas },
    },
  };
  writeFileSync(file, `${JSON.stringify(merged, null, 2)}\n`);
}

/** The generated routes fail our strict settings, and take `["x"]` for the enum value `x`. */
function hardenRoutes() {
  const file = join(output, 'routes.ts');
  const routes = readFileSync(file, 'utf8')
    .replace(/^\/\/ @ts-nocheck\n/, '')
    .replace(
      "import {  fetchMiddlewares, ExpressTemplateService } from '@tsoa/runtime';",
      "import { fetchMiddlewares } from '@tsoa/runtime';\nimport { StrictTemplateService as ExpressTemplateService } from '../edge/strict-template-service.js';",
    );
  if (!routes.includes('StrictTemplateService')) throw new Error('the routes have another form');
  writeFileSync(file, `// @ts-nocheck\n${routes}`);
}

/** Generates both unless the sources are those of the last run. @returns whether it did. */
export async function buildRoutes() {
  const hash = hashOfSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return false;
  const { generateRoutes, generateSpec } = await import('tsoa');
  const config = JSON.parse(readFileSync(join(root, '.config', 'tsoa.json'), 'utf8'));
  const { entryFile, controllerPathGlobs, noImplicitAdditionalProperties } = config;
  const shared = { entryFile, controllerPathGlobs, noImplicitAdditionalProperties };
  mkdirSync(output, { recursive: true });
  const previous = process.cwd();
  process.chdir(root);
  try {
    const metadata = await generateSpec({ ...shared, ...config.spec }, config.compilerOptions);
    await generateRoutes({ ...shared, ...config.routes }, config.compilerOptions, [], metadata);
  } finally {
    process.chdir(previous);
  }
  completeSpec();
  hardenRoutes();
  writeFileSync(stamp, hash);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildRoutes();
}
