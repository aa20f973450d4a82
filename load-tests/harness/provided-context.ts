/** What the global set-up hands to the tests (vitest's `inject`). */
declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    templateName: string;
    clickhouseUrl: string;
  }
}

export {};
