import { describe, expect, it } from 'vitest';
import { createOperationTable, type Operation } from './operation-table.js';

const operation = (text: string): Operation => {
  const [method, path] = text.split(' ') as [Operation['method'], string];
  return {
    id: text,
    method,
    path,
    entity: 'plan',
    access: 'read',
    rate: 'default',
    heavyWith: [],
    isPublic: false,
    isSigned: false,
    isRepeatable: false,
    isVersioned: false,
    successStatus: 200,
    queryNames: [],
    servedBy: 'billing-api',
  };
};

const table = createOperationTable(
  [
    'POST /v1/plans',
    'GET /v1/plans/{id}',
    'PUT /v1/plans/{id}',
    'POST /v1/plans/search',
    'GET /v1/plans/{id}/entitlements',
    'GET /v1/plans/lookup/{key}',
    'GET /livez',
  ].map(operation),
);

const found = (method: string, path: string): string | readonly string[] | null => {
  const match = table.find(method, path);
  if (match.kind === 'declared') return match.operation.id;
  return match.kind === 'other-method' ? match.allowed : null;
};

describe('the operation table', () => {
  it('finds an operation by method and path, whatever a parameter holds', () => {
    expect(found('POST', '/v1/plans')).toBe('POST /v1/plans');
    expect(found('GET', '/v1/plans/plan_1')).toBe('GET /v1/plans/{id}');
    expect(found('GET', '/v1/plans/%2F')).toBe('GET /v1/plans/{id}');
    expect(found('GET', '/v1/plans/{id}')).toBe('GET /v1/plans/{id}');
    expect(found('GET', '/v1/plans/x/entitlements')).toBe('GET /v1/plans/{id}/entitlements');
    expect(found('GET', '/v1/plans/lookup/entitlements')).toBe('GET /v1/plans/lookup/{key}');
    expect(found('GET', '/livez')).toBe('GET /livez');
  });

  it('prefers a fixed segment, and takes it as a parameter where nothing follows it', () => {
    expect(found('POST', '/v1/plans/search')).toBe('POST /v1/plans/search');
    expect(found('GET', '/v1/plans/search')).toEqual(['POST']);
    expect(found('GET', '/v1/plans/lookup')).toBe('GET /v1/plans/{id}');
  });

  it('answers HEAD as GET, and lists what else a path takes', () => {
    expect(found('HEAD', '/v1/plans/x')).toBe('GET /v1/plans/{id}');
    expect(found('DELETE', '/v1/plans/x')).toEqual(['GET', 'HEAD', 'PUT']);
    expect(found('get', '/v1/plans/x')).toEqual(['GET', 'HEAD', 'PUT']);
  });

  it('knows no path with another case, an empty segment or one segment more or less', () => {
    for (const path of ['/v1/Plans', '/v1/plans/', '/v1//plans', '/v1', '/', '', '/v1/plans/x/y']) {
      expect([path, found('GET', path)]).toEqual([path, null]);
    }
    for (const path of ['/v1/__proto__', '/v1/plans//entitlements', '/v1/constructor']) {
      expect([path, found('GET', path)]).toEqual([path, null]);
    }
  });

  it('refuses an operation that is declared twice', () => {
    const twice = [operation('GET /v1/plans/{id}'), operation('GET /v1/plans/{key}')];
    expect(() => createOperationTable(twice)).toThrow('declared once');
  });
});
