/**
 * Why an event or a request is not taken. `member` names the place (`properties.region`,
 * `events[3].timestamp`, `body`); `problem` continues it to a sentence that says what to do.
 */
export type Refusal = { readonly member: string; readonly problem: string };

/** The message of an error body. */
export function refusalMessage(refusal: Refusal): string {
  return `${refusal.member} ${refusal.problem}`;
}

const SHOWN_CHARACTERS = 64;

/** A name that the sender chose, short enough for a message. */
export function shownName(name: string): string {
  return name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
}
