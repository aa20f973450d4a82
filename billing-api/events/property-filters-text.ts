/**
 * Property filters as the query of an address has them, `key:text,text;key:text` (docs/http.md
 * 10.2); neither keys nor texts can hold `:`, `,` or `;` there, the body of a POST can. The problem
 * as a text when it has another form.
 */
export function readPropertyFiltersText(
  text: string,
): Readonly<Record<string, readonly string[]>> | string {
  if (text === '') return {};
  const pairs: [string, readonly string[]][] = [];
  for (const part of text.split(';')) {
    const mark = part.indexOf(':');
    if (mark <= 0)
      return 'must have the form key:text,text;key:text, such as region:eu,us;plan:pro';
    const key = part.slice(0, mark);
    if (pairs.some(([known]) => known === key))
      return `must not name the key ${key.slice(0, 60)} twice`;
    pairs.push([key, part.slice(mark + 1).split(',')]);
  }
  return Object.fromEntries(pairs);
}
