import { grouped, verdictOf, type Finding, type Table } from '../section.js';
import { medianOf, spreadText, textOf } from '../median.js';
import {
  FIGURE_NAMES,
  LOGS,
  ROWS,
  type BareTurn,
  type FigureName,
  type LogName,
  type Round,
  type Row,
} from './figures.js';

/**
 * Singles a second of bare node:http on the quiet machine of docs/measurements/README.md: the
 * middle of the 45,000 to 54,000 that it took.
 */
const REFERENCE_SINGLES = 49_500;

type Measured = { readonly value: number; readonly bare: BareTurn };

function valuesOf(rounds: readonly Round[], log: LogName, name: FigureName): readonly Measured[] {
  return rounds.flatMap(({ bare, products }) => {
    const value = products.get(log)?.figures[name];
    return value === undefined ? [] : [{ value, bare }];
  });
}

const isRate = ({ unit }: Row): boolean => unit === 'events/s';

/** Null for a row without a target. What was never measured is not reached. */
function isReached(row: Row, median: number): boolean | null {
  if (row.target === null) return null;
  return isRate(row) ? median >= row.target : median <= row.target;
}

function targetText(row: Row): string {
  if (row.target === null) return '';
  return `${isRate(row) ? '≥' : '≤'} ${textOf(row.target)} ${row.unit}`;
}

/** A finding for each row and log, judged by the median of the rounds. */
export function findingsOf(rounds: readonly Round[], logs: readonly LogName[]): readonly Finding[] {
  return logs.flatMap((log) =>
    FIGURE_NAMES.map((name) => {
      const row: Row = ROWS[name];
      const values = valuesOf(rounds, log, name).map(({ value }) => value);
      return {
        id: 'to beat',
        what: `${log}: ${row.what}`,
        value: spreadText(values),
        target: targetText(row),
        isReached: isReached(row, medianOf(values)),
      };
    }),
  );
}

/** The rate beside the bare server's of the same round, and what it would be on the reference. */
function besideBare(row: Row, measured: readonly Measured[]): readonly [string, string] {
  const { bare: of } = row;
  if (of === undefined || measured.length === 0) return ['', ''];
  const ratio = medianOf(measured.map(({ value, bare }) => value / bare[of]));
  const scaled = measured.map(({ value, bare }) => (value * REFERENCE_SINGLES) / bare.singles);
  return [ratio.toFixed(3), textOf(medianOf(scaled))];
}

function bareText(rounds: readonly Round[], name: FigureName): string {
  if (name !== 'singles' && name !== 'singlesP99' && name !== 'bulk') return '';
  return spreadText(rounds.map(({ bare }) => bare[name]));
}

function rowCells(
  rounds: readonly Round[],
  logs: readonly LogName[],
  name: FigureName,
): readonly string[] {
  const row: Row = ROWS[name];
  const ofLogs = logs.flatMap((log) => {
    const measured = valuesOf(rounds, log, name);
    const values = measured.map(({ value }) => value);
    const reached = isReached(row, medianOf(values));
    const verdict = verdictOf({ isReached: reached });
    return [spreadText(values), ...besideBare(row, measured), verdict];
  });
  return [`${row.what}, ${row.unit}`, bareText(rounds, name), ...ofLogs, targetText(row)];
}

/** The table "To beat": medians of the rounds with the least and the greatest. */
export function tableOf(rounds: readonly Round[], logs: readonly LogName[] = LOGS): Table {
  const ofLog = (log: LogName): readonly string[] => [log, 'of bare', 'scaled', ''];
  return {
    title: 'To beat: median (least..greatest) of the rounds',
    head: ['work', 'bare node:http', ...logs.flatMap(ofLog), 'to reach'],
    rows: FIGURE_NAMES.map((name) => rowCells(rounds, logs, name)),
  };
}

/** What the columns mean, for whoever reads the table on another machine. */
export function legendOf(rounds: readonly Round[]): string {
  const bare = medianOf(rounds.map((round) => round.bare.singles));
  return `"of bare" is the rate beside bare node:http of the same round. "scaled" is the rate as it would be if bare node:http did ${grouped(REFERENCE_SINGLES)} singles a second (45,000 to 54,000 on the machine of the targets; here ${grouped(bare)}); verdicts are about the measured figures, not the scaled ones.`;
}
