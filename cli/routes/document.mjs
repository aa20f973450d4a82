/**
 * The OpenAPI document: what tsoa knows of the controllers, with everything that is the same on all
 * of them and follows from the operation table.
 */
import { ERROR_RESPONSES, responsesOf } from './responses.mjs';
import { samplesOf } from './samples.mjs';

const SCHEMA = '#/components/schemas/';

/** A copy of a JSON value whose objects have been through `change`, inner ones first. */
function rewritten(value, change) {
  if (Array.isArray(value)) return value.map((each) => rewritten(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [name, rewritten(each, change)]);
  return change(Object.fromEntries(members));
}

/** tsoa calls every integer int32; ours reach 2^53. */
export function withoutInt32(spec) {
  return rewritten(spec, ({ format, ...rest }) =>
    format === undefined || format === 'int32' ? rest : { ...rest, format },
  );
}

function resolvedSchema(schema, schemas) {
  if (schema?.$ref === undefined) return schema;
  return resolvedSchema(schemas[schema.$ref.slice(SCHEMA.length)], schemas);
}

/** The JSON type of a schema: its own, or that of what it refers to. */
function typeOf(schema, schemas) {
  const { type, allOf = [], anyOf = [] } = resolvedSchema(schema, schemas) ?? {};
  if (type !== undefined || allOf.length + anyOf.length === 0) return type;
  return typeOf([...allOf, ...anyOf][0], schemas);
}

const withNull = (values) => (values === undefined ? {} : { enum: [...values, null] });

/**
 * In OpenAPI 3.0 `nullable` needs a type beside it and has no effect beside a reference, where tsoa
 * writes it. A reference to a scalar is replaced by the scalar; any other becomes a choice between
 * the reference and null.
 */
export function withStrictNulls(spec) {
  const { schemas } = spec.components;
  return rewritten(spec, (object) => {
    if (object.nullable !== true || object.type !== undefined) return object;
    const { nullable: _nullable, allOf, anyOf, ...rest } = object;
    const choices = allOf ?? anyOf ?? [];
    const type = typeOf(object, schemas);
    const [first] = choices;
    const target = resolvedSchema(first, schemas);
    if (choices.length === 1 && ['string', 'number', 'integer', 'boolean'].includes(target.type)) {
      return { ...target, ...rest, nullable: true, ...withNull(target.enum) };
    }
    return { ...rest, anyOf: [...choices, { type, nullable: true, enum: [null] }] };
  });
}

function addReferences(value, names, schemas) {
  rewritten(value, (object) => {
    const name =
      typeof object.$ref === 'string' && object.$ref.startsWith(SCHEMA)
        ? object.$ref.slice(SCHEMA.length)
        : null;
    if (name !== null && !names.has(name)) {
      names.add(name);
      addReferences(schemas[name], names, schemas);
    }
    return object;
  });
}

/** Names of the schemas that one side of all operations uses: `requestBody` or `responses`. */
function schemasOf(side, paths, schemas) {
  const names = new Set();
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item)) addReferences(operation[side], names, schemas);
  }
  return names;
}

const opened = (value) =>
  rewritten(value, ({ additionalProperties, ...rest }) =>
    additionalProperties === undefined || additionalProperties === false
      ? rest
      : { ...rest, additionalProperties },
  );

const inputName = (name) => `${name.replace(/Dto$/, '')}Input`;

/**
 * Request bodies are closed, answers are open: a client must not break when an answer gains a
 * member. A schema that both use is therefore there twice, the closed one as `…Input`.
 */
export function withOpenAnswers(paths, schemas) {
  const requested = schemasOf('requestBody', paths, schemas);
  const answered = schemasOf('responses', paths, schemas);
  const shared = new Set([...requested].filter((name) => answered.has(name)));
  const resolved = ({ $ref, ...schema }) =>
    $ref === undefined ? schema : resolved(schemas[$ref.slice(SCHEMA.length)]);
  const hasRequired = (schema) => {
    const { required = [], allOf = [] } = resolved(schema);
    return required.length > 0 || allOf.some(hasRequired);
  };
  // A request without a body counts as one with an empty object.
  const bodyOf = (body) => {
    const { schema } = body.content['application/json'];
    const isObject = resolved(schema).type === 'object' || resolved(schema).allOf !== undefined;
    return isObject && !hasRequired(schema) ? { ...body, required: false } : body;
  };
  const toInput = (value) =>
    rewritten(value, (object) => {
      const name = object.$ref?.startsWith?.(SCHEMA) ? object.$ref.slice(SCHEMA.length) : '';
      return shared.has(name) ? { ...object, $ref: `${SCHEMA}${inputName(name)}` } : object;
    });
  const result = {};
  for (const [name, schema] of Object.entries(schemas)) {
    if (answered.has(name)) result[name] = opened(schema);
    else result[name] = toInput(schema);
    if (shared.has(name)) result[inputName(name)] = toInput(schema);
  }
  const ours = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, { requestBody, ...operation }]) => [
      method,
      {
        ...operation,
        responses: opened(operation.responses),
        ...(requestBody === undefined ? {} : { requestBody: toInput(bodyOf(requestBody)) }),
      },
    ]);
    return [path, Object.fromEntries(operations)];
  });
  return { paths: Object.fromEntries(ours), schemas: result };
}

function parametersOf(operation, documented) {
  const names = ['RequestId'];
  if (operation.isRepeatable) names.push('IdempotencyKey');
  if (operation.isVersioned && operation.method !== 'POST') names.push('IfMatch');
  const headers = operation.isPublic ? [] : names.map((name) => `#/components/parameters/${name}`);
  return [...(documented ?? []), ...headers.map(($ref) => ({ $ref }))];
}

/** The event routes take keys only. */
function securityOf({ isPublic, servedBy }) {
  if (isPublic) return [];
  const key = { ApiKeyAuth: [] };
  return servedBy === 'ingest' ? [key] : [key, { BearerAuth: [] }];
}

/** The example of a success, under the first media type of its answer. */
function addExample(response, example) {
  const [content] = Object.values(response.content ?? {});
  if (content !== undefined && example !== undefined) content.example = example;
}

/** The body of a request that was recorded, as the example of the body. */
function withBodyExample(requestBody, body) {
  const { 'application/json': content } = requestBody.content;
  if (body === undefined || content === undefined || content.example !== undefined)
    return requestBody;
  return { ...requestBody, content: { 'application/json': { ...content, example: body } } };
}

/** What the document itself shows as a body, for the operations that are not recorded. */
function documentedRequest({ requestBody }) {
  const { example, examples = {} } = requestBody?.content['application/json'] ?? {};
  const body = example ?? Object.values(examples)[0]?.value;
  return body === undefined ? {} : { body };
}

/**
 * One operation of the document.
 * @param entry its row of the operation table.
 * @param recorded what it was asked (`request`) and what it answered (`answer`) when the examples
 *   were recorded, and its own `refusals`; each is undefined when there is none.
 */
function completed(entry, operation, { answer: example, request, refusals }) {
  const { 'x-operation': _declared, security: _none, parameters, requestBody, ...rest } = operation;
  const hasBody = operation.requestBody !== undefined;
  const responses = responsesOf(entry, operation.responses, hasBody);
  addExample(responses[entry.successStatus], example);
  const all = parametersOf(entry, parameters);
  const sent = request ?? documentedRequest(operation);
  const isJson = responses[entry.successStatus]?.content?.['application/json'] !== undefined;
  return {
    ...rest,
    ...(requestBody && { requestBody: withBodyExample(requestBody, sent.body) }),
    ...(refusals && { 'x-refusals': refusals }),
    'x-codeSamples': samplesOf(entry, sent, { parameters, isJson }),
    ...(all.length === 0 ? {} : { parameters: all }),
    responses,
    security: securityOf(entry),
  };
}

function hasOperation(paths, key) {
  const [method = '', path = ''] = key.split(' ');
  return paths[path]?.[method.toLowerCase()] !== undefined;
}

/**
 * Paths with everything that follows from the operation table.
 * @param known the answers and requests that were recorded, and the refusals of single operations,
 *   each by method and path.
 */
export function completedPaths(paths, operations, { answers, requests, refusals }) {
  const unknown = Object.keys(refusals).filter((key) => !hasOperation(paths, key));
  if (unknown.length > 0)
    throw new Error(`refusals.json names no operation: ${unknown.join(', ')}`);
  const entries = new Map(
    operations.map((entry) => [`${entry.method} ${entry.path.replace(/^\/v1(?=\/)/, '')}`, entry]),
  );
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const members = Object.entries(item).map(([method, value]) => {
        const key = `${method.toUpperCase()} ${path}`;
        const entry = entries.get(key);
        const own = { answer: answers[key], request: requests[key], refusals: refusals[key] };
        return [method, entry === undefined ? value : completed(entry, value, own)];
      });
      return [path, Object.fromEntries(members)];
    }),
  );
}

/** The paths of two documents. A path may be in both, such as /events with GET and with POST. */
export function mergedPaths(left, right) {
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  return Object.fromEntries(names.map((path) => [path, { ...left[path], ...right[path] }]));
}

/** Tags that the fragment does not describe are listed by name. */
function tagsOf(described, paths) {
  const known = new Set(described.map(({ name }) => name));
  const used = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => operation.tags ?? []),
  );
  const others = [...new Set(used)].filter((name) => !known.has(name)).sort();
  return [...described, ...others.map((name) => ({ name }))];
}

const HEADERS_OF_MESSAGES = {
  'webhook-id': 'The id of the system event, the same on every attempt.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970.',
  'webhook-signature': 'One `v1,…` for each secret of the endpoint, by Standard Webhooks.',
  'webhook-sequence': 'The number of the event in its environment; absent for a test.',
};

/** The events that a schema of the payload of webhooks is for. */
export function eventsOf(schema) {
  const { enum: names = [] } = schema.properties?.event_type ?? {};
  return names;
}

/** The names of the schemas of payloads: the choices of what a system event tells. */
export function payloadsOf(schemas) {
  return schemas.WebhookPayload.anyOf.map(({ $ref }) => $ref.slice(SCHEMA.length));
}

/**
 * What endpoints receive, by event. OpenAPI 3.0 has no `webhooks`; tools read them as an extension
 * of the same form.
 */
function webhooksOf(schemas) {
  const parameters = Object.entries(HEADERS_OF_MESSAGES).map(([name, description]) => ({
    in: 'header',
    name,
    description,
    required: name !== 'webhook-sequence',
    schema: { type: 'string' },
  }));
  const webhooks = payloadsOf(schemas).flatMap((name) =>
    eventsOf(schemas[name]).map((event) => {
      const content = { 'application/json': { schema: { $ref: `${SCHEMA}${name}` } } };
      const post = {
        operationId: event,
        summary: event,
        tags: ['Webhooks'],
        parameters,
        requestBody: { required: true, content },
        // The signature in the headers shows where it comes from.
        security: [],
        responses: { '2XX': { description: 'Delivered' } },
      };
      return [event, { post }];
    }),
  );
  return Object.fromEntries(webhooks.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Whether a schema says what it means, itself or by what it refers to. */
function isDescribed(schema, schemas) {
  const { description, $ref, anyOf = [], items } = schema;
  if (description !== undefined) return true;
  if ($ref !== undefined) return isDescribed(schemas[$ref.slice(SCHEMA.length)], schemas);
  return (
    anyOf.some((each) => isDescribed(each, schemas)) ||
    (items !== undefined && isDescribed(items, schemas))
  );
}

/**
 * Meanings of members that their declarations leave to the name, since one name means one thing.
 * @param meanings by member (`members`), and by schema and member (`of`).
 */
export function withMeanings(schemas, { members, of }) {
  const described = Object.entries(schemas).map(([name, { properties, ...schema }]) => {
    if (properties === undefined) return [name, schemas[name]];
    const all = Object.entries(properties).map(([member, value]) => {
      const description = of[name]?.[member] ?? members[member];
      if (description === undefined || isDescribed(value, schemas)) return [member, value];
      // Beside a reference nothing counts in OpenAPI 3.0.
      const own = value.$ref === undefined ? value : { allOf: [value] };
      return [member, { ...own, description }];
    });
    return [name, { ...schema, properties: Object.fromEntries(all) }];
  });
  return Object.fromEntries(described);
}

/** The same for parameters of operations. */
export function withParameterMeanings(paths, schemas, { members }) {
  const described = (parameter) => {
    const { name, schema, description } = parameter;
    const meaning = members[name];
    const isMeant = description !== undefined || meaning === undefined || schema === undefined;
    return isMeant || isDescribed(schema, schemas)
      ? parameter
      : { ...parameter, description: meaning };
  };
  return rewritten(paths, (object) => {
    const isList = Array.isArray(object.parameters) && object.responses !== undefined;
    return isList ? { ...object, parameters: object.parameters.map(described) } : object;
  });
}

/** The whole document; schemas that nothing uses, such as those of queries, are left out. */
export function documentOf({ spec, fragment, paths, schemas }) {
  const responses = { ...ERROR_RESPONSES, ...fragment.components.responses };
  const used = new Set();
  addReferences([paths, responses], used, schemas);
  return {
    ...spec,
    ...fragment.document,
    tags: tagsOf(fragment.document.tags, paths),
    paths,
    'x-webhooks': webhooksOf(schemas),
    components: {
      ...spec.components,
      headers: fragment.components.headers,
      parameters: fragment.components.parameters,
      responses,
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name))),
    },
  };
}
