export type Json = Readonly<Record<string, unknown>>;

/** A parameter of an operation, in its path, its query or its headers. */
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
};

/** One operation of the OpenAPI document, as far as a request needs it. */
export type FuzzedOperation = {
  readonly id: string;
  readonly method: string;
  /** Below `/v1`, with places such as `{id}`. */
  readonly path: string;
  /** Whether it stores what its request says. */
  readonly isWrite: boolean;
  /** Null when it takes no body. */
  readonly body: unknown;
  readonly parameters: readonly Parameter[];
};

export type FuzzedDocument = {
  readonly operations: readonly FuzzedOperation[];
  /** What a `$ref` stands for; any other schema is itself. */
  readonly resolve: (schema: unknown) => Json;
};

const METHODS = ['get', 'post', 'put', 'delete'];
/** Outside of `/v1`: they take nothing and answer for the process. */
const OF_THE_PROCESS = new Set([
  'ReadReference',
  'ReadDocument',
  'ReadMetrics',
  'ReadLiveness',
  'ReadReadiness',
  'ReadHealth',
]);
/** The last part of the path of an operation that has a body and stores nothing. */
const READING = /\/(search|query|usage|meter|analytics|preview|login)$/;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function bodySchemaOf(operation: Json, resolve: FuzzedDocument['resolve']): unknown {
  const { content } = resolve(operation['requestBody']);
  const json = isJson(content) ? content['application/json'] : undefined;
  return isJson(json) ? json['schema'] : null;
}

/** The operations of a document as it is served at `/openapi.json`. */
export function readDocument(document: unknown): FuzzedDocument {
  const root = isJson(document) ? document : {};
  const resolve = (schema: unknown): Json => {
    if (!isJson(schema)) return {};
    const reference = schema['$ref'];
    if (typeof reference !== 'string') return schema;
    let found: unknown = root;
    for (const name of reference.split('/').slice(1)) found = isJson(found) ? found[name] : null;
    return resolve(found);
  };
  const operationOf = (path: string, method: string, operation: Json): FuzzedOperation => ({
    id: String(operation['operationId']),
    method: method.toUpperCase(),
    path,
    isWrite: method !== 'get' && !READING.test(path),
    body: bodySchemaOf(operation, resolve),
    parameters: listOf(operation['parameters']).map((each) => {
      const { name, in: place, required, schema } = resolve(each);
      return { name: String(name), in: String(place), isRequired: required === true, schema };
    }),
  });
  const operations = Object.entries(resolve(root['paths'])).flatMap(([path, item]) =>
    Object.entries(resolve(item)).flatMap(([method, operation]) =>
      METHODS.includes(method) && isJson(operation) ? [operationOf(path, method, operation)] : [],
    ),
  );
  return { operations: operations.filter(({ id }) => !OF_THE_PROCESS.has(id)), resolve };
}
