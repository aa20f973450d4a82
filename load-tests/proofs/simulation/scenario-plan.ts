/** An event as a plan writes it: its id, followed by `*` when its property "plan" is "pro". */
export type EventPlan = string;
export type RecordPlan = readonly EventPlan[];
/** A definition of a meter, in order of activation; two of one id are two versions of it. */
export type MeterPlan = {
  readonly meterId: string;
  readonly isProOnly: boolean;
  /** Whether it counts events of a name that no event has. */
  readonly isElsewhere?: true;
};

/** How often each of these may happen in one world. */
export type Limits = {
  readonly epochs: number;
  readonly timeouts: number;
  /** Inserts that the server refuses before it writes. */
  readonly refusals: number;
  readonly lostReplies: number;
  readonly kills: number;
  readonly powerLosses: number;
  readonly restores: number;
  readonly lostParts: number;
  readonly erasures: number;
  readonly backfillAttempts: number;
};

/** The constants of a world, as plain data. */
export type ScenarioPlan = {
  /** Partition → records → events. */
  readonly logs: readonly (readonly RecordPlan[])[];
  readonly meters: readonly MeterPlan[];
  /** How many of the meters are active from the beginning. */
  readonly metersAtStart: number;
  readonly owners: number;
  readonly eventsMax: number;
  /** Most records that one reading of the log returns. */
  readonly recordsMax: number;
  /** Records that the log holds at the beginning; the others are appended later. */
  readonly recordsAtStart: number;
  /** Whether checkpoint rows are created only while the world runs. */
  readonly lateRows: boolean;
  /** Whether owner 1 runs another release, whose rows, and so digests, differ. */
  readonly hasOtherRelease: boolean;
  readonly limits: Limits;
  /** How often each partition may be taken, where that is not the same for all. */
  readonly epochsOf?: readonly number[];
};

/** The id of a planned event, and whether its property "plan" is "pro". */
export function parseEvent(event: EventPlan): { readonly id: string; readonly isPro: boolean } {
  const isPro = event.endsWith('*');
  return { id: isPro ? event.slice(0, -1) : event, isPro };
}
