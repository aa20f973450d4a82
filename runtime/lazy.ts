type Closable = { readonly close: () => Promise<void> };

/** A thing that is opened when it is first needed. */
export type Lazy<T> = {
  /** The thing; opened by the first caller, and tried again by the next one after a failure. */
  readonly get: () => Promise<T>;
  /** Closes what was opened, if it was. */
  readonly close: () => Promise<void>;
};

/** Keeps a start quick and lets nothing fail that does not need the thing. */
export function createLazy<T extends Closable>(open: () => Promise<T>): Lazy<T> {
  let opening: Promise<T> | null = null;
  return {
    get: () => {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    close: async () => {
      // A failure to open was told to whoever asked.
      const opened = await opening?.catch(() => null);
      await opened?.close();
    },
  };
}
