/**
 * Loads the declarations of standard routes (`*.routes.ts`) before anything is compiled: the files
 * that they import are transpiled, each by itself, without a check of types. Types alone are not
 * loaded, so that declarations may name generated types.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const RELATIVE_IMPORT = /(?:from|import)\s*'(\.[^']+)\.js'/g;

/** Writes the JavaScript of these files, and of all that they import, below `output`. */
function transpileGraph({ typescript, root, output }, files) {
  const left = [...files];
  const seen = new Set(left);
  const { readConfigFile, convertCompilerOptionsFromJson, transpileModule } = typescript;
  const { config } = readConfigFile(join(root, 'tsconfig.json'), (path) =>
    readFileSync(path, 'utf8'),
  );
  const { options } = convertCompilerOptionsFromJson(config.compilerOptions, root);
  const compilerOptions = { ...options, module: typescript.ModuleKind.ESNext };
  while (left.length > 0) {
    const file = left.pop();
    const source = readFileSync(file, 'utf8');
    const { outputText } = transpileModule(source, { compilerOptions, fileName: file });
    const target = join(output, relative(root, file)).replace(/\.ts$/, '.js');
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    for (const [, path] of outputText.matchAll(RELATIVE_IMPORT)) {
      const imported = join(dirname(file), `${path}.ts`);
      if (seen.has(imported)) continue;
      seen.add(imported);
      left.push(imported);
    }
  }
}

/**
 * All declarations of standard routes below `folder`.
 * @returns for each the name of its export, its file below `folder`, and its value.
 */
export async function loadStandardRoutes({ root, folder, cache }) {
  const { default: typescript } = await import('typescript');
  const output = join(cache, 'declarations');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  // Files below node_modules are CommonJS unless it is said once more.
  writeFileSync(join(output, 'package.json'), '{"type":"module"}');
  const names = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.routes.ts'))
    .sort();
  const files = names.map((name) => join(folder, name));
  transpileGraph({ typescript, root, output }, files);
  const loaded = [];
  for (const [index, file] of files.entries()) {
    const name = names[index];
    const compiled = join(output, relative(root, file)).replace(/\.ts$/, '.js');
    const exported = Object.entries(await import(pathToFileURL(compiled).href));
    const [first, ...others] = exported.filter(([key]) => key.endsWith('_ROUTES'));
    if (first === undefined || others.length > 0) {
      throw new Error(`${name} must export one constant whose name ends in _ROUTES`);
    }
    loaded.push({ constant: first[0], file: name.replace(/\.ts$/, '.js'), ...first[1] });
  }
  return loaded;
}
