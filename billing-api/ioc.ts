import type { FindEventEffects } from './events/event-corrections.js';
import type { IncomingMessage } from 'node:http';
import type { Application, Request } from 'express';
import type { Clock } from '../runtime/clock.js';
import { assertPresent } from '../runtime/failure.js';
import type { IdSource } from '../runtime/ids.js';
import type { OutboundAgents } from '../runtime/guarded-agents.js';
import type { SecretBox } from '../runtime/secret-box.js';
import type { KnownCustomers } from './customers/known-customers.js';
import type { BillingDatabase } from './records/unit.js';
import type { LargePreviews } from './invoicing/preview/large-previews.js';
import type { Papers } from './reading/print/papers.js';
import type { RunningDependencies } from './invoicing/drafts/bill-ended-first.js';
import type { UsageReader } from './usage/store/usage-reader.js';
import type { Sessions } from './edge/access/sessions.js';
import type { Tokens } from './edge/access/tokens.js';
import type { PasswordGuesses } from './platform/auth/password-guesses.js';
import type { Passwords } from './platform/users/passwords.js';
import type { ReadDataUntil } from './usage/watermark/data-until.js';
import type { DeadLetters } from './events/dead-letters/dead-letters-store.js';
import type { CountDuplicates, ListConflicts } from './events/event-conflicts-store.js';
import type { CountEventSlots } from './events/event-slots.js';
import type { EventStore } from './events/events-store.js';
import type { FinishedEvents } from './events/reconciliation/finished-events.js';
import type { FindRemovedEvent } from './events/refuse-expired-lists.js';
import type { ExpiredEvents } from './usage/expired/expired-events.js';
import type { PendingLog } from './events/pending-log.js';
import type { LazyEventLog } from './usage/watermark/log-access.js';

/**
 * What the program hands to every controller, each of which names the part that it needs. That all
 * of them can be made of it the compiler checks in generated/controllers.ts.
 */
export type ControllerDependencies = {
  readonly database: BillingDatabase;
  readonly usage: UsageReader;
  readonly largePreviews: LargePreviews;
  readonly papers: Papers;
  readonly billEndedPeriods: RunningDependencies['billEndedPeriods'];
  readonly recomputeDraftsOf: RunningDependencies['recomputeDraftsOf'];
  readonly events: EventStore;
  readonly expiredEvents: ExpiredEvents;
  readonly findRemovedEvent: FindRemovedEvent;
  readonly listConflicts: ListConflicts;
  readonly countDuplicates: CountDuplicates;
  readonly eventEffects: FindEventEffects;
  readonly pendingLog: PendingLog;
  readonly countEventSlots: CountEventSlots;
  readonly finishedEvents: FinishedEvents;
  readonly deadLetters: DeadLetters;
  readonly eventLog: LazyEventLog;
  readonly dataUntil: ReadDataUntil;
  readonly knownCustomers: KnownCustomers;
  readonly secretBox: SecretBox | null;
  readonly arePrivateTargetsAllowed: boolean;
  readonly outbound: OutboundAgents;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly guesses: PasswordGuesses;
  readonly isSignUpOpen: boolean;
  readonly clientAddressOf: (request: IncomingMessage) => string;
  /** Makes the next request with any key look it up; after a change of keys, users or a tenant. */
  readonly forgetCallers: () => void;
  readonly clock: Clock;
  readonly createId: IdSource;
};

const dependenciesOfApps = new WeakMap<Application, ControllerDependencies>();

/** Tells the generated routes of an app what its controllers work with. */
export function provideDependencies(app: Application, dependencies: ControllerDependencies): void {
  dependenciesOfApps.set(app, dependencies);
}

export type ControllerType = new (dependencies: ControllerDependencies, request: Request) => object;

/**
 * The container that the generated routes ask: a new controller for every request, since one that
 * is shared loses the status it has set when two requests run at once.
 */
export function iocContainer(request: Request): { get: (type: ControllerType) => object } {
  const dependencies = assertPresent(
    dependenciesOfApps.get(request.app),
    'dependencies of the app',
  );
  return { get: (type) => new type(dependencies, request) };
}
