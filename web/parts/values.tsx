import type { ComponentChildren } from 'preact';
import { hrefTo, pathTo } from '../app/router.js';
import { groupDigits } from '../words/digits.js';
import { language, LANGUAGES, plain, type PlainWord } from '../words/words.js';

/** An amount as the interface told it, with its currency. */
export function Amount({ text, currency }: { text: string; currency: string }) {
  return (
    <span class="amount">
      {groupDigits(text)} <span class="currency">{currency.toUpperCase()}</span>
    </span>
  );
}

/** A quantity as the interface told it. */
export function Quantity({ text }: { text: string | null }) {
  return <span class="amount">{text === null ? '–' : groupDigits(text)}</span>;
}

type Precision = 'day' | 'minute' | 'second';

const TIME: Readonly<Record<Precision, Intl.DateTimeFormatOptions>> = {
  day: {},
  minute: { hour: '2-digit', minute: '2-digit' },
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
};

type Format = {
  readonly zone: string;
  readonly precision: Precision;
  readonly hasZone: boolean;
};

function formatWhen(at: string, { zone, precision, hasZone }: Format): string {
  const format = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    timeZone: zone,
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    ...TIME[precision],
    ...(hasZone ? { timeZoneName: 'short' } : {}),
  });
  return format.format(new Date(at));
}

type WhenProps = {
  at: string | null;
  zone?: string | null;
  precision?: Precision;
  /** False where the zone stands beside it already. */
  hasZone?: boolean;
};

/** An instant in the customer's zone, which is named; in UTC when the pointer rests on it. */
export function When({ at, zone, precision = 'minute', hasZone = true }: WhenProps) {
  if (at === null) return <span>–</span>;
  return (
    <time dateTime={at} title={at}>
      {formatWhen(at, { zone: zone ?? 'UTC', precision, hasZone })}
    </time>
  );
}

type PeriodProps = { start: string | null; end: string | null; zone?: string | null };

export function Period({ start, end, zone }: PeriodProps) {
  return (
    <span class="period">
      <When at={start} zone={zone ?? null} precision="day" hasZone={false} /> –{' '}
      <When at={end} zone={zone ?? null} precision="day" />
    </span>
  );
}

/** A link to a screen of the same environment. */
export function To(props: {
  pattern: string;
  names?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  class?: string;
  children: ComponentChildren;
}) {
  const { pattern, names = {}, query = {}, children } = props;
  return (
    <a class={props.class ?? ''} href={hrefTo(pathTo(pattern, names), query)}>
      {children}
    </a>
  );
}

/** Where records stand whose ids begin so. */
const SCREENS: Readonly<Record<string, string>> = {
  cust: '/customers/:id',
  subs: '/subscriptions/:id',
  inv: '/invoices/:id',
  plan: '/catalog/plans/:id',
  addon: '/catalog/addons/:id',
  wallet: '/wallets/:id',
};

/** The screen of a record; null when it has none. */
export function screenOf(id: string): string | null {
  const pattern = SCREENS[id.slice(0, id.lastIndexOf('_'))];
  return pattern === undefined ? null : pathTo(pattern, { id });
}

type IdProps = { id: string | null; text?: string | null };

/** The id of a record, which links to its screen where it has one. */
export function Id({ id, text = null }: IdProps) {
  if (id === null) return <span>{text ?? '–'}</span>;
  const path = screenOf(id);
  const shown = text === null || text === id ? <code>{id}</code> : text;
  return path === null ? <span>{shown}</span> : <a href={hrefTo(path)}>{shown}</a>;
}

function isWord(word: string): word is PlainWord {
  return word in LANGUAGES.en;
}

/** A state as a word of the language; one that has none is shown as the interface tells it. */
export function stateText(state: string): string {
  const word = `state_${state.toLowerCase()}`;
  return isWord(word) ? plain(word) : state.toLowerCase();
}

/** Choices of a question, told as their states are. */
export const choicesOf = (values: readonly string[]) =>
  values.map((value) => [value, stateText(value)] as const);

const TONES: Readonly<Record<string, string>> = {
  finalized: 'good',
  succeeded: 'good',
  active: 'good',
  counted: 'good',
  delivered: 'good',
  enabled: 'good',
  failed: 'bad',
  parked: 'bad',
  overdue: 'bad',
  past_due: 'bad',
  unmatched: 'bad',
  disabled: 'bad',
};

/** A state in words; the colour only repeats what they say. */
export function State({ of }: { of: string }) {
  return <span class={`state ${TONES[of.toLowerCase()] ?? ''}`}>{stateText(of)}</span>;
}
