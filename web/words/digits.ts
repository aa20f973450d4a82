import { language, type Language } from './words.js';

const SEPARATORS: Readonly<Record<Language, { readonly group: string; readonly point: string }>> = {
  en: { group: ',', point: '.' },
  de: { group: '.', point: ',' },
};

/**
 * A decimal as the interface told it, with its digits in groups of three. No digit is added, taken
 * away or computed; a text that is no decimal stays as it is.
 */
export function groupDigits(text: string, of: Language = language): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (parts === null) return text;
  const [, sign = '', whole = '', fraction = ''] = parts;
  const { group, point } = SEPARATORS[of];
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group);
  return `${sign === '-' ? '−' : ''}${grouped}${fraction === '' ? '' : point + fraction}`;
}
