/** Sentences of Markdown pages and of docstrings, for the check of docs/internals/style.md 2. */

const FENCES = /^ *```[\s\S]*?^ *```$/gm;
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;
/** The start of a list item, a heading or a quotation: no sentence goes on across it. */
const BEGINS = /^\s*(?:[-*] |\d+\. |#+ |> )/;

/** Markup that is no word; code in a sentence counts as one word, whatever is in it. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]+>|\*\*|^\s*(?:[-*]|\d+\.|>) +/gm, '')
    .replaceAll(/\b(?:e\.g|i\.e|etc|vs|St|No)\./g, 'and');
}

export function sentencesIn(text: string): readonly string[] {
  return plainText(text)
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?…]["')\]”]*) (?=["'(“]*[A-Z0-9ÄÖÜ]|code\b)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence) > 0);
}

export function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

type PageTexts = { readonly prose: readonly string[]; readonly cells: readonly string[] };

/** Paragraphs and list items of a page, and apart from them the cells of its tables. */
function textsOf(page: string): PageTexts {
  const prose: string[] = [];
  const cells: string[] = [];
  let paragraph = '';
  const end = () => {
    if (paragraph !== '') prose.push(paragraph);
    paragraph = '';
  };
  for (const line of page.replace(FRONT_MATTER, '').replaceAll(FENCES, '').split('\n')) {
    if (/^\s*\|/.test(line)) {
      end();
      cells.push(...line.split(/(?<!\\)\|/));
    } else if (/^\s*(?:#|$|:::)/.test(line)) {
      end();
    } else {
      if (BEGINS.test(line)) end();
      paragraph += `${line}\n`;
    }
  }
  end();
  return { prose, cells };
}

export type Language = {
  /** Of the sentences outside of tables, since cells are no whole sentences. */
  readonly meanWords: number;
  readonly sentences: readonly { readonly text: string; readonly words: number }[];
};

export function languageOf(page: string): Language {
  const { prose, cells } = textsOf(page);
  const sentences = prose.flatMap(sentencesIn);
  const words = sentences.map(wordsOf).reduce((sum, count) => sum + count, 0);
  return {
    meanWords: sentences.length === 0 ? 0 : words / sentences.length,
    sentences: [...sentences, ...cells.flatMap(sentencesIn)].map((text) => ({
      text,
      words: wordsOf(text),
    })),
  };
}

const DOCSTRING = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export\b/g;

/** The sentences of the docstrings of exported names in a source file. */
export function docstringSentences(source: string): Language['sentences'] {
  return [...source.matchAll(DOCSTRING)]
    .map(([, comment = '']) => comment.replaceAll(/^\s*\* ?/gm, ''))
    .flatMap((comment) => comment.split(/\n\s*\n|\n(?=@)|\n(?=\s*- )/))
    .filter((text) => !/^\s*@(?:isInt|minimum|maximum|pattern|example|default|format)/.test(text))
    .flatMap((text) => sentencesIn(text.replace(/^\s*@\w+/, '')))
    .map((text) => ({ text, words: wordsOf(text) }));
}
