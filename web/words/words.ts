import { de } from './de.js';
import { deQuestions } from './de-questions.js';
import { deStates } from './de-states.js';
import { en } from './en.js';
import { enQuestions } from './en-questions.js';
import { enStates } from './en-states.js';

const english = { ...en, ...enStates, ...enQuestions };
const german = { ...de, ...deStates, ...deQuestions };

export type Word = keyof typeof english;

/** The names in braces of a text, such as `count` of `{count} customers`. */
type NamesOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesOf<Rest>
  : never;

type Values<W extends Word> = [NamesOf<(typeof english)[W]>] extends [never]
  ? []
  : [values: Readonly<Record<NamesOf<(typeof english)[W]>, string>>];

/** A word into which nothing is put. */
export type PlainWord = { [W in Word]: Values<W> extends [] ? W : never }[Word];

/** Another language has every word: without one of them it does not compile. */
export type Words = Readonly<Record<Word, string>>;

export const LANGUAGES: Readonly<Record<'en' | 'de', Words>> = {
  en: english,
  de: german,
};
export type Language = keyof typeof LANGUAGES;

/** The first of the wanted languages that there is. */
export function languageOf(wanted: readonly string[]): Language {
  const known = wanted.map((tag) => tag.slice(0, 2).toLowerCase());
  return known.find((tag) => tag === 'de' || tag === 'en') === 'de' ? 'de' : 'en';
}

/** Outside of a browser there is no navigator, or one of another program without languages. */
const around: { readonly navigator?: { readonly languages?: readonly string[] } } = globalThis;

export const language: Language = languageOf(around.navigator?.languages ?? []);

/** The text of a word in the language of the browser. */
export function t<W extends Word>(word: W, ...[values]: Values<W>): string {
  const given: Readonly<Record<string, string>> = values ?? {};
  const text: string = LANGUAGES[language][word];
  return text.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => given[name] ?? '');
}

/** The text of a word that a list names. */
export function plain(word: PlainWord): string {
  return LANGUAGES[language][word];
}
