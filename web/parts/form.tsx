import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { place, setQuery } from '../app/router.js';
import { useAction } from '../data/load.js';
import { plain, t, type PlainWord } from '../words/words.js';
import { WriteFailure } from './refusal.js';

type FieldProps = {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password';
  value?: string;
  isRequired?: boolean;
  autocomplete?: string;
};

export function Field(props: FieldProps) {
  const { label, name, type = 'text', value, isRequired = true, autocomplete = 'off' } = props;
  const given = value === undefined ? {} : { defaultValue: value };
  const common = { name, required: isRequired, autocomplete, ...given };
  return (
    <label class="field">
      <span>{label}</span>
      {type === 'text' && <input type="text" {...common} />}
      {type === 'email' && <input type="email" {...common} />}
      {type === 'password' && <input type="password" {...common} />}
    </label>
  );
}

/** A question of a form, as a list of them says it. */
export type Asked = {
  readonly name: string;
  readonly label: PlainWord;
  readonly value?: string;
  /** What it is told in, such as a currency. */
  readonly unit?: string;
  readonly isOptional?: boolean;
  /** One of these; a text where there are none. */
  readonly choices?: readonly (readonly [value: string, text: string])[];
  /** An instant, which is asked for in UTC. */
  readonly isInstant?: boolean;
};

/** An instant as the field of a browser has it, without its zone. */
const localOf = (instant: string): string => instant.slice(0, 16);

function labelOf({ label, unit, isOptional = false }: Asked): string {
  const text = unit === undefined ? plain(label) : `${plain(label)} (${unit})`;
  return isOptional ? `${text} (${t('optional')})` : text;
}

/** One question: a text, an instant, or one of several choices. */
export function Question(props: Asked) {
  const { name, value = '', isOptional = false, choices, isInstant = false } = props;
  const text = labelOf(props);
  if (isInstant) {
    return (
      <label class="field">
        <span>{text} · UTC</span>
        <input
          type="datetime-local"
          name={name}
          required={!isOptional}
          defaultValue={localOf(value)}
        />
      </label>
    );
  }
  if (choices === undefined) {
    return <Field name={name} label={text} value={value} isRequired={!isOptional} />;
  }
  return (
    <label class="field">
      <span>{text}</span>
      <select name={name} required={!isOptional} defaultValue={value}>
        {isOptional && <option value="">–</option>}
        {choices.map(([choice, shown]) => (
          <option key={choice} value={choice} selected={choice === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What stands in the fields of a form, without spaces around it; instants with their zone. */
export type Answers = Readonly<Record<string, string>>;

function answersOf(form: HTMLFormElement): Answers {
  const given = [...new FormData(form)];
  return Object.fromEntries(
    given.map(([name, value]) => {
      const text = typeof value === 'string' ? value.trim() : '';
      const field = form.elements.namedItem(name);
      const isInstant = field instanceof HTMLInputElement && field.type === 'datetime-local';
      return [name, isInstant && text !== '' ? new Date(`${text}Z`).toISOString() : text];
    }),
  );
}

/** The answers of these names as members of a body; what was left empty is left out. */
export function given<Name extends string>(
  answers: Answers,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const filled = names.filter((name) => (answers[name] ?? '') !== '');
  // Each of them is a name of the list.
  return Object.fromEntries(filled.map((name) => [name, answers[name]])) as {
    readonly [N in Name]?: string;
  };
}

type FormProps = {
  submit: string;
  send: (answers: Answers) => Promise<void>;
  cancel?: () => void;
  /** What the form would write is being replaced: nothing is sent meanwhile. */
  isLocked?: boolean;
  /** The record that is written, whose latest changes a refusal tells. */
  record?: string;
  children?: ComponentChildren;
};

/** Fields that are sent together; what the server refuses is told below them. */
export function Form(props: FormProps) {
  const { submit, send, cancel, isLocked = false, record = null, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const sending = useAction(async () => {
    if (form.current !== null) await send(answersOf(form.current));
  });
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    sending.run();
  };
  return (
    <form ref={form} class="form" onSubmit={onSubmit}>
      {children}
      <WriteFailure error={sending.error} record={record} />
      <div class="buttons">
        <button class="main" disabled={sending.isRunning || isLocked}>
          {submit}
        </button>
        {cancel !== undefined && (
          <button type="button" onClick={cancel}>
            {t('cancel')}
          </button>
        )}
      </div>
    </form>
  );
}

type DialogProps = { title: string; close: () => void; children: ComponentChildren };

/** Opens a dialog; what ends it gives the focus back to the control that opened it. */
function openModal(dialog: HTMLDialogElement): () => void {
  const opener = document.activeElement;
  dialog.showModal();
  // The first question; where nothing is asked, the answer, so that Enter gives it.
  const first = dialog.querySelector<HTMLElement>('input, select') ?? dialog.querySelector('.main');
  if (first instanceof HTMLElement) first.focus();
  return () => {
    const active = document.activeElement;
    const isLost = active === document.body || dialog.contains(active);
    if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus();
  };
}

/** A question in front of the screen. The focus stays in it, and goes back to where it was. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the page is drawn: a key that is pressed meanwhile belongs to the dialog already.
  useLayoutEffect(() => (dialog.current === null ? undefined : openModal(dialog.current)), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

type FilterProps = {
  label: string;
  /** The name of the filter in the address. */
  name: string;
  choices: readonly (readonly [value: string, text: string])[];
};

/** A filter of a list, which stands in the address. */
export function Filter({ label, name, choices }: FilterProps) {
  const value = place.value.query[name] ?? '';
  return (
    <label class="filter">
      <span>{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
      >
        <option value="">{t('any')}</option>
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text by which a list is filtered, which stands in the address. */
export function TextFilter({ label, name }: { label: string; name: string }) {
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        type="search"
        defaultValue={place.value.query[name] ?? ''}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
      />
    </label>
  );
}

/** A day, in UTC, by which a list is filtered, which stands in the address. */
export function DayFilter({ label, name }: { label: string; name: string }) {
  return (
    <label class="filter">
      <span>{label} · UTC</span>
      <input
        type="date"
        defaultValue={place.value.query[name] ?? ''}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
      />
    </label>
  );
}
