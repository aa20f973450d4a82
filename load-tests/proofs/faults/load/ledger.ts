import { isMetered, type EventBody, type UsageMeter } from './usage-meter.js';
import type { PlannedEvent } from './plan-load.js';

/** Identity of an event in this suite: environment and id. */
export function identityOf(environment: number, eventId: string): string {
  return `${environment}/${eventId}`;
}

export type Sent = {
  readonly environment: number;
  /** The event that counts under this id. */
  readonly body: EventBody;
  /** How often an answer said that this id was accepted. */
  accepted: number;
  /** How often an event with this id was sent, answered or not. */
  attempts: number;
};

/** A malformed record that somebody wrote straight into the log. */
export type WrittenMalformed = {
  /** Why the aggregator cannot decode it. */
  readonly reason: string;
  acknowledged: number;
  /** How often it was written, acknowledged or not. */
  attempts: number;
};

/** What the clients know: what they sent and what they were told about it. */
export class Ledger {
  readonly sent = new Map<string, Sent>();
  /** By the text of the record. */
  readonly malformed = new Map<string, WrittenMalformed>();
  /** Answers that said neither yes nor no: 503, time-out, lost connection. */
  unknownOutcomes = 0;
  /** Answers that no client should get. */
  readonly wrongAnswers: string[] = [];
  readonly #waiting = new Map<string, (() => void)[]>();

  noteSending(environment: number, events: readonly PlannedEvent[]): void {
    for (const { body } of events) {
      const identity = identityOf(environment, body.event_id);
      const known = this.sent.get(identity);
      if (known === undefined) {
        this.sent.set(identity, { environment, body, accepted: 0, attempts: 1 });
      } else known.attempts += 1;
    }
  }

  noteAccepted(environment: number, events: readonly PlannedEvent[]): void {
    for (const { body } of events) {
      const identity = identityOf(environment, body.event_id);
      const known = this.sent.get(identity);
      if (known === undefined) throw new Error(`${identity} was accepted and never sent`);
      known.accepted += 1;
      for (const resume of this.#waiting.get(identity) ?? []) resume();
      this.#waiting.delete(identity);
    }
  }

  /** Resolves when the id has been accepted. */
  whenAccepted(identity: string): Promise<void> {
    if ((this.sent.get(identity)?.accepted ?? 0) > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(identity, [...(this.#waiting.get(identity) ?? []), resolve]);
    });
  }

  get acceptedEvents(): number {
    return [...this.sent.values()].reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /** Distinct events sent so far that the meter would count: no reader may ever see more. */
  sentTo(meter: UsageMeter): number {
    let events = 0;
    for (const { environment, body } of this.sent.values()) {
      if (environment === meter.environment && isMetered(meter, body)) events += 1;
    }
    return events;
  }
}
