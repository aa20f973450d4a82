/**
 * The operation table: what the controllers and the fragment declare with `x-operation`, one entry
 * for each operation. A declaration that is missing, misspelt or contradictory fails the build.
 */
const METHODS = ['get', 'post', 'put', 'delete'];
const KNOWN_MEMBERS = {
  entity: 'string',
  access: 'string',
  rate: 'string',
  heavyWith: 'object',
  public: 'boolean',
  signed: 'boolean',
  repeatable: 'boolean',
  versioned: 'boolean',
  notFound: 'boolean',
  taken: 'boolean',
  overtaken: 'boolean',
};
/** Roles treat these differently from all others, so a misspelt entity would widen a role. */
const ENTITY_OF_PATH = { events: 'event', users: 'user', settings: 'setting' };
const ENTITY_OF_EXACT_PATH = {
  '/users/me': 'self',
  '/users/me/operations': 'self',
  '/users/{id}/roles': 'user_role',
};

function problemOfMember(name, value) {
  if (!(name in KNOWN_MEMBERS)) return `has the unknown member ${name}`;
  const type = KNOWN_MEMBERS[name];
  return typeof value === type ? null : `must have a ${type} as ${name}`;
}

function entityProblem(path, entity) {
  if (!/^[a-z]+(_[a-z]+)*$/.test(entity ?? '')) return 'needs an entity in lower case';
  const expected = ENTITY_OF_EXACT_PATH[path] ?? ENTITY_OF_PATH[path.split('/')[1]];
  return expected === undefined || entity === expected ? null : `must have the entity ${expected}`;
}

/** Rules that hold between the members of one declaration, the method and the path. */
function contradictionOf({ method, path }, declared) {
  const { access, rate = 'default', repeatable, versioned } = declared;
  if (!['read', 'write'].includes(access)) return 'needs access: read or write';
  if (!['default', 'heavy', 'ingest'].includes(rate)) {
    return 'must have the rate default, heavy or ingest';
  }
  if (access === 'write' && method === 'get') return 'is a GET and must not write';
  if (access === 'read' && ['put', 'delete'].includes(method)) return `is a ${method} and writes`;
  if (repeatable === true && access === 'read') return 'is a read and cannot be repeatable';
  if (versioned === true && method === 'delete') return 'is a DELETE and cannot be versioned';
  return entityProblem(path, declared.entity);
}

function declarationOf(place, operation) {
  const declared = operation['x-operation'];
  const name = `${place.method.toUpperCase()} ${place.path}`;
  if (declared === undefined) {
    throw new Error(
      `${name} is not declared: add @Extension('x-operation', { entity, access }) below its route`,
    );
  }
  const problems = Object.entries(declared).map(([member, value]) =>
    problemOfMember(member, value),
  );
  if (declared.public !== true) problems.push(contradictionOf(place, declared));
  if (declared.signed === true && declared.public !== true)
    problems.push('is signed and needs no key, so it must be public');
  for (const name of declared.heavyWith ?? []) {
    if (!queryNamesOf(operation).includes(name))
      problems.push(`is heavy with ${name}, which is none of its query parameters`);
  }
  const problem = problems.find((each) => each !== null);
  if (problem !== undefined) throw new Error(`${name}: x-operation ${problem}`);
  return declared;
}

function successStatusOf(operation) {
  return Math.min(...Object.keys(operation.responses).map(Number));
}

/** The query parameters that an operation takes. */
function queryNamesOf({ parameters = [] }) {
  return parameters.filter((each) => each.in === 'query').map(({ name }) => name);
}

/**
 * The entry of one operation.
 * @param place `{method, path, base}`; `base` is the `/v1` of the server.
 */
function entryOf(place, operation) {
  const declared = declarationOf(place, operation);
  const isWrite = declared.access === 'write';
  return {
    id: operation.operationId,
    method: place.method.toUpperCase(),
    path: `${place.base}${place.path}`,
    entity: declared.entity ?? null,
    access: declared.access ?? 'read',
    rate: declared.rate ?? 'default',
    heavyWith: declared.heavyWith ?? [],
    isPublic: declared.public === true,
    isSigned: declared.signed === true,
    isRepeatable: declared.repeatable ?? isWrite,
    isVersioned: declared.versioned === true,
    successStatus: successStatusOf(operation),
    queryNames: queryNamesOf(operation),
    servedBy: declared.rate === 'ingest' ? 'ingest' : 'billing-api',
    mayBeTaken: declared.taken === true,
    mayBeOvertaken: declared.overtaken === true,
    mayBeMissing: declared.notFound === true || place.path.includes('{'),
  };
}

/** All operations of some paths of an OpenAPI document, with the methods in upper case. */
export function operationsOf(paths) {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => {
      // Operational routes lie beside /v1, and say so with servers of their own.
      const base = item[method].servers === undefined ? '/v1' : '';
      return entryOf({ method, path, base }, item[method]);
    }),
  );
}

/** Turns the path of a route, `/v1/plans/:id`, into `/v1/plans/{id}`. */
function templateOf(route) {
  return route.replaceAll(/:(\w+)/g, '{$1}');
}

const isParameter = (segment) => segment.startsWith('{');

/**
 * Whether the earlier template takes paths that belong to the later one. Where both match, the one
 * with a fixed segment where they first differ wins, as in the operation table.
 */
function couldHide(earlier, later) {
  const [left, right] = [earlier, later].map((template) => template.split('/'));
  if (left.length !== right.length) return false;
  const pairs = left.map((segment, at) => [segment, right[at]]);
  const meet = pairs.every(([l, r]) => l === r || isParameter(l) || isParameter(r));
  const first = pairs.find(([l, r]) => isParameter(l) !== isParameter(r));
  return meet && first !== undefined && isParameter(first[0]);
}

/**
 * Compares the declarations with the generated routes: the same operations, and none hidden by one
 * that is registered before it.
 */
export function checkRoutes(operations, routesText) {
  const routes = [...routesText.matchAll(/app\.(get|post|put|delete)\('([^']+)'/g)].map(
    ([, method, path]) => ({ method: method.toUpperCase(), path: templateOf(path) }),
  );
  const nameOf = ({ method, path }) => `${method} ${path}`;
  const declared = new Set(operations.map(nameOf));
  const registered = new Set(routes.map(nameOf));
  for (const name of registered) {
    if (!declared.has(name)) throw new Error(`${name} has a route and no declaration`);
  }
  for (const name of declared) {
    if (!registered.has(name)) throw new Error(`${name} is declared and has no route`);
  }
  routes.forEach((later, index) => {
    const hiding = routes
      .slice(0, index)
      .find((earlier) => earlier.method === later.method && couldHide(earlier.path, later.path));
    if (hiding === undefined) return;
    throw new Error(`${nameOf(hiding)} hides ${nameOf(later)}: declare the latter before it`);
  });
}

/** The TypeScript of generated/operations.ts. */
export function operationsModule(operations, optionalEnumerations, meaningfulNulls) {
  const documented = ['mayBeMissing', 'mayBeTaken', 'mayBeOvertaken'];
  const rows = operations.map((operation) =>
    JSON.stringify(operation, (name, value) => (documented.includes(name) ? undefined : value)),
  );
  return [
    '// Generated by cli/build-routes.mjs from the declarations of the controllers.',
    "import type { Operation } from '../edge/operation-table.js';",
    '',
    '/** Every operation of the API, declared once beside its route. */',
    'export const OPERATIONS: readonly Operation[] = [',
    ...rows.map((row) => `  ${row},`),
    '];',
    '',
    '/** The optional enumerations of bodies and queries, by name. */',
    `export const OPTIONAL_ENUMERATIONS: readonly string[] = ${JSON.stringify(optionalEnumerations)};`,
    '',
    '/** The members of bodies in which null does not count as absent, by the id of the operation. */',
    `export const MEANINGFUL_NULLS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(meaningfulNulls)};`,
    '',
  ].join('\n');
}

const CONTROLLER_IMPORT = /import \{ (\w+) \} from '\.\/([^']+-controller\.js)';/g;

/**
 * The controllers that the generated routes name, as a list whose types the compiler checks: it does
 * not check the routes, which make each controller of what the program hands over.
 */
export function controllersModule(routesText) {
  const controllers = [...routesText.matchAll(CONTROLLER_IMPORT)];
  if (controllers.length === 0) throw new Error('the routes name no controller');
  return [
    '// Generated by cli/build-routes.mjs from the controllers.',
    "import type { ControllerType } from '../ioc.js';",
    ...controllers.map(([, name, path]) => `import { ${name} } from './${path}';`),
    '',
    '/** Every controller; each can be made of what the program hands over. */',
    'export const CONTROLLERS: readonly ControllerType[] = [',
    ...controllers.map(([, name]) => `  ${name},`),
    '];',
    '',
  ].join('\n');
}
