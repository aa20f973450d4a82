/**
 * What is wrong with an event or a request. `member` names the place (`properties.region`,
 * `events[3].timestamp`, `body`); `problem` completes it to a sentence that says what to do.
 */
export type EventProblem = { readonly member: string; readonly problem: string };

/** The message of an error body. */
export function problemMessage({ member, problem }: EventProblem): string {
  return `${member} ${problem}`;
}

const SHOWN_CHARACTERS = 64;

/** A name that the sender chose, cut to a length that suits a message. */
export function shownName(name: string): string {
  return name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
}
