import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { isObject } from '../../contract/is-object.js';
import { projectRoot } from '../../runtime/project.js';

type Json = Readonly<Record<string, unknown>>;

// The types of ajv-formats describe another module format than the one it has.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

/** Objects with named members and no word about others. */
function isOpen(schema: Json): boolean {
  return isObject(schema['properties']) && schema['additionalProperties'] === undefined;
}

/**
 * OpenAPI 3.0 says `nullable`, JSON Schema does not know it: null becomes one of the choices. The
 * document leaves answers open for clients; here a member that it does not list is a mistake.
 */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isObject(schema)) return schema;
  const { nullable, ...rest } = schema;
  const members = Object.entries(rest).map(([name, value]) => [name, toJsonSchema(value)]);
  const plain: unknown = Object.fromEntries([
    ...members,
    ...(isOpen(schema) ? [['additionalProperties', false]] : []),
  ]);
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}

const DOCUMENT = 'openapi';

/** An answer with the request that it belongs to. */
type AnswerToCheck = {
  readonly method: string;
  /** Below the server, without the query. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
  /** Checked when they are given. */
  readonly headers?: Headers;
};

/** Headers that an operation answers only if the document says so. */
const DECLARED_HEADERS = ['etag', 'retry-after', 'idempotency-replayed'];

/**
 * Checks answers against the OpenAPI document: the operation and the status are in it, the body has
 * exactly the members that it says, and the headers are those of the response.
 */
class OpenApiContract {
  readonly #ajv: Ajv;
  readonly #paths: readonly { readonly pattern: RegExp; readonly path: string }[];
  readonly #document: Json;
  readonly #known = new Map<string, ValidateFunction>();

  constructor() {
    const file = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
    const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(document) || !isObject(document['paths']))
      throw new Error(`${file} is no document`);
    this.#document = document;
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(this.#ajv);
    this.#ajv.addSchema({ $id: DOCUMENT, ...(toJsonSchema(document) as object) });
    // Fixed segments before parameters: /plans/search is not /plans/{id}.
    this.#paths = Object.keys(document['paths'])
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }

  /** Problems of an answer; empty when it keeps the contract. */
  problemsOf(answer: AnswerToCheck): readonly string[] {
    const operation = this.#operationOf(answer);
    if (operation === null) return [`${answer.method} ${answer.path} is not documented`];
    const place = [...operation, 'responses', String(answer.status)];
    const response = this.#responseAt(place);
    if (this.#at(response) === undefined) return [`${place.join(' ')} is not documented`];
    // Of one payload they are fewer than of a choice between all.
    const ofPayloads = this.#payloadProblems(answer);
    const problems = ofPayloads.length > 0 ? ofPayloads : this.#bodyProblems(response, answer.body);
    return [...problems, ...this.#headerProblems(response, answer.headers)];
  }

  /** Problems of the refusal of a request that no operation is documented for. */
  problemsOfUndocumented(answer: AnswerToCheck): readonly string[] {
    if (this.#operationOf(answer) !== null) return ['the operation is documented'];
    const validate = this.#compile(['components', 'schemas', 'ErrorDto']);
    if (validate(answer.body)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
  }

  /** Problems of the payload of a system event: what the document says of its webhook. */
  problemsOfPayload(name: string, payload: unknown): readonly string[] {
    const content = ['post', 'requestBody', 'content', 'application/json', 'schema'];
    const place = ['x-webhooks', name, ...content];
    if (this.#at(place) === undefined) return [`the webhook ${name} is not documented`];
    const validate = this.#compile(place);
    if (validate(payload)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = '' }) => `${name}${instancePath} ${message}`,
    );
  }

  /** Problems of the payloads of listed system events. */
  #payloadProblems({ path, body }: AnswerToCheck): readonly string[] {
    if (!/^\/webhooks\/events(\?|\/|$)/.test(path) || !isObject(body)) return [];
    const listed = Array.isArray(body['items']) ? (body['items'] as readonly unknown[]) : [body];
    return listed.flatMap((event) =>
      isObject(event) && typeof event['event_name'] === 'string'
        ? this.problemsOfPayload(event['event_name'], event['payload'])
        : [],
    );
  }

  /** Where the operation of a request stands in the document; null when it does not. */
  #operationOf({ method, path }: AnswerToCheck): readonly string[] | null {
    const known = this.#paths.find(({ pattern }) => pattern.test(path));
    const place = ['paths', known?.path ?? '', method.toLowerCase()];
    return known === undefined || this.#at(place) === undefined ? null : place;
  }

  /** Headers that are required and absent, and headers that are not documented. */
  #headerProblems(response: readonly string[], headers: Headers | undefined): readonly string[] {
    const described = this.#at([...response, 'headers']);
    if (headers === undefined) return [];
    const known = Object.entries(isObject(described) ? described : {}).map(([name, header]) => {
      const reference = isObject(header) ? header['$ref'] : undefined;
      const resolved =
        typeof reference === 'string' ? this.#at(reference.split('/').slice(1)) : header;
      const isRequired = isObject(resolved) && resolved['required'] === true;
      return { name: name.toLowerCase(), isRequired };
    });
    const missing = known.filter(({ name, isRequired }) => isRequired && !headers.has(name));
    const extra = DECLARED_HEADERS.filter(
      (name) => headers.has(name) && known.every((each) => each.name !== name),
    );
    return [
      ...missing.map(({ name }) => `the header ${name} is missing`),
      ...extra.map((name) => `the header ${name} is not documented`),
    ];
  }

  #at(members: readonly string[]): unknown {
    let found: unknown = this.#document;
    for (const member of members) found = isObject(found) ? found[member] : undefined;
    return found;
  }

  /** Where a response is described: there, or among those that operations share. */
  #responseAt(place: readonly string[]): readonly string[] {
    const response = this.#at(place);
    const reference = isObject(response) ? response['$ref'] : undefined;
    return typeof reference === 'string' ? reference.split('/').slice(1) : place;
  }

  #bodyProblems(response: readonly string[], body: unknown): readonly string[] {
    const content = this.#at([...response, 'content']);
    // An answer has one form: JSON, what else the operation says, or no body.
    const [mediaType] = isObject(content) ? Object.keys(content) : [];
    if (mediaType === undefined) return (body ?? null) === null ? [] : ['no body is documented'];
    const validate = this.#compile([...response, 'content', mediaType, 'schema']);
    if (validate(body)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
  }

  #compile(members: readonly string[]): ValidateFunction {
    const pointer = members
      .map((member) => encodeURIComponent(member.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = this.#known.get(pointer);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.#known.set(pointer, validate);
    return validate;
  }
}

let contract: OpenApiContract | null = null;

/** The document's contract; made once, since compiling its schemas takes seconds. */
export function documentContract(): OpenApiContract {
  contract ??= new OpenApiContract();
  return contract;
}
