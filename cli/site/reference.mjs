/**
 * The reference of the API, made of the OpenAPI document: a page for each of its tags with every
 * operation, and the objects that only these use; what several pages use is on one of its own.
 */

const SCHEMA = '#/components/schemas/';
const SHARED = 'objects';
/** In the place of a page: with the only operation that takes it. */
const INLINE = 'inline';
/** Of one list or object; the whole answer is in the document. */
const EXAMPLE_LINES_MAX = 60;

const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const nameOf = ($ref) => $ref.slice(SCHEMA.length);
const oneLine = (text = '') => text.replaceAll(/\s*\n\s*/g, ' ').trim();
const cell = (text) => oneLine(text).replaceAll('|', '\\|');

/** Names of all schemas that a value refers to, also by way of others. */
function referencesOf(value, schemas, found = new Set()) {
  if (Array.isArray(value)) for (const each of value) referencesOf(each, schemas, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (name !== '$ref') referencesOf(each, schemas, found);
      else if (each.startsWith?.(SCHEMA) && !found.has(nameOf(each))) {
        found.add(nameOf(each));
        referencesOf(schemas[nameOf(each)], schemas, found);
      }
    }
  }
  return found;
}

const isObject = ({ type, properties, allOf, anyOf }) =>
  type === 'object' || properties !== undefined || allOf !== undefined || anyOf !== undefined;

/** Members of an object with those of what it extends. */
function membersOf(schema, schemas) {
  const parts = [...(schema.allOf ?? []), { ...schema, allOf: undefined }];
  const all = parts.map((part) =>
    part.$ref === undefined ? part : { ...schemas[nameOf(part.$ref)] },
  );
  const inner = all.map((part) => (part.allOf === undefined ? part : membersOf(part, schemas)));
  return {
    properties: Object.assign({}, ...inner.map(({ properties = {} }) => properties)),
    required: inner.flatMap(({ required = [] }) => required),
  };
}

const bodyOf = ({ requestBody }) => requestBody?.content['application/json']?.schema;

/** Names of bodies that one operation takes. */
function bodiesOfOne(operations) {
  const names = operations
    .map(({ operation }) => bodyOf(operation)?.$ref)
    .filter(($ref) => $ref !== undefined)
    .map(nameOf);
  return new Set(
    names.filter(
      (name, index) => !names.includes(name, index + 1) && names.indexOf(name) === index,
    ),
  );
}

/** Where an object is described: by its name the page on the site. */
function placesOf(operations, schemas) {
  const users = new Map();
  for (const { tag, operation } of operations) {
    const { parameters, requestBody, responses } = operation;
    const own = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    for (const name of referencesOf([parameters, requestBody, own], schemas)) {
      users.set(name, (users.get(name) ?? new Set()).add(tag));
    }
  }
  const inline = bodiesOfOne(operations);
  const places = [...users]
    .filter(([name]) => isObject(schemas[name]))
    .map(([name, tags]) => {
      if (inline.has(name)) return [name, INLINE];
      return [name, tags.size === 1 ? slug([...tags][0]) : SHARED];
    });
  return new Map(places);
}

/** Writes types and members, with links from the page that is being written. */
class Writer {
  constructor(page, places, schemas) {
    Object.assign(this, { page, places, schemas });
  }

  linkTo(name) {
    const place = this.places.get(name);
    // A body that stands with its operation is named, which is where a body names itself.
    if (place === INLINE) return name;
    const address = place === this.page ? '' : `./${place}.md`;
    return `[${name}](${address}#${slug(name)})`;
  }

  typeOf(schema) {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      return this.places.has(name) ? this.linkTo(name) : this.typeOf(this.schemas[name]);
    }
    const { type, items, enum: values, anyOf, allOf, nullable, additionalProperties } = schema;
    const others = (anyOf ?? allOf ?? []).filter((each) => each.enum?.[0] !== null);
    const canBeNull = nullable === true || others.length < (anyOf ?? []).length;
    const ends = canBeNull ? ' or null' : '';
    if (others.length > 0) {
      return `${others.map((each) => this.typeOf(each)).join(' or ')}${ends}`;
    }
    if (values !== undefined) {
      const named = values.filter((value) => value !== null).map((value) => `\`${value}\``);
      return `${named.join(', ')}${ends}`;
    }
    if (type === 'array') return `list of ${this.typeOf(items)}${ends}`;
    if (type === 'object' && typeof additionalProperties === 'object') {
      return `object of ${this.typeOf(additionalProperties)} by name${ends}`;
    }
    return `${schema.format === 'date-time' ? 'date-time' : (type ?? 'any')}${ends}`;
  }

  aboutOf(schema) {
    if (schema.description !== undefined) return schema.description;
    const { $ref } = schema;
    if ($ref === undefined || this.places.has(nameOf($ref))) return '';
    return this.aboutOf(this.schemas[nameOf($ref)]);
  }

  /** Both in one column, which a narrow screen has room for. */
  meaningOf(schema, about = this.aboutOf(schema)) {
    return cell(`${this.typeOf(schema)}. ${about}`);
  }

  membersTable(schema) {
    const { properties, required } = membersOf(schema, this.schemas);
    const rows = Object.entries(properties).map(([name, member]) => {
      const mark = required.includes(name) ? ' *' : '';
      return `| \`${name}\`${mark} | ${this.meaningOf(member)} |`;
    });
    if (rows.length === 0) return '';
    return `| Member | Type and meaning |\n| --- | --- |\n${rows.join('\n')}\n`;
  }

  /** A body: its members where it is of this operation alone, else a link to it. */
  bodyText(schema) {
    const name = schema.$ref === undefined ? null : nameOf(schema.$ref);
    const target = name === null ? schema : this.schemas[name];
    const isOwn = name === null || this.places.get(name) === INLINE;
    const members = isOwn ? this.membersTable(target) : '';
    if (members === '') return `${this.typeOf(schema)}\n`;
    return [oneLine(target.description), '', members].join('\n');
  }
}

function fenced(language, text) {
  return `\`\`\`${language}\n${text}\n\`\`\`\n`;
}

const LANGUAGES = { curl: 'sh', TypeScript: 'ts', Python: 'python' };

function samplesOf(operation) {
  const blocks = (operation['x-codeSamples'] ?? []).map(({ label, source }) =>
    fenced(`${LANGUAGES[label]} [${label}]`, source),
  );
  return blocks.length === 0 ? [] : [`::: code-group\n\n${blocks.join('\n')}\n:::\n`];
}

function parametersOf(operation, writer) {
  const own = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
  if (own.length === 0) return [];
  const rows = own.map(({ name, in: place, required, schema, description }) => {
    const mark = required ? ' *' : '';
    return `| \`${name}\`${mark} | ${place} | ${writer.meaningOf(schema, description)} |`;
  });
  return [`| Parameter | In | Type and meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`];
}

function exampleOf({ example }) {
  if (example === undefined || example === null) return [];
  if (typeof example === 'string') return [fenced('text', example.slice(0, 2_000))];
  const lines = JSON.stringify(example, null, 2).split('\n');
  const shown = lines.slice(0, EXAMPLE_LINES_MAX);
  const rest = lines.length - shown.length;
  if (rest > 0) shown.push(`… ${rest} more lines`);
  return [fenced('json', shown.join('\n'))];
}

function answersOf(operation, writer) {
  const successes = Object.entries(operation.responses).filter(([status]) => /^2/.test(status));
  return successes.flatMap(([status, { content = {} }]) => {
    const [[type, answer] = []] = Object.entries(content);
    if (answer === undefined) return [`**Answer** ${status} without a body.\n`];
    const kind = type === 'application/json' ? writer.bodyText(answer.schema) : `${type}\n`;
    return [`**Answer** ${status}: ${kind}`, ...exampleOf(answer)];
  });
}

/** Messages of refusals that not every operation has. */
function messagesOf(operation, document, common) {
  return Object.entries(operation.responses).flatMap(([status, response]) => {
    if (/^2/.test(status) || common.has(`${status} ${response.$ref ?? ''}`)) return [];
    const resolved =
      response.$ref === undefined
        ? response
        : document.components.responses[response.$ref.split('/').at(-1)];
    const { example, examples = {} } = resolved.content?.['application/json'] ?? {};
    const shown =
      example === undefined ? Object.values(examples).map((each) => each.value) : [example];
    return shown.map(({ message }) => `| ${status} | “${cell(message)}” |`);
  });
}

/** What this operation refuses and others do not: when, and with which message. */
function refusalsOf(operation, document, common) {
  const own = (operation['x-refusals'] ?? []).map(
    ({ status, when }) => `| ${status} | ${cell(when)} |`,
  );
  const rows = [...own, ...messagesOf(operation, document, common)];
  if (rows.length === 0) return [];
  return [
    '**Refusals** beside those of every operation:\n',
    `| Status | When, or its message |\n| --- | --- |\n${rows.join('\n')}\n`,
  ];
}

function operationText({ method, path, operation }, document, writer, common) {
  const body = bodyOf(operation);
  return [
    `## ${operation.summary}\n`,
    `\`${method.toUpperCase()} ${path}\`\n`,
    ...(operation.description === undefined ? [] : [`${operation.description}\n`]),
    ...samplesOf(operation),
    ...parametersOf(operation, writer),
    ...(body === undefined ? [] : [`**Body:** ${writer.bodyText(body)}`]),
    ...answersOf(operation, writer),
    ...refusalsOf(operation, document, common),
  ].join('\n');
}

function objectText(name, writer) {
  const schema = writer.schemas[name];
  const choices = (schema.anyOf ?? []).map((each) => writer.typeOf(each)).join(', or ');
  return [
    `### ${name}\n`,
    ...(schema.description === undefined ? [] : [`${schema.description}\n`]),
    ...(choices === '' ? [] : [`${choices}\n`]),
    writer.membersTable(schema),
  ].join('\n');
}

/** Refusals that nearly every operation has, as `404 #/components/responses/NotFound`. */
function commonRefusals(operations) {
  const counts = new Map();
  for (const { operation } of operations) {
    for (const [status, { $ref = '' }] of Object.entries(operation.responses)) {
      const key = `${status} ${$ref}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const most = operations.length / 4;
  return new Set([...counts].filter(([, count]) => count > most).map(([key]) => key));
}

function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const [tag = 'Other'] = operation.tags ?? [];
      return { method, path, operation, tag };
    }),
  );
}

function objectsOf(page, places, schemas) {
  const names = [...places].filter(([, place]) => place === page).map(([name]) => name);
  const writer = new Writer(page, places, schemas);
  return names.sort().map((name) => objectText(name, writer));
}

/** Pages {place, text} of the whole document. */
export function referencePages(document) {
  const { schemas } = document.components;
  const operations = operationsOf(document);
  const places = placesOf(operations, schemas);
  const common = commonRefusals(operations);
  const pages = document.tags.map(({ name, description }) => {
    const page = slug(name);
    const writer = new Writer(page, places, schemas);
    const own = operations.filter(({ tag }) => tag === name);
    const texts = own.map((each) => operationText(each, document, writer, common));
    const objects = objectsOf(page, places, schemas);
    const parts = [
      `# ${name}\n`,
      `${description ?? `${name}: operations with their requests, answers and refusals.`}\n`,
      'Members with `*` must be sent in a request, and are always there in an answer.\n',
      ...texts,
      ...(objects.length === 0 ? [] : ['## Objects\n', ...objects]),
    ];
    return { place: `reference/${page}.md`, text: parts.join('\n') };
  });
  const shared = [
    '# Shared objects\n',
    'Objects that operations on several pages answer or take.\n',
    ...objectsOf(SHARED, places, schemas),
  ];
  return [...pages, { place: `reference/${SHARED}.md`, text: shared.join('\n') }];
}
