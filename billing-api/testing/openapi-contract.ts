import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { projectRoot } from '../../runtime/project.js';

type Json = Readonly<Record<string, unknown>>;

// The types of ajv-formats describe another module format than the one it has.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects with named members and no word about others. */
function isOpen(schema: Json): boolean {
  return isJson(schema['properties']) && schema['additionalProperties'] === undefined;
}

/**
 * OpenAPI 3.0 says `nullable`, JSON Schema does not know it: null becomes one of the choices. The
 * document leaves answers open for clients; here a member that it does not list is a mistake.
 */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isJson(schema)) return schema;
  const { nullable, ...rest } = schema;
  const members = Object.entries(rest).map(([name, value]) => [name, toJsonSchema(value)]);
  const plain: unknown = Object.fromEntries([
    ...members,
    ...(isOpen(schema) ? [['additionalProperties', false]] : []),
  ]);
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}

const DOCUMENT = 'openapi';

/**
 * Checks answers against the OpenAPI document: the operation and the status are in it, and the body
 * has exactly the members that it says.
 */
export class OpenApiContract {
  readonly #ajv: Ajv;
  readonly #paths: readonly { readonly pattern: RegExp; readonly path: string }[];
  readonly #document: Json;
  readonly #known = new Map<string, ValidateFunction>();

  constructor() {
    const file = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
    const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isJson(document) || !isJson(document['paths'])) throw new Error(`${file} is no document`);
    this.#document = document;
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(this.#ajv);
    this.#ajv.addSchema({ $id: DOCUMENT, ...(toJsonSchema(document) as object) });
    // Fixed segments before parameters: /plans/search is not /plans/{id}.
    this.#paths = Object.keys(document['paths'])
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }

  /** Problems of an answer; empty when it keeps the contract. Unknown paths are not checked. */
  problemsOf(answer: {
    readonly method: string;
    /** Below the server, without the query. */
    readonly path: string;
    readonly status: number;
    readonly body: unknown;
  }): readonly string[] {
    const known = this.#paths.find(({ pattern }) => pattern.test(answer.path));
    if (known === undefined) return [];
    const place = [known.path, answer.method.toLowerCase(), 'responses', String(answer.status)];
    const validate = this.#validatorOf(place);
    if (validate === null) return [`${place.join(' ')} is not documented`];
    if (validate(answer.body)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
  }

  #at(members: readonly string[]): unknown {
    let found: unknown = this.#document;
    for (const member of members) found = isJson(found) ? found[member] : undefined;
    return found;
  }

  /** Where a response is described: there, or among those that operations share. */
  #responseAt(place: readonly string[]): readonly string[] {
    const response = this.#at(['paths', ...place]);
    const reference = isJson(response) ? response['$ref'] : undefined;
    return typeof reference === 'string' ? reference.split('/').slice(1) : ['paths', ...place];
  }

  #validatorOf(place: readonly string[]): ValidateFunction | null {
    const name = place.join(' ');
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const response = this.#responseAt(place);
    const content = this.#at([...response, 'content']);
    // An answer has one form: JSON, or what else the operation says.
    const [mediaType] = isJson(content) ? Object.keys(content) : [];
    if (mediaType === undefined) return null;
    const members = [...response, 'content', mediaType, 'schema'];
    if (this.#at(members) === undefined) return null;
    const pointer = members.map((m) =>
      encodeURIComponent(m.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = this.#ajv.compile({ $ref: `${DOCUMENT}#/${pointer.join('/')}` });
    this.#known.set(name, validate);
    return validate;
  }
}
