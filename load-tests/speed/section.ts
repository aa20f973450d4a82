/** One figure of a run beside what it must reach. */
export type Finding = {
  /** Row of the performance targets: `P1`. */
  readonly id: string;
  readonly what: string;
  readonly value: string;
  readonly target: string;
  /** Null for a figure without a target. */
  readonly isReached: boolean | null;
};

/** Points are [x, y]; all series of a plot share their x axis. */
export type Series = {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
};
export type Plot = {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
};

/** The result of one measurement. A section whose counts are wrong has no findings. */
export type Section = {
  readonly title: string;
  readonly findings: readonly Finding[];
  readonly plots: readonly Plot[];
  /** Which processes shared a core, how much was sent, and the count check. */
  readonly notes: readonly string[];
};

/** Reports the progress of a measurement, from 0 to 1, and its current step. */
export type Progress = (fraction: number, text: string) => void;

export type SpeedOptions = {
  /** Events of the backlog and of the bulk run. */
  readonly events: number;
  /** Minutes of usage in the table among which one customer's month is read. */
  readonly minuteRows: number;
  /** Subscriptions that are due at once. */
  readonly subscriptions: number;
  /** Length of each timed stretch. */
  readonly seconds: number;
  /** Turns of product and yardstick. */
  readonly rounds: number;
  /** Settings that name the log; none for the log in PostgreSQL. */
  readonly log: Readonly<Record<string, string>>;
};
export type Measurement = (options: SpeedOptions, progress: Progress) => Promise<Section>;

/** `12,345`; for rates and counts. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** A figure that must not be below its target. */
export function atLeast(
  name: Pick<Finding, 'id' | 'what'>,
  reached: number,
  wanted: number,
): Finding {
  const text = (value: number): string => (wanted < 10 ? value.toFixed(2) : grouped(value));
  const isReached = reached >= wanted;
  return { ...name, value: text(reached), target: `≥ ${text(wanted)}`, isReached };
}

/** A figure that must not be above its target; `unit` stands behind both. */
export function atMost(
  name: Pick<Finding, 'id' | 'what'> & { readonly unit: string },
  reached: number,
  wanted: number,
): Finding {
  const { id, what, unit } = name;
  const text = (value: number): string => (value < 100 ? value.toFixed(1) : grouped(value));
  const target = `≤ ${wanted < 100 ? wanted : grouped(wanted)} ${unit}`;
  return { id, what, value: `${text(reached)} ${unit}`, target, isReached: reached <= wanted };
}

/** `reached` or `missed`; nothing for a figure without a target. */
export function verdictOf({ isReached }: Pick<Finding, 'isReached'>): string {
  if (isReached === null) return '';
  return isReached ? 'reached' : 'missed';
}

/** A figure as a row of a printed table: what it is, its value, its target, the verdict. */
export function figureRow(found: Finding): readonly string[] {
  return [`${found.id}: ${found.what}`, found.value, found.target, verdictOf(found)];
}
