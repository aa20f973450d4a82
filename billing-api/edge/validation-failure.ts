import type { FieldErrors, ValidateError } from '@tsoa/runtime';
import { HttpFailure } from './http-failure.js';

const EXCESS = /^"(.*)" is an excess property/s;
/** The question with a similar known name, which `strict-validation-service.ts` may add. */
const MEANT = /; did you mean [^;]*\?$/;
const UNKNOWN = 'is not a member of this request';
const LEAVE_OUT = ': leave it out';
const NAME_LENGTH_MAX = 100;
const DETAILS_MAX = 20;

/** tsoa names the argument first (`body.items.$0.amount`); callers know members only. */
function memberOf(path: string): string {
  return path
    .split('.')
    .slice(1)
    .map((part) => part.replace(/^\$(\d+)$/, '$1'))
    .join('.');
}

/** `body` alone or a parameter of path or query keeps its own name. */
function nameOf(path: string): string {
  const member = memberOf(path);
  return member === '' ? path : member;
}

/** The path of an unknown member; null for other problems. tsoa's message names its key only. */
function unknownMember(path: string, message: string): string | null {
  const key = EXCESS.exec(message)?.[1];
  if (key === undefined) return null;
  const owner = memberOf(path.slice(0, path.length - key.length));
  return `${owner}${key}`;
}

/** Whole characters: half of a surrogate pair is not text. A name that nobody sees is quoted. */
function shortened(name: string): string {
  const whole = [...name.slice(0, 2 * NAME_LENGTH_MAX)].slice(0, NAME_LENGTH_MAX).join('');
  return whole.trim() === '' ? `"${whole}"` : whole;
}

/** What is wrong with the members of a request, in the words of this API; unknown members first. */
function problemsOf(fields: FieldErrors): readonly (readonly [string, string])[] {
  const problems: [string, string][] = [];
  let unknown: readonly [string, string] | null = null;
  for (const [path, { message }] of Object.entries(fields)) {
    const excess = unknownMember(path, message);
    if (excess !== null) unknown ??= [excess, `${UNKNOWN}${MEANT.exec(message)?.[0] ?? LEAVE_OUT}`];
    else problems.push([nameOf(path), message]);
  }
  if (unknown !== null) problems.unshift([...unknown]);
  return problems.slice(0, DETAILS_MAX).map(([name, problem]) => [shortened(name), problem]);
}

/** The answer to a request whose members have wrong types, are missing or unknown. */
export function failureOfValidation(error: ValidateError): HttpFailure {
  const problems = problemsOf(error.fields);
  const [name, problem] = problems[0] ?? ['request', 'is not valid'];
  const message = problem.startsWith(UNKNOWN) ? `${name} ${problem}` : `${name}: ${problem}`;
  // This makes own properties, even of a member that is called __proto__.
  const details = Object.fromEntries(problems);
  return new HttpFailure(400, 'validation_error', { message: message.slice(0, 500), details });
}
