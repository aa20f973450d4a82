/**
 * Writes billing-api/generated: the routes, the operation table, the list of controllers and the
 * OpenAPI document. Runs before the TypeScript compiler, which needs the first three. Does nothing
 * when no source has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  completedPaths,
  documentOf,
  mergedPaths,
  withMeanings,
  withParameterMeanings,
  withOpenAnswers,
  withStrictNulls,
  withoutInt32,
} from './routes/document.mjs';
import {
  checkRoutes,
  controllersModule,
  operationsModule,
  operationsOf,
} from './routes/operations.mjs';
import {
  absentMembersModule,
  absentMembersOf,
  withAbsentMembers,
} from './routes/absent-members.mjs';
import { writeClientTypes } from './routes/client-types.mjs';
import { loadStandardRoutes } from './routes/load-routes.mjs';
import { controllerModule } from './routes/standard-controller.mjs';
import { typesModule } from './routes/standard-types.mjs';
import { meaningfulNullsOf } from './routes/meaningful-nulls.mjs';
import { optionalEnumerationsOf } from './routes/optional-enumerations.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = join(root, 'billing-api', 'generated');
const stamp = join(output, 'sources.sha256');
const clientTypes = join(root, 'client', 'generated');

/** Files whose text decides the result: controllers, DTOs and what they name, settings, these scripts. */
function sourceFiles() {
  const api = join(root, 'billing-api');
  const sources = readdirSync(api, { recursive: true })
    .filter((name) => /\.(ts|json)$/.test(name) && !/\.test\.ts$|^generated/.test(name))
    .map((name) => join(api, name));
  const here = dirname(fileURLToPath(import.meta.url));
  const parts = readdirSync(join(here, 'routes')).map((name) => join(here, 'routes', name));
  const settings = join(root, '.config', 'tsoa.json');
  // The DTOs of an aggregation's type and of a role are made of these.
  const named = ['aggregation.ts', 'roles.ts'].map((name) => join(root, 'contract', name));
  return [...sources, ...parts, ...named, settings, fileURLToPath(import.meta.url)].sort();
}

function hashOfSources() {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, 'billing-api', 'edge', name), 'utf8'));
}

/**
 * Writes the operation table and the list of controllers, and completes the document with what
 * follows from the table, and with the event routes, which ingest serves, and the operational routes.
 */
function completeSpec() {
  const file = join(output, 'openapi.json');
  const spec = withStrictNulls(withoutInt32(JSON.parse(readFileSync(file, 'utf8'))));
  const fragment = readJson('openapi-fragment.json');
  // Controllers carry the /v1 of their routes; the servers end in it.
  const ours = Object.fromEntries(
    Object.entries(spec.paths).map(([path, item]) => [path.replace(/^\/v1/, ''), item]),
  );
  const routed = operationsOf(ours);
  const routes = readFileSync(join(output, 'routes.ts'), 'utf8');
  checkRoutes(routed, routes);
  writeFileSync(join(output, 'controllers.ts'), controllersModule(routes));
  const operations = [...routed, ...operationsOf(fragment.paths)];
  const enumerations = optionalEnumerationsOf(ours, spec.components.schemas);
  const nulls = meaningfulNullsOf(ours, spec.components.schemas);
  writeFileSync(join(output, 'operations.ts'), operationsModule(operations, enumerations, nulls));
  const table = readJson('absent-members.json');
  const known = withAbsentMembers(spec.components.schemas, table);
  const absent = absentMembersOf(ours, known, table);
  writeFileSync(join(output, 'absent-members.ts'), absentMembersModule(absent));
  const { paths, schemas } = withOpenAnswers(mergedPaths(ours, fragment.paths), {
    ...known,
    ...fragment.components.schemas,
  });
  const complete = completedPaths(paths, operations, {
    answers: readJson('openapi-examples.json'),
    requests: readJson('openapi-requests.json'),
    refusals: readJson('refusals.json'),
  });
  const meanings = readJson('member-meanings.json');
  const document = documentOf({
    spec,
    fragment,
    paths: withParameterMeanings(complete, schemas, meanings),
    schemas: withMeanings(schemas, meanings),
  });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  return { document, operations };
}

/** Writes the types and controllers that follow from declarations of standard routes. */
async function writeStandardRoutes() {
  const cache = join(root, 'node_modules', '.cache', 'minutebook');
  const declared = await loadStandardRoutes({ root, folder: join(root, 'billing-api'), cache });
  const folder = join(output, 'standard');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of declared.flatMap((each) => [
    typesModule(each),
    controllerModule(each),
  ])) {
    writeFileSync(join(folder, name), text);
  }
}

/** The generated routes fail our strict settings, and take `["x"]` for the enum value `x`. */
function hardenRoutes() {
  const file = join(output, 'routes.ts');
  const routes = readFileSync(file, 'utf8')
    .replace(/^\/\/ @ts-nocheck\n/, '')
    .replace(
      "import {  fetchMiddlewares, ExpressTemplateService } from '@tsoa/runtime';",
      "import { fetchMiddlewares } from '@tsoa/runtime';\nimport { StrictTemplateService as ExpressTemplateService } from '../edge/validation/strict-template-service.js';",
    );
  if (!routes.includes('StrictTemplateService')) throw new Error('the routes have another form');
  writeFileSync(file, `// @ts-nocheck\n${routes}`);
}

/** Generates both unless the sources are those of the last run. @returns whether it did. */
export async function buildRoutes() {
  const hash = hashOfSources();
  const isThere = existsSync(stamp) && existsSync(clientTypes);
  if (isThere && readFileSync(stamp, 'utf8') === hash) return false;
  const { generateRoutes, generateSpec } = await import('tsoa');
  const config = JSON.parse(readFileSync(join(root, '.config', 'tsoa.json'), 'utf8'));
  const { entryFile, controllerPathGlobs, noImplicitAdditionalProperties } = config;
  const shared = { entryFile, controllerPathGlobs, noImplicitAdditionalProperties };
  mkdirSync(output, { recursive: true });
  await writeStandardRoutes();
  const previous = process.cwd();
  process.chdir(root);
  try {
    const metadata = await generateSpec({ ...shared, ...config.spec }, config.compilerOptions);
    await generateRoutes({ ...shared, ...config.routes }, config.compilerOptions, [], metadata);
  } finally {
    process.chdir(previous);
  }
  const { document, operations } = completeSpec();
  hardenRoutes();
  await writeClientTypes({ document, operations, folder: clientTypes });
  writeFileSync(stamp, hash);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildRoutes();
}
