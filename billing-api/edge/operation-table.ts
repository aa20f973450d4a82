import { assertThat } from '../../runtime/failure.js';

export type Access = 'read' | 'write';

/** One operation of the API, as its controller declares it beside its route (docs/http.md 1.1). */
export type Operation = {
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Whole path with parameters in braces: `/v1/plans/{id}`. */
  readonly path: string;
  /** The name of its resource in permissions; null for public operations. */
  readonly entity: string | null;
  readonly access: Access;
  /** Class of its rate limit (docs/http.md 1.10). */
  readonly rate: 'default' | 'heavy' | 'ingest';
  /** The query parameters with which a request is heavy although its class is another one. */
  readonly heavyWith: readonly string[];
  /** Whether it needs no credentials. */
  readonly isPublic: boolean;
  /** Whether the signature of its body takes the place of credentials. */
  readonly isSigned: boolean;
  /** Whether an Idempotency-Key makes it repeatable (docs/http.md 1.9). */
  readonly isRepeatable: boolean;
  /** Whether its answer carries the record's version as ETag, and GET and PUT honour If-Match. */
  readonly isVersioned: boolean;
  readonly successStatus: number;
  /** The query parameters that it takes. */
  readonly queryNames: readonly string[];
  /** The program that answers it. */
  readonly servedBy: 'billing-api' | 'ingest';
};

/** What the table says of a request: its operation, another method of the path, or nothing. */
export type OperationMatch =
  | { readonly kind: 'declared'; readonly operation: Operation }
  | { readonly kind: 'other-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

export type OperationTable = {
  /** @param path as it was sent, without the query. HEAD is answered as GET is. */
  readonly find: (method: string, path: string) => OperationMatch;
};

/** A segment that all paths with the same beginning share. */
type Node = {
  readonly literals: Map<string, Node>;
  parameter: Node | null;
  readonly operations: Map<string, Operation>;
};

function createNode(): Node {
  return { literals: new Map(), parameter: null, operations: new Map() };
}

function childOf(node: Node, segment: string): Node {
  if (segment.startsWith('{')) return (node.parameter ??= createNode());
  const known = node.literals.get(segment) ?? createNode();
  node.literals.set(segment, known);
  return known;
}

function add(root: Node, operation: Operation): void {
  const node = operation.path.split('/').reduce(childOf, root);
  const isNew = !node.operations.has(operation.method);
  assertThat(isNew, `${operation.method} ${operation.path} is declared once`);
  node.operations.set(operation.method, operation);
}

/** The node of a path; a fixed segment wins over a parameter, which is never empty. */
function walk(node: Node, segments: readonly string[], depth: number): Node | null {
  const segment = segments[depth];
  if (segment === undefined) return node.operations.size === 0 ? null : node;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : walk(literal, segments, depth + 1);
  if (found !== null || node.parameter === null || segment === '') return found;
  return walk(node.parameter, segments, depth + 1);
}

function allowedOf(node: Node): readonly string[] {
  const methods = [...node.operations.keys()].sort();
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** An index of operations by path and method. */
export function createOperationTable(operations: readonly Operation[]): OperationTable {
  const root = createNode();
  for (const operation of operations) add(root, operation);
  return {
    find: (method, path) => {
      const node = walk(root, path.split('/'), 0);
      if (node === null) return { kind: 'unknown' };
      const operation = node.operations.get(method === 'HEAD' ? 'GET' : method);
      if (operation !== undefined) return { kind: 'declared', operation };
      return { kind: 'other-method', allowed: allowedOf(node) };
    },
  };
}
