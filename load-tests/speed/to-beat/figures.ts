/** The logs that the table has columns for. */
export const LOGS = ['PostgreSQL', 'Kafka'] as const;
export type LogName = (typeof LOGS)[number];

/** A row of the table "To beat" (docs/measurements/README.md). */
export type Row = {
  readonly what: string;
  readonly unit: 'events/s' | 'ms' | 's' | 'MB';
  /** A rate must not be below it, everything else not above it; null for a row without a target. */
  readonly target: number | null;
  /** The figure of the bare server that a rate stands beside. */
  readonly bare?: 'singles' | 'bulk';
};

export const ROWS = {
  singles: {
    what: 'single POST, 64 connections',
    unit: 'events/s',
    target: 12_000,
    bare: 'singles',
  },
  singlesP99: { what: 'the same, p99', unit: 'ms', target: 25 },
  bulk: {
    what: 'bulk accept, 500 a request, 8 connections',
    ...{ unit: 'events/s', target: 150_000, bare: 'bulk' },
  },
  bulkVisible: {
    what: '100,000 in bulk, first send to all visible',
    ...{ unit: 'events/s', target: 70_000, bare: 'bulk' },
  },
  singlesVisible: {
    what: '50,000 singles, first send to all visible',
    ...{ unit: 'events/s', target: 12_000, bare: 'singles' },
  },
  visibleP50: { what: 'accepted to visible at 2,000 ev/s, p50', unit: 'ms', target: 300 },
  visibleP99: { what: 'the same, p99', unit: 'ms', target: 600 },
  month: { what: 'a customer’s month among 10⁶ events, p50', unit: 'ms', target: 7 },
  monthP99: { what: 'the same, p99', unit: 'ms', target: null },
  monthAtOnce: { what: 'the same, eight at once, p50', unit: 'ms', target: 30 },
  total: { what: 'total of 1,753 customers at 2,000 ev/s, p50', unit: 'ms', target: 30 },
  cpuSingles: { what: 'CPU seconds a million singles', unit: 's', target: 120 },
  cpuBulk: { what: 'CPU seconds a million in bulk', unit: 's', target: 30 },
  memory: { what: 'memory of everything (greatest PSS)', unit: 'MB', target: 1_229 },
} as const satisfies Readonly<Record<string, Row>>;

export type FigureName = keyof typeof ROWS;
export const FIGURE_NAMES = Object.keys(ROWS) as FigureName[];

/** What one turn of the product measured; a stretch without a figure leaves its rows out. */
export type ProductTurn = {
  readonly figures: Readonly<Partial<Record<FigureName, number>>>;
  readonly accepted: number;
  /**
   * Lines for the report: why a figure is missing, and how much CPU time and memory each program,
   * engine and the broker took.
   */
  readonly notes: readonly string[];
};

/** The bare server of a round: events a second, and milliseconds. */
export type BareTurn = {
  readonly singles: number;
  readonly singlesP99: number;
  readonly bulk: number;
};

export type Round = {
  readonly bare: BareTurn;
  readonly products: ReadonlyMap<LogName, ProductTurn>;
};
