import type { IncomingMessage } from 'node:http';
import express, { type Application, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { ClickHouse } from '../clickhouse/client.js';
import { createRequestQueries } from '../clickhouse/request-queries.js';
import type { Clock } from '../runtime/clock.js';
import type { BodyBudgetLimits } from '../runtime/http/body-budget.js';
import type { FailedAuthentication } from '../runtime/http/failed-authentication.js';
import type { PublicLimits } from '../runtime/http/public-rate.js';
import type { IdSource } from '../runtime/ids.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { createOutboundAgents } from '../runtime/guarded-agents.js';
import { createSecretBox } from '../runtime/secret-box.js';
import type { Readiness } from '../runtime/readiness.js';
import type { ApiKeyDirectory } from '../sql/api-keys.js';
import type { Database } from '../sql/pool.js';
import { createUserCallers } from '../sql/user-callers.js';
import { OPERATIONS } from './generated/operations.js';
import { RegisterRoutes } from './generated/routes.js';
import { createAuthenticate } from './edge/access/authenticate.js';
import { checkUrl, normaliseBody, requireJson } from './edge/validation/body.js';
import { createConsolePages } from './edge/console-pages.js';
import { createErrorHandler } from './edge/error-handler.js';
import { createIdempotency } from './edge/idempotency/idempotency.js';
import { takeForeignMembers } from './edge/validation/foreign-members.js';
import { createKeyResolver } from './edge/lookup-keys.js';
import { KEYED_RESOURCES } from './owners/keyed-resources.js';
import { createLargePreviews } from './invoicing/preview/large-previews.js';
import { createPapers } from './reading/print/papers.js';
import { billEndedPeriods } from './runs/bill-ended-periods.js';
import { recomputeDraftsOf } from './runs/recompute-drafts.js';
import { createTurns } from './edge/limits/take-turns.js';
import { writeLongLists } from './edge/limits/write-long-lists.js';
import { createJsonBodyReader } from './edge/limits/read-json-body.js';
import { createObserver } from './edge/observe.js';
import { parseQuery } from './edge/validation/query.js';
import { createRateLimit, type RateLimits } from './edge/rate-limit.js';
import { giveRequestId } from './edge/request-id.js';
import { provideDependencies } from './ioc.js';
import { currentScope, enterRequestScope } from './edge/request-scope.js';
import { createOperationTable } from './edge/operation-table.js';
import { createOperationalRoutes } from './edge/operational-routes.js';
import {
  createOperationFinder,
  refuseElsewhere,
  refuseUnknownQuery,
  requireOperation,
} from './edge/operations.js';
import { authorize } from './edge/access/permissions.js';
import { createSessions, type ConsoleMode } from './edge/access/sessions.js';
import { createTokens } from './edge/access/tokens.js';
import { PasswordGuesses } from './platform/auth/password-guesses.js';
import { createPasswords } from './platform/users/passwords.js';
import { KnownCustomers } from './customers/known-customers.js';
import type { ReadDataUntil } from './usage/watermark/data-until.js';
import { createDeadLetters } from './events/dead-letters/dead-letters-store.js';
import { createConflictList, createDuplicateCount } from './events/event-conflicts-store.js';
import { createEventSlotCount } from './events/event-slots.js';
import { createEventStore } from './events/events-store.js';
import { createFinishedEvents } from './events/reconciliation/finished-events.js';
import { createEventEffects } from './events/event-corrections.js';
import { createPendingLog } from './events/pending-log.js';
import type { LazyEventLog } from './usage/watermark/log-access.js';
import {
  createRemovedEventFinder,
  refuseExpiredLists,
  refuseExpiredSlots,
} from './events/refuse-expired-lists.js';
import { createExpiredEvents } from './usage/expired/expired-events.js';
import { createRawEventsBegin } from './usage/expired/raw-events-begin.js';
import { refuseExpiredUsage } from './usage/expired/refuse-expired-usage.js';
import { createUsageReader } from './usage/store/usage-reader.js';

export type BillingAppDependencies = {
  readonly database: Database;
  readonly clickHouse: ClickHouse;
  readonly apiKeys: ApiKeyDirectory;
  /** With which tokens are signed; the same in every process. */
  readonly tokenSecret: string;
  /** Whether anybody may make a tenant; otherwise only an operator does. */
  readonly isSignUpOpen: boolean;
  /** Whether the console is served, and over what. */
  readonly consoleMode: ConsoleMode;
  /** With which secrets of others are kept; without it none are taken. */
  readonly secretsKey?: string | undefined;
  /** That until now, while it is replaced. */
  readonly previousSecretsKey?: string | undefined;
  /** Whether files may go to addresses in a private network; not when absent. */
  readonly arePrivateTargetsAllowed?: boolean;
  /** Opened by the first request that needs it. */
  readonly eventLog: LazyEventLog;
  /** Up to when events are counted; see createPostgresDataUntil. */
  readonly dataUntil: ReadDataUntil;
  readonly clock: Clock;
  readonly createId: IdSource;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly failedAuthentication: FailedAuthentication;
  readonly rateLimits: RateLimits;
  /** Of what needs no key. */
  readonly publicLimits: PublicLimits;
  /** The compiled `preview-thread.js`. */
  readonly previewThread: URL;
  /** The compiled `paper-thread.js`. */
  readonly paperThread: URL;
  /** The memory for bodies; tests set less. */
  readonly bodyLimits?: BodyBudgetLimits;
  /** What /readyz says. */
  readonly readiness: Readiness;
};

/** How secrets of others are kept, and where files may go. */
function outwardOf(dependencies: BillingAppDependencies) {
  const { secretsKey, previousSecretsKey, arePrivateTargetsAllowed = false } = dependencies;
  const secretBox =
    secretsKey === undefined ? null : createSecretBox(secretsKey, previousSecretsKey);
  const outbound = createOutboundAgents({ arePrivateTargetsAllowed });
  return { secretBox, arePrivateTargetsAllowed, outbound };
}

/** What signing up and in needs. */
function signingInOf(dependencies: BillingAppDependencies) {
  const { database, clock, failedAuthentication, apiKeys } = dependencies;
  const { tokenSecret, consoleMode: mode, isSignUpOpen } = dependencies;
  return {
    isSignUpOpen,
    tokens: createTokens(tokenSecret, clock),
    sessions: createSessions({ database, clock, mode }),
    passwords: createPasswords(),
    guesses: new PasswordGuesses(),
    clientAddressOf: (request: IncomingMessage) => failedAuthentication.addressOf(request),
    forgetCallers: () => apiKeys.forget(),
  };
}

/** Answers are data: nothing in them may be rendered or framed. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  // Belongs to whoever ends TLS in front of this program.
  strictTransportSecurity: false,
});

/** What is refused before a body is read. */
const REQUEST_CHECKS = [authorize, checkUrl, refuseUnknownQuery, requireJson];

/** Answers belong to one caller, and change. */
const forbidStoring: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store');
  next();
};

/** An application that takes paths and queries as they are written, in one way only. */
function createExpress(): Application {
  const app = express();
  app.disable('x-powered-by');
  // ETag is the version of a record (docs/http.md 1.4), not a hash of the answer.
  app.disable('etag');
  // Routes match as the operation table does: there is only one way to write a path.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', parseQuery);
  return app;
}

/**
 * The billing API as an Express application: everything below /v1 but the two event routes, which
 * ingest serves, and the operational routes. It opens and closes nothing: whoever made the
 * dependencies closes them after the server.
 */
export function createBillingApp(dependencies: BillingAppDependencies): Application {
  const { log, metrics, database, clock, createId, dataUntil } = dependencies;
  const app = createExpress();
  const clickHouse = createRequestQueries(dependencies.clickHouse, currentScope);
  const readRawEventsBegin = createRawEventsBegin(database, () => performance.now());
  const expiredEvents = createExpiredEvents(clickHouse, readRawEventsBegin);
  const findRemovedEvent = createRemovedEventFinder(clickHouse, expiredEvents);
  const stores = {
    expiredEvents,
    findRemovedEvent,
    usage: refuseExpiredUsage(createUsageReader(clickHouse), expiredEvents),
    events: refuseExpiredLists(createEventStore(clickHouse), expiredEvents, findRemovedEvent),
    listConflicts: createConflictList(clickHouse),
    countDuplicates: createDuplicateCount(clickHouse),
    eventEffects: createEventEffects(clickHouse),
    countEventSlots: refuseExpiredSlots(createEventSlotCount(clickHouse), expiredEvents),
    finishedEvents: createFinishedEvents(clickHouse),
    deadLetters: createDeadLetters(clickHouse),
    eventLog: dependencies.eventLog,
    pendingLog: createPendingLog(dependencies.eventLog),
    knownCustomers: new KnownCustomers(),
    papers: createPapers(dependencies.paperThread),
    largePreviews: createLargePreviews(dependencies.previewThread, {
      databaseUrl: database.url,
      clickHouseUrl: dependencies.clickHouse.url,
    }),
  };
  const signingIn = signingInOf(dependencies);
  const own = { database, dataUntil, clock, createId, billEndedPeriods, recomputeDraftsOf };
  provideDependencies(app, { ...own, ...outwardOf(dependencies), ...stores, ...signingIn });
  app.use(giveRequestId, createObserver(metrics, log), securityHeaders, forbidStoring);
  app.use(createOperationFinder(createOperationTable(OPERATIONS)));
  app.use(createOperationalRoutes(dependencies));
  if (signingIn.sessions.isOpen) app.use(createConsolePages(dependencies.publicLimits));
  app.use(
    '/v1',
    createAuthenticate({ ...dependencies, ...signingIn, users: createUserCallers(database) }),
    createRateLimit(dependencies.rateLimits),
  );
  app.use(requireOperation);
  app.use(
    '/v1',
    ...REQUEST_CHECKS,
    createJsonBodyReader({ metrics, limits: dependencies.bodyLimits }),
    normaliseBody,
    takeForeignMembers,
    createTurns(),
    createIdempotency({ database, clock, log }),
    createKeyResolver(database, KEYED_RESOURCES),
  );
  app.use('/v1', enterRequestScope, writeLongLists);
  RegisterRoutes(app);
  app.use(refuseElsewhere);
  app.use(createErrorHandler(log));
  return app;
}
