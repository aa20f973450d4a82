import { describe, expect, it } from 'vitest';
import { checkRoutes, operationsOf } from './operations.mjs';

const pathWith = (declared: object | undefined, method = 'get', path = '/plans/{id}') => ({
  [path]: {
    [method]: {
      operationId: 'X',
      responses: { 200: {}, 404: {} },
      ...(declared === undefined ? {} : { 'x-operation': declared }),
    },
  },
});

const READ = { entity: 'plan', access: 'read' };

describe('the operations of the build', () => {
  it('take their defaults from method and access', () => {
    expect(operationsOf(pathWith(READ))).toMatchObject([
      { method: 'GET', path: '/v1/plans/{id}', rate: 'default', isRepeatable: false },
    ]);
    const write = { entity: 'plan', access: 'write', versioned: true };
    expect(operationsOf(pathWith(write, 'put'))).toMatchObject([
      { access: 'write', isRepeatable: true, isVersioned: true, successStatus: 200 },
    ]);
  });

  it.for([
    ['no declaration', undefined, 'get', '/plans', 'GET /plans is not declared'],
    ['an unknown member', { ...READ, repeat: true }, 'get', '/plans', 'unknown member repeat'],
    ['a wrong type', { ...READ, versioned: 'yes' }, 'get', '/plans', 'must have a boolean'],
    ['no access', { entity: 'plan' }, 'get', '/plans', 'needs access: read or write'],
    ['an unknown rate', { ...READ, rate: 'slow' }, 'get', '/plans', 'must have the rate'],
    ['a GET that writes', { ...READ, access: 'write' }, 'get', '/plans', 'must not write'],
    ['a DELETE that reads', READ, 'delete', '/plans/{id}', 'is a delete and writes'],
    ['a repeatable read', { ...READ, repeatable: true }, 'post', '/x', 'is a read'],
    ['no entity', { access: 'read' }, 'get', '/plans', 'needs an entity'],
    ['a misspelt entity', { ...READ, entity: 'usr' }, 'get', '/users', 'must have the entity user'],
  ] as const)('fail with %s', ([, declared, method, path, problem]) => {
    expect(() => operationsOf(pathWith(declared, method, path))).toThrow(problem);
  });
});

const route = (method: string, path: string): string => `app.${method}('${path}',`;

describe('the generated routes', () => {
  const plan = { method: 'GET', path: '/v1/plans/{id}' };
  const lookup = { method: 'GET', path: '/v1/plans/lookup' };

  it('are those that are declared', () => {
    const routes = route('get', '/v1/plans/:id');
    expect(() => checkRoutes([plan], routes)).not.toThrow();
    expect(() => checkRoutes([], routes)).toThrow('has a route and no declaration');
    expect(() => checkRoutes([plan, lookup], routes)).toThrow('is declared and has no route');
  });

  it('do not hide each other', () => {
    const [byId, byKey] = [route('get', '/v1/plans/:id'), route('get', '/v1/plans/lookup')];
    expect(() => checkRoutes([plan, lookup], byKey + byId)).not.toThrow();
    expect(() => checkRoutes([plan, lookup], byId + byKey)).toThrow(
      'GET /v1/plans/{id} hides GET /v1/plans/lookup',
    );
    // /v1/plans/key/prices matches both; the operation table takes the one with the fixed `key`.
    const [ofKey, ofId] = [
      route('get', '/v1/plans/key/:key'),
      route('get', '/v1/plans/:id/prices'),
    ];
    const both = ['key/{key}', '{id}/prices'].map((end) => ({
      method: 'GET',
      path: `/v1/plans/${end}`,
    }));
    expect(() => checkRoutes(both, ofKey + ofId)).not.toThrow();
    expect(() => checkRoutes(both, ofId + ofKey)).toThrow(
      'GET /v1/plans/{id}/prices hides GET /v1/plans/key/{key}',
    );
  });
});
