import PQueue from 'p-queue';
import { documentContract } from '../../../billing-api/testing/openapi-contract.js';
import { createSeededRandom } from '../../harness/seeded-random.js';
import { isJson, readDocument, type FuzzedOperation } from './document.js';
import { drawRequest, type FuzzedRequest } from './draw-request.js';
import type { Drawing } from './draw-value.js';
import { KnownNames } from './known-names.js';
import {
  fillOwnEnvironment,
  makeForeignEnvironments,
  readRecords,
  type FilledEnvironment,
  type FuzzedProduct,
} from './world.js';

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

export type FuzzResult = {
  /** What is wrong, and the request that shows it; each kind once. */
  readonly findings: readonly string[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that were answered with a success at least once. */
  readonly succeeded: ReadonlySet<string>;
  /** All operations that were called. */
  readonly called: ReadonlySet<string>;
  /** What answers 400 said, each kind of message once, with the operation that said it first. */
  readonly refusals: readonly string[];
};

const AT_A_TIME = 6;
/** Longer than any answer may take. */
const ANSWER_MS = 60_000;

async function send(product: FuzzedProduct, request: FuzzedRequest): Promise<Answer> {
  const { operation, path, query, headers, body } = request;
  const answer = await fetch(`${product.url}/v1${path}${query === '' ? '' : `?${query}`}`, {
    method: operation.method,
    headers: {
      'x-api-key': product.apiKey,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

function parsed({ headers, text }: Answer): unknown {
  const isJson = headers.get('content-type')?.includes('json') === true;
  if (isJson && text !== '') return JSON.parse(text) as unknown;
  return text === '' ? null : text;
}

function contractProblems({ operation, path }: FuzzedRequest, answer: Answer): readonly string[] {
  const { status, headers } = answer;
  if (status >= 500) return [`answers ${status}`];
  const checked = { method: operation.method, path, status, headers, body: parsed(answer) };
  return documentContract().problemsOf(checked);
}

/** Secrets of others, and what is told only once, that an answer holds and the request did not. */
function leaks(request: FuzzedRequest, { text }: Answer, secrets: readonly string[]): string[] {
  const { path, query, headers, body } = request;
  const told = decodeURIComponent(path + query.replaceAll('+', ' '));
  const said = `${told}${Object.values(headers).join()}${body ?? ''}`;
  const found = secrets.filter((secret) => text.includes(secret) && !said.includes(secret));
  return found.map((secret) => `answers ${secret}, a secret`);
}

/** The key or the password that an answer tells once. */
function toldOnce(answer: unknown): readonly string[] {
  const { api_key: apiKey, password } = isJson(answer) ? answer : {};
  return [apiKey, password].filter((each) => typeof each === 'string');
}

/** Whether a record was made. A few answer 200 where most answer 201 (docs/http.md 1.6). */
const isMade = (operationId: string, status: number): boolean =>
  status === 201 || (status === 200 && /^(Create|Add)/.test(operationId));

const shown = ({ operation, path, query, headers, body }: FuzzedRequest): string =>
  `${operation.method} ${path}?${query} ${JSON.stringify(headers)} ${(body ?? '').slice(0, 1_500)}`;

/** Numbers and quoted words differ from call to call, and tell no two problems apart. */
const kindOf = (problem: string): string => problem.replaceAll(/\d+|"[^"]*"/g, '#').slice(0, 200);

/** Gathers findings, each kind of problem of an operation once. */
class Findings {
  readonly #texts = new Map<string, string>();

  add(operationId: string, problem: string, evidence: string): void {
    const kind = `${operationId} ${kindOf(problem)}`;
    if (!this.#texts.has(kind)) {
      this.#texts.set(kind, `${operationId} ${problem.slice(0, 500)}\n    ${evidence}`);
    }
  }

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }
}

/** What is said of a refused request: of each member, or of all of it where no member is named. */
function refusalsIn({ status }: Answer, body: unknown): readonly string[] {
  if (status !== 400 || !isJson(body)) return [];
  const { message, details } = body;
  const said = isJson(details) ? Object.entries(details) : [];
  if (said.length === 0) return [String(message)];
  return said.map(([member, problem]) => `${member}: ${String(problem)}`);
}

/** Ids and numbers say nothing of what a message teaches, and neither does where a list has it. */
const wordingOf = (refusal: string): string =>
  refusal.replaceAll(/\b[a-z_]+_[0-9A-Z]{26}\b|"[^"]*"|-?\d+(\.\d+)?/g, '#');

/** Gathers what is said of refused requests, each wording once. */
class Refusals {
  readonly #texts = new Map<string, string>();

  add(operationId: string, answer: Answer): void {
    for (const refusal of refusalsIn(answer, parsed(answer))) {
      const wording = wordingOf(refusal);
      if (!this.#texts.has(wording)) this.#texts.set(wording, `${operationId}: ${refusal}`);
    }
  }

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }
}

/** The ids of these environments, and all names. */
function namesOf(environments: readonly FilledEnvironment[]) {
  const [ids, all] = [new KnownNames(), new KnownNames()];
  for (const { names } of environments) {
    ids.addAllOf(names.all);
    all.addAll(names);
  }
  return { ids, all };
}

/**
 * Makes calls with right and broken requests that a seed determines, from an environment beside two
 * others. Nothing may be answered with 5xx or outside of the document, and nothing of the others
 * may be answered or changed. Calls run side by side, so that one seed repeats the requests but not
 * always the ids in them.
 */
export async function runFuzzer(
  product: FuzzedProduct,
  options: { readonly seed: number; readonly calls: number; readonly onCall?: () => void },
): Promise<FuzzResult> {
  const document = readDocument(await (await fetch(`${product.url}/openapi.json`)).json());
  const own = await fillOwnEnvironment(product);
  const others = await makeForeignEnvironments(product);
  const before = await Promise.all(others.map((each) => readRecords(product, each)));
  const { ids: foreignIds, all: foreign } = namesOf(others);
  const secrets = others.flatMap((each) => each.secrets);
  const learn = (operationId: string, made: unknown): void => {
    const told = toldOnce(made);
    secrets.push(...told);
    for (const key of told.filter((each) => each.startsWith('sk_'))) own.names.add('api key', key);
    // Who signs up has a tenant of its own.
    if (operationId !== 'SignUp') own.names.addAllOf(made);
  };
  const random = createSeededRandom(options.seed);
  // A key of others that is stored here is answered later, and rightly. An event may name anything.
  const foreignFor = ({ isWrite, path }: FuzzedOperation): KnownNames => {
    if (!isWrite) return foreign;
    return path.startsWith('/events') ? new KnownNames() : foreignIds;
  };
  const drawFor = (operation: FuzzedOperation): Drawing => ({
    random,
    resolve: document.resolve,
    own: own.names,
    foreign: foreignFor(operation),
    isWrite: operation.isWrite,
  });
  const findings = new Findings();
  const statuses = new Map<number, number>();
  const [succeeded, called] = [new Set<string>(), new Set<string>()];
  const refusals = new Refusals();
  const callOnce = async (): Promise<void> => {
    const operation = random.pick(document.operations);
    const request = drawRequest(drawFor(operation), operation);
    const { id } = operation;
    called.add(id);
    try {
      const answer = await send(product, request);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const problems = [...contractProblems(request, answer), ...leaks(request, answer, secrets)];
      for (const problem of problems) {
        findings.add(id, problem, `${shown(request)}\n    ${answer.text.slice(0, 300)}`);
      }
      if (answer.status < 300) succeeded.add(id);
      refusals.add(id, answer);
      if (isMade(id, answer.status)) learn(id, parsed(answer));
    } catch (error) {
      findings.add(id, `gives no answer: ${String(error)}`, shown(request));
    }
    options.onCall?.();
  };
  const queue = new PQueue({ concurrency: AT_A_TIME });
  await queue.addAll(Array.from({ length: options.calls }, () => callOnce));
  for (const [index, each] of others.entries()) {
    if ((await readRecords(product, each)) === before[index]) continue;
    findings.add('foreign records', 'have changed', each.secrets.at(-1) ?? '');
  }
  return { findings: findings.texts, refusals: refusals.texts, statuses, succeeded, called };
}
