/** Which errors and headers an operation documents: they follow from its declaration. */
const REQUEST_ID = { 'X-Request-ID': ref('headers', 'RequestId') };
const RATE = {
  'RateLimit-Policy': ref('headers', 'RateLimitPolicy'),
  RateLimit: ref('headers', 'RateLimit'),
};
const RETRY = { 'Retry-After': ref('headers', 'RetryAfter') };

function ref(kind, name) {
  return { $ref: `#/components/${kind}/${name}` };
}

function conflictOf(operation) {
  const { isRepeatable, isVersioned, mayBeOvertaken, method } = operation;
  const isCompared = (isVersioned && method !== 'POST') || mayBeOvertaken;
  if (isRepeatable) return isCompared ? 'ConflictOrVersion' : 'Conflict';
  if (operation.mayBeTaken) return 'Taken';
  return isCompared ? 'OtherVersion' : null;
}

/** What takes the place of credentials, and how it fails. */
function ownErrorsOf({ mayBeTaken, isSigned, path }) {
  if (path === '/v1/auth/session') return { 401: 'WrongPassword', 403: 'ConsoleClosed' };
  if (isSigned) return { 403: 'WrongSignature', 404: 'NoGateway' };
  return mayBeTaken
    ? { 403: 'SignUpClosed', 409: 'Taken' }
    : { 401: 'WrongPassword', 403: 'ForeignEnvironment' };
}

/** Of signing up and in, and of what is signed; the operational routes refuse nobody. */
function publicErrorsOf(operation) {
  return {
    400: 'BadRequest',
    ...ownErrorsOf(operation),
    408: 'TooSlow',
    413: 'TooLarge',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'Unavailable',
  };
}

/** Of one that takes nothing: below /v1 a query parameter that it does not know is refused. */
function errorsWithoutBody({ path, method }) {
  if (!path.startsWith('/v1/')) return {};
  const read = { 400: 'BadRequest' };
  // Ending a session.
  const write = { 403: 'ForeignPage', 429: 'TooManyRequests', 500: 'InternalError' };
  return method === 'DELETE' ? { ...read, ...write, 503: 'Unavailable' } : read;
}

/** Status to the name of the shared response. */
function errorNamesOf(operation, hasBody) {
  if (operation.isPublic) {
    return hasBody ? publicErrorsOf(operation) : errorsWithoutBody(operation);
  }
  const conflict = conflictOf(operation);
  return {
    400: 'BadRequest',
    401: 'Unauthenticated',
    403: 'Forbidden',
    ...(operation.mayBeMissing ? { 404: 'NotFound' } : {}),
    ...(conflict === null ? {} : { 409: conflict }),
    ...(hasBody ? { 408: 'TooSlow', 413: 'TooLarge' } : {}),
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'Unavailable',
  };
}

/** The responses of an operation; what it documents itself stays. */
export function responsesOf(operation, documented, hasBody) {
  const derived = Object.entries(errorNamesOf(operation, hasBody));
  const errors = derived.map(([status, name]) => [status, ref('responses', name)]);
  const success = documented[operation.successStatus];
  // tsoa takes every file for one that is encoded as text.
  const pdf = success.content?.['application/pdf'];
  if (pdf !== undefined) pdf.schema.format = 'binary';
  const headers = {
    ...REQUEST_ID,
    ...(operation.isPublic ? {} : RATE),
    ...(operation.isVersioned ? { ETag: ref('headers', 'ETag') } : {}),
    ...(operation.isRepeatable
      ? { 'Idempotency-Replayed': ref('headers', 'IdempotencyReplayed') }
      : {}),
    ...success.headers,
  };
  return {
    ...Object.fromEntries(errors),
    ...documented,
    [operation.successStatus]: { ...success, headers },
  };
}

function errorResponse(description, body, headers = {}) {
  const schema = ref('schemas', 'ErrorDto');
  const named = Array.isArray(body)
    ? { examples: Object.fromEntries(body.map((each) => [nameOf(each), { value: each }])) }
    : { example: body };
  return {
    description,
    headers: { ...REQUEST_ID, ...headers },
    content: { 'application/json': { schema, ...named } },
  };
}

/** One name for each example of a response. */
function nameOf({ code, message }) {
  return message.includes('still running') ? 'still_running' : code;
}

function error(code, status, message, details) {
  return { code, http_status_code: status, message, ...(details && { details }) };
}

const KEY_TAKEN = error(
  'already_exists',
  409,
  'the Idempotency-Key was used for another request, or by another user; send a new one',
);
const STILL_RUNNING = error(
  'version_conflict',
  409,
  'the first request with this Idempotency-Key is still running; try again later',
);
const OTHER_VERSION = error('version_conflict', 409, 'the record has version 2; read it again');
const BEING_BILLED = error(
  'version_conflict',
  409,
  'the period of subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X that ended at 2026-02-01T00:00:00.000Z is being billed; try again in some minutes',
);

/** The shared responses, each with an example that the product really answers. */
export const ERROR_RESPONSES = {
  BadRequest: errorResponse(
    'The request breaks a rule',
    error('validation_error', 400, 'colour is not a member of this request', {
      colour: 'is not a member of this request',
    }),
    RATE,
  ),
  Unauthenticated: errorResponse(
    'Credentials are missing or unknown',
    error('permission_denied', 401, 'the API key is unknown, expired or revoked'),
  ),
  Forbidden: errorResponse(
    'The key may not do this',
    error('permission_denied', 403, 'a publishable key can only send events'),
    RATE,
  ),
  WrongPassword: errorResponse(
    'Nobody has this e-mail address and password',
    error('permission_denied', 401, 'the e-mail address or the password is wrong'),
  ),
  ForeignEnvironment: errorResponse(
    'The environment is not one of the tenant',
    error(
      'permission_denied',
      403,
      'environment env_01KAHZ3M4N5P6Q7R8S9T0V1W2X is not one of your tenant',
    ),
  ),
  ConsoleClosed: errorResponse(
    'There is no console in this installation',
    error(
      'permission_denied',
      403,
      'the console is switched off here: MINUTEBOOK_CONSOLE switches it on',
    ),
  ),
  ForeignPage: errorResponse(
    'The request comes from a page of somebody else',
    error(
      'permission_denied',
      403,
      'a session of the console is ended from pages of the console only',
    ),
  ),
  SignUpClosed: errorResponse(
    'Sign-up is closed in this installation',
    error(
      'permission_denied',
      403,
      'sign-up is closed here: an operator makes tenants, with `minutebook tenants create`',
    ),
  ),
  WrongSignature: errorResponse(
    'The body is not signed by the gateway',
    error(
      'permission_denied',
      403,
      'the signature is not that of the gateway for this body, or it is too old',
    ),
  ),
  NoGateway: errorResponse(
    'There is no such gateway',
    error('not_found', 404, 'connection conn_01KAHZ3M4N5P6Q7R8S9T0V1W2X does not exist'),
  ),
  Taken: errorResponse(
    'A unique member is taken',
    error('already_exists', 409, 'a user with this email exists already', { email: 'is taken' }),
  ),
  NotFound: errorResponse(
    'A record that the request names does not exist',
    error('not_found', 404, 'plan plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X does not exist'),
    RATE,
  ),
  Conflict: errorResponse(
    'A unique member or the Idempotency-Key is taken',
    [KEY_TAKEN, STILL_RUNNING],
    { ...RATE, ...RETRY },
  ),
  OtherVersion: errorResponse(
    'The record has another version, or a period of it that has ended is being billed',
    [OTHER_VERSION, BEING_BILLED],
    RATE,
  ),
  ConflictOrVersion: errorResponse(
    'The record has another version, or a unique member or the Idempotency-Key is taken',
    [KEY_TAKEN, OTHER_VERSION, STILL_RUNNING],
    { ...RATE, ...RETRY },
  ),
  TooSlow: errorResponse(
    'The body arrives too slowly; the connection is closed',
    error(
      'validation_error',
      408,
      'less than 8 KiB of the body arrived in 5 seconds: send it again, faster',
    ),
    RATE,
  ),
  TooLarge: errorResponse(
    'The body is too large',
    error('validation_error', 413, 'the body is larger than 2 MiB'),
    RATE,
  ),
  TooManyRequests: errorResponse(
    'Too many requests',
    error(
      'too_many_requests',
      429,
      'this key may send 500 default requests per second; wait and try again',
    ),
    { ...RATE, ...RETRY },
  ),
  InternalError: errorResponse(
    'Unforeseen failure',
    error('internal_error', 500, 'internal error'),
    RATE,
  ),
  Unavailable: errorResponse(
    'A database does not answer, or does not hold the answer yet; a retry may succeed',
    error('service_unavailable', 503, 'postgres does not answer; try again'),
    { ...RATE, ...RETRY },
  ),
};
