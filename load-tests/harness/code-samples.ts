import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

type Operation = {
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
};

/** The request samples of all operations of the document in one language. */
export function codeSamples(language: 'curl' | 'TypeScript' | 'Python'): readonly string[] {
  const file = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const samples = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => operation['x-codeSamples'])
    .filter(({ label }) => label === language);
  if (samples.length < 200) throw new Error(`there are ${samples.length} samples in ${language}`);
  return samples.map(({ source }) => source);
}
