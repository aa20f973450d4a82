import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

type TitleProps = { of: string; children?: ComponentChildren };

/** The heading of a screen, which is the title of the page too; actions stand beside it. */
export function Title({ of, children }: TitleProps) {
  useEffect(() => {
    document.title = `${of} · Minutebook`;
  }, [of]);
  return (
    <header class="screen-head">
      <h1>{of}</h1>
      <div class="buttons">{children}</div>
    </header>
  );
}
