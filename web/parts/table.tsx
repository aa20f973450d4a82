import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { place, setQuery } from '../app/router.js';
import { csvOf } from '../data/csv.js';
import { saveFile } from '../data/api.js';
import { useAction } from '../data/load.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';
import { Failure } from './states.js';

export type Column<Row> = {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** What may be done with the row: its name is for those who hear it. */
  readonly isAction?: boolean;
};

const classOf = ({
  isNumber = false,
  isAction = false,
}: Pick<Column<never>, 'isNumber' | 'isAction'>) => (isNumber || isAction ? 'number' : '');

type TableProps<Row> = {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty?: ComponentChildren;
  /** How many rows are drawn at first. */
  few?: number;
};

/** How many rows are drawn at once; the others follow when one comes near them. */
const DRAWN = 100;

/** Draws more rows when it comes into sight, or is pressed. */
function MoreRows({ left, draw }: { left: number; draw: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (button.current === null) return undefined;
    const watcher = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) draw();
    });
    watcher.observe(button.current);
    return () => watcher.disconnect();
  }, [left]);
  return (
    <button ref={button} type="button" onClick={draw}>
      {t('more_rows', { count: groupDigits(String(left)) })}
    </button>
  );
}

/** Rows of one kind. `j` and `k` go from the first link of a row to that of the next one. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, empty, few = DRAWN } = props;
  const [drawn, setDrawn] = useState(few);
  const left = rows.length - drawn;
  if (rows.length === 0) return <div class="empty">{empty ?? t('nothing_here')}</div>;
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                <span class={column.isAction === true ? 'hidden' : ''}>{column.name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, drawn).map((row) => (
            <tr key={keyOf(row)} data-row>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <MoreRows left={left} draw={() => setDrawn(drawn + DRAWN)} />}
    </div>
  );
}

export const PAGE = 50;

/** Which page the address names, from 1 on. */
export function pageNumber(): number {
  const page = Number.parseInt(place.value.query['page'] ?? '1', 10);
  return Number.isSafeInteger(page) && page > 0 ? page : 1;
}

/** The members of a search for the page of the address. */
export function pageOfAddress(): { readonly limit: number; readonly offset: number } {
  return { limit: PAGE, offset: (pageNumber() - 1) * PAGE };
}

/** Which rows of how many are shown, and the way to the others. */
export function Pages({ total, offset }: { total: number; offset: number }) {
  if (total === 0) return null;
  const last = Math.min(offset + PAGE, total);
  const count = (value: number) => groupDigits(String(value));
  const turnTo = (page: number) => setQuery({ page: String(page) });
  return (
    <nav class="pages" aria-label={t('pages')}>
      {total > PAGE && (
        <button type="button" disabled={offset === 0} onClick={() => turnTo(pageNumber() - 1)}>
          {t('earlier')}
        </button>
      )}
      <span>
        {t('rows_of', { first: count(offset + 1), last: count(last), total: count(total) })}
      </span>
      {total > PAGE && (
        <button type="button" disabled={last >= total} onClick={() => turnTo(pageNumber() + 1)}>
          {t('later')}
        </button>
      )}
    </nav>
  );
}

type CsvProps = {
  name: string;
  heads: readonly string[];
  /** All that the filters find, not the page alone. */
  rows: () => AsyncIterable<readonly (string | null)[]>;
};

/** Saves everything that the filters find as CSV. */
export function CsvButton({ name, heads, rows }: CsvProps) {
  const saving = useAction(async () => {
    const lines: (readonly (string | null)[])[] = [heads];
    for await (const row of rows()) lines.push(row);
    saveFile(new Blob([csvOf(lines)], { type: 'text/csv' }), `${name}.csv`);
  });
  return (
    <>
      <button type="button" disabled={saving.isRunning} onClick={saving.run}>
        {saving.isRunning ? t('saving_csv') : 'CSV'}
      </button>
      <Failure error={saving.error} />
    </>
  );
}
