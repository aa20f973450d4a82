import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { place, setQuery } from '../app/router.js';
import { useAction } from '../data/load.js';
import { t } from '../words/words.js';
import { Failure } from './states.js';

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

/** What stands in the fields of a form, without spaces around it. */
export type Answers = Readonly<Record<string, string>>;

function answersOf(form: HTMLFormElement): Answers {
  const given = [...new FormData(form)];
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
  );
}

type FormProps = {
  submit: string;
  send: (answers: Answers) => Promise<void>;
  cancel?: () => void;
  /** What the form would write is being replaced: nothing is sent meanwhile. */
  isLocked?: boolean;
  children?: ComponentChildren;
};

/** Fields that are sent together; what the server refuses is told below them. */
export function Form({ submit, send, cancel, isLocked = false, children }: FormProps) {
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
      <Failure error={sending.error} />
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
