import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

type Body = { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };

type Document = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: Body }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** A list of a request body, as the OpenAPI document describes it. */
export type RequestList = {
  /** `POST /v1/prices/bulk`. */
  readonly operation: string;
  /** Member names, `*` for any name and `[]` for an element: `['items', '[]', 'tiers']`. */
  readonly path: readonly string[];
  /** Null when the document sets no limit. */
  readonly maxItems: number | null;
  /** The JSON type of the elements. */
  readonly elementType: string;
};

function readDocument(): Document {
  const file = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Document;
}

/** The schemas within a schema with the name of their place; null where they stand for itself. */
function partsOf(schema: Schema): readonly (readonly [name: string | null, schema: Schema])[] {
  const { items, properties = {}, additionalProperties } = schema;
  const { allOf = [], anyOf = [], oneOf = [] } = schema;
  return [
    ...(items === undefined ? [] : [['[]', items] as const]),
    ...Object.entries(properties),
    ...(typeof additionalProperties === 'object' ? [['*', additionalProperties] as const] : []),
    ...[...allOf, ...anyOf, ...oneOf].map((choice) => [null, choice] as const),
  ];
}

/** Every list of every request body of the document. */
export function requestLists(): readonly RequestList[] {
  const { paths, components } = readDocument();
  const lists: RequestList[] = [];

  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : resolved(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

  const walk = (schema: Schema, operation: string, path: readonly string[]): void => {
    // No body of this API contains itself; the bound ends the walk if one ever does.
    if (path.length > 12) throw new Error(`${operation}: ${path.join('.')} has no end`);
    const known = resolved(schema);
    if (known.type === 'array') {
      const elementType = resolved(known.items ?? {}).type ?? 'string';
      lists.push({ operation, path, maxItems: known.maxItems ?? null, elementType });
    }
    for (const [name, inner] of partsOf(known)) {
      walk(inner, operation, name === null ? path : [...path, name]);
    }
  };

  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(item)) {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema !== undefined) walk(schema, `${method.toUpperCase()} /v1${path}`, []);
    }
  }
  return lists;
}
