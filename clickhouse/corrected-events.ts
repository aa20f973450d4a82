import { queryFile } from './query-file.js';

/** Conditions and values of a statement, as SQL with everything bound. */
type CorrectedScope = {
  /** The environment, and perhaps the event name, on columns without a table. */
  readonly scope: string;
  /** The numbers of the corrections, as a list of the server. */
  readonly corrections: string;
};

const withoutComments = (name: string): string =>
  queryFile(name)
    .replaceAll(/^--.*\n/gmu, '')
    .trim();
const CORRECTED_EVENTS = withoutComments('corrected-events');
const CORRECTED_MINUTES = withoutComments('corrected-minutes');

function fill(template: string, pieces: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$(\w+)\$/gu, (whole, name: string) => pieces[name] ?? whole);
}

/**
 * The events as they count, to stand behind FROM under the name `e`: the table itself while there
 * is no correction, which costs nothing.
 * @param raw Conditions on the events as they were sent, so that few are read; 1 for none.
 */
export function correctedEvents(of: CorrectedScope | null, raw: string): string {
  return of === null
    ? 'events_v1'
    : fill(CORRECTED_EVENTS, { scope: of.scope, corrections: of.corrections, raw });
}

/** Customer keys and minutes in which these corrections change what counts. */
export function correctedMinutes(of: CorrectedScope): string {
  return fill(CORRECTED_MINUTES, of);
}
