/**
 * The request samples of an operation, in curl, TypeScript and Python, made of the request that the
 * test of the examples sends (`npm run examples` records it).
 */

const KEY = 'MINUTEBOOK_API_KEY';
const INDENT = '  ';

/** A value as a literal of TypeScript: names without quotes where they need none. */
function typeScriptOf(value, indent = '') {
  const inner = `${indent}${INDENT}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${inner}${typeScriptOf(each, inner)},\n`).join('')}${indent}]`;
  }
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value);
  if (members.length === 0) return '{}';
  const rows = members.map(([name, each]) => {
    const label = /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
    return `${inner}${label}: ${typeScriptOf(each, inner)},\n`;
  });
  return `{\n${rows.join('')}${indent}}`;
}

const quoted = (text) => (/['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`);

/** A value as a literal of Python, which has other words for three of them. */
function pythonOf(value, indent = '') {
  const inner = `${indent}    `;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const rows = isList
    ? value.map((each) => `${inner}${pythonOf(each, inner)},\n`)
    : Object.entries(value).map(
        ([name, each]) => `${inner}${JSON.stringify(name)}: ${pythonOf(each, inner)},\n`,
      );
  const [open, close] = isList ? '[]' : '{}';
  return rows.length === 0 ? `${open}${close}` : `${open}\n${rows.join('')}${indent}${close}`;
}

/** Path and query as they are sent. */
function addressOf(path, { path: parameters = {}, query = {} }) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) =>
    encodeURIComponent(parameters[name]),
  );
  const text = new URLSearchParams(query).toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** The values of a query, which are sent as texts, by the types that the document gives them. */
function typedQuery(query = {}, parameters = []) {
  const types = new Map(
    parameters
      .filter((each) => each.in === 'query')
      .map(({ name, schema }) => [name, schema?.type]),
  );
  const valueOf = (text, type) => {
    if (type === 'array') return [text];
    return ['integer', 'number', 'boolean'].includes(type) ? JSON.parse(text) : text;
  };
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [name, valueOf(text, types.get(name))]),
  );
}

function curlOf({ method, url, isPublic, body }) {
  const parts = [
    `curl ${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}"$MINUTEBOOK_URL${url}"`,
    ...(isPublic ? [] : [`-H "x-api-key: $${KEY}"`]),
    ...(body === undefined
      ? []
      : [
          `-H 'content-type: application/json'`,
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
        ]),
  ];
  return parts.join(` \\\n${INDENT}`);
}

function callOf({ method, path, isInterface, url }, { path: parameters, query, body }) {
  if (!isInterface) {
    return `const answer = await fetch(\`\${process.env['MINUTEBOOK_URL']}${url}\`);\nconsole.log(await answer.text());`;
  }
  const given = { path: parameters, query, body };
  const options = Object.fromEntries(
    Object.entries(given).filter(([, each]) => each !== undefined && Object.keys(each).length > 0),
  );
  const argument = Object.keys(options).length === 0 ? '' : `, ${typeScriptOf(options)}`;
  return `const answer = await minutebook.${method.toLowerCase()}('${path}'${argument});\nconsole.log(answer);`;
}

function pythonCallOf({ method, url, isPublic, isJson, body }) {
  const headers = [
    ...(isPublic ? [] : [`"x-api-key": os.environ["${KEY}"]`]),
    ...(body === undefined ? [] : ['"content-type": "application/json"']),
  ];
  const rows = [
    `    os.environ["MINUTEBOOK_URL"] + ${JSON.stringify(url)},`,
    `    method="${method}",`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},`]),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonOf(body, '    ')}).encode(),`]),
  ];
  const shown = isJson ? 'json.load(answer)' : 'answer.status';
  return [
    `import ${body === undefined && !isJson ? '' : 'json, '}os, urllib.request`,
    '',
    `request = urllib.request.Request(\n${rows.join('\n')}\n)`,
    `with urllib.request.urlopen(request) as answer:\n    print(${shown})`,
  ].join('\n');
}

/**
 * @param entry the row of the operation table.
 * @param request {path, query, body} as it was sent; each may be missing.
 * @param facts `parameters` of the document, and whether the success is answered in JSON.
 */
export function samplesOf(entry, request, { parameters, isJson }) {
  const { method, path, isPublic } = entry;
  const isInterface = path.startsWith('/v1/');
  const below = path.replace(/^\/v1(?=\/)/, '');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  // What is not recorded has its name in capitals in its place.
  const given = names.map((name) => [name, request.path?.[name] ?? name.toUpperCase()]);
  const sent = { ...request, path: Object.fromEntries(given) };
  const url = addressOf(path, sent);
  const facts = { method, path: below, url, isPublic, isInterface, isJson, body: request.body };
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(facts) },
    {
      lang: 'TypeScript',
      label: 'TypeScript',
      source: callOf(facts, { ...sent, query: typedQuery(sent.query, parameters) }),
    },
    { lang: 'Python', label: 'Python', source: pythonCallOf(facts) },
  ];
}
